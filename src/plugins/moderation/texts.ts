import { base64Of, dataUrlHead } from '../../core/data-url.ts'
import type { InferenceFrame } from '../../core/events.ts'
import type { ContentPart, Message } from '../../core/request.ts'

/** What a moderation judges. */
export interface Judged {
  /** Never empty ones. */
  readonly texts: readonly string[]
  /** The kinds of parts that are not text, and so are not judged. */
  readonly unjudged: readonly string[]
}

/** Further texts are judged together with the last of these. */
const MOST_TEXTS = 32

/** What the caller and its tools wrote: system prompts and former answers are not judged. */
export function textsOf(messages: readonly Message[]): Judged {
  const texts: string[] = []
  const unjudged = new Set<string>()
  for (const { role, content } of messages) {
    if (role !== 'user' && role !== 'tool') continue
    const parts = typeof content === 'string' ? [content] : []
    for (const part of Array.isArray(content) ? content : []) {
      const text = part.type === 'text' ? part.text : textOfFile(part)
      if (text === null) unjudged.add(part.type)
      else parts.push(text)
    }
    const text = parts.join('\n')
    if (text.trim() === '') continue
    if (texts.length < MOST_TEXTS) texts.push(text)
    else texts[MOST_TEXTS - 1] += `\n${text}`
  }
  return { texts, unjudged: [...unjudged] }
}

/** Of a file that is sent as text. Other files have none here: the plugin `file-parser` writes what it reads as text. */
function textOfFile(part: ContentPart): string | null {
  if (part.type !== 'file' || part.data === undefined) return null
  const head = dataUrlHead(part.data)
  if (head === null || !TEXT_TYPE.test(head.mediaType)) return null
  return Buffer.from(base64Of(part.data, head), 'base64').toString()
}
const TEXT_TYPE = /^text\/|json$|xml$|yaml$/i

/** What a caller would read of a frame. */
export function outputOf({ events }: InferenceFrame): string {
  let text = ''
  for (const event of events) {
    if (event.type === 'text-delta' || event.type === 'refusal-delta' || event.type === 'reasoning-delta')
      text += event.text
    else if (event.type === 'tool-call-delta') text += event.json
  }
  return text
}

const MOST_CHARACTERS = 100
const ELISION = '…'

/** At most 100 characters: the beginning and the end. */
export function excerptOf(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text
  const half = (MOST_CHARACTERS - ELISION.length) / 2
  return `${text.slice(0, Math.ceil(half))}${ELISION}${text.slice(text.length - Math.floor(half))}`
}
