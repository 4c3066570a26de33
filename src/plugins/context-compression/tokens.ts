import { isString } from '../../core/json.ts'
import type { ContentPart, Message } from '../../core/request.ts'

/** How tokens are counted. */
export interface Count {
  /** The tokens of a text. */
  text(text: string): number
  /** The tokens of a part that is not text. */
  media(part: ContentPart): number
}

/** What a chat format adds to each message. */
const MESSAGE_TOKENS = 4

/** The tokens of a message with its calls and thoughts. */
export function messageTokens(message: Message, count: Count): number {
  const { content, toolCalls, reasoning, reasoningDetails, refusal } = message
  let tokens = MESSAGE_TOKENS
  if (isString(content)) tokens += count.text(content)
  else
    for (const part of content ?? [])
      tokens += part.type === 'text' ? count.text(part.text) : count.media(part)
  for (const call of toolCalls ?? [])
    tokens += count.text(call.name) + count.text(call.arguments) + MESSAGE_TOKENS
  // Details repeat the thoughts, or have them encrypted.
  if (reasoningDetails !== undefined) tokens += count.text(JSON.stringify(reasoningDetails))
  else if (reasoning !== undefined) tokens += count.text(reasoning)
  return refusal === undefined ? tokens : tokens + count.text(refusal)
}

/** A word of this many letters is about one token, and each of these many letters more. */
const WORD = 9
const MORE_LETTERS = 4
/** Characters of a run that are about one token. */
const DIGITS = 3
const BLANKS = 16
const SAME_SIGNS = 4
/** An estimate that is too low costs a call that the provider rejects, so it is rather too high. */
const MARGIN = 1.1

/**
 * An estimate of a text's tokens for models whose tokenizer is not known: one for a word of up to nine letters and for
 * each four letters more, for three digits, for a sign, for a character of Chinese, Japanese or Korean, and for two
 * letters of other scripts, plus a tenth.
 */
export function estimatedTokens(text: string): number {
  if (text.length <= LONGEST_READ) return Math.ceil(unitsIn(text) * MARGIN)
  let tokens = 0
  const gap = (text.length - SAMPLE) / (SAMPLES - 1)
  for (let i = 0; i < SAMPLES; i++) {
    const from = Math.floor(i * gap)
    tokens += unitsIn(text.slice(from, from + SAMPLE))
  }
  return Math.ceil((tokens * MARGIN * text.length) / (SAMPLE * SAMPLES))
}

/** Of a longer text, samples are read. */
const LONGEST_READ = 16_384
const SAMPLES = 8
const SAMPLE = LONGEST_READ / SAMPLES

function unitsIn(text: string): number {
  let tokens = 0
  let run = 0
  let former = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    // A run is one of equal signs, or of other characters of a kind.
    const kind = code < 0x80 ? (ASCII[code] ?? code) : kindOf(code)
    run = kind === former ? run + 1 : 0
    former = kind
    tokens += tokensOf(kind, run)
  }
  return tokens
}

/** Beyond the codes of signs, which are kinds of their own. */
const LATIN = 0x20000
const DIGIT = 0x20001
const BLANK = 0x20002
/** Letters of other alphabets. */
const SCRIPT = 0x20003
/** A sign for a syllable or a word. */
const WIDE = 0x20004

const ASCII: readonly number[] = Array.from({ length: 0x80 }, (_, code) => {
  const char = String.fromCharCode(code)
  if (/[a-z]/i.test(char)) return LATIN
  if (/\d/.test(char)) return DIGIT
  return char === ' ' || char === '\t' ? BLANK : code
})

function kindOf(code: number): number {
  if (code < 0x250) return LATIN
  if (code < 0x2000) return SCRIPT
  return code < 0x2e80 ? code : WIDE
}

/** What the character after `run` others of its kind adds. */
function tokensOf(kind: number, run: number): number {
  switch (kind) {
    case LATIN:
      return run === 0 || (run >= WORD && (run - WORD) % MORE_LETTERS === 0) ? 1 : 0
    case DIGIT:
      return run % DIGITS === 0 ? 1 : 0
    case BLANK:
      // A single blank is part of the word behind it.
      return run % BLANKS === 1 ? 1 : 0
    case SCRIPT:
      return 0.5
    case WIDE:
      return 1
    default:
      return run % SAME_SIGNS === 0 ? 1 : 0
  }
}
