import { isString } from '../../core/json.ts'
import type { ContentPart, Message } from '../../core/request.ts'

/** How tokens are counted. */
export interface Count {
  /** The tokens of a text. */
  text(text: string): number
  /** The tokens of a part that is no text. */
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
  let tokens = 0
  let run = 0
  let former: Kind = 'sign'
  let formerCode = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const kind = kindOf(code)
    run = kind === former && (kind !== 'sign' || code === formerCode) ? run + 1 : 0
    former = kind
    formerCode = code
    tokens += tokensOf(kind, run)
  }
  return Math.ceil(tokens * MARGIN)
}

/** `wide`: a sign for a syllable or a word. */
type Kind = 'latin' | 'digit' | 'blank' | 'script' | 'wide' | 'sign'

function kindOf(code: number): Kind {
  if (code < 0x80) {
    if ((code > 0x40 && code < 0x5b) || (code > 0x60 && code < 0x7b)) return 'latin'
    if (code > 0x2f && code < 0x3a) return 'digit'
    return code === 0x20 || code === 0x09 ? 'blank' : 'sign'
  }
  if (code < 0x250) return 'latin'
  if (code < 0x2000) return 'script'
  return code < 0x2e80 ? 'sign' : 'wide'
}

/** What the character after `run` others of its kind adds. */
function tokensOf(kind: Kind, run: number): number {
  switch (kind) {
    case 'latin':
      return run === 0 || (run >= WORD && (run - WORD) % MORE_LETTERS === 0) ? 1 : 0
    case 'digit':
      return run % DIGITS === 0 ? 1 : 0
    case 'blank':
      // A single blank is part of the word behind it.
      return run % BLANKS === 1 ? 1 : 0
    case 'script':
      return 0.5
    case 'wide':
      return 1
    case 'sign':
      return run % SAME_SIGNS === 0 ? 1 : 0
  }
}
