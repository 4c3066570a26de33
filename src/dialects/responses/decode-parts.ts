import type { InferenceEvent, JsonObject, ReasoningDetail, UrlCitation } from '../../core/events.ts'
import { isObject, isString, isText } from '../../core/json.ts'
import { placeOf, urlCitation } from '../citation.ts'
import { sharedFields } from './items.ts'

/** The state that the items of one reply share. */
export interface Reply {
  /** UTF-16 units of visible text so far: the places of citations count from the start of the complete text. */
  textLength: number
  /** Pieces of reasoning so far. */
  thoughts: number
  calls: number
  searches: number
}

export const newReply = (): Reply => ({ textLength: 0, thoughts: 0, calls: 0, searches: 0 })

/** What the text of a part is. */
export type PartKind = 'text' | 'refusal' | 'summary' | 'thought'

/** One part of an item's content, while it comes. */
export interface Part {
  readonly kind: PartKind
  /** UTF-16 units of it that were emitted. */
  length: number
  /** Where its text begins in the complete text. */
  readonly startsAt: number
  /** Of its reasoning details. */
  readonly index: number
  readonly annotations: Set<string>
  hasLogprobs: boolean
}

/** The parts of one item, by their kind and index. */
export interface Parts {
  /** The item's `id` and reasoning `format`. */
  shared: JsonObject
  /** UTF-16 units of reasoning: emitted, in the events of its parts, and in those that repeat them. */
  emitted: number
  own: number
  repeated: number
  /** The lowest and highest `content_index` of its parts; -1 without parts. */
  firstContent: number
  lastContent: number
  readonly byName: Map<string, Part>
}

export const newParts = (item: JsonObject): Parts => ({
  shared: sharedFields(item),
  emitted: 0,
  own: 0,
  repeated: 0,
  firstContent: -1,
  lastContent: -1,
  byName: new Map(),
})

/**
 * The `content_index` of the first part of complete content. It is 0, except at servers that count across items
 * (gpt-oss at Bedrock Mantle): there an index that was streamed exceeds the number of the item's parts.
 */
export const firstContentOf = ({ firstContent, lastContent }: Parts, count: number): number =>
  lastContent >= count ? firstContent : 0

export function partAt(kind: PartKind, at: unknown, parts: Parts, reply: Reply): Part {
  const index = typeof at === 'number' && Number.isSafeInteger(at) ? at : 0
  const name = `${kind} ${index}`
  let part = parts.byName.get(name)
  if (part === undefined) {
    const isThought = kind === 'summary' || kind === 'thought'
    part = {
      kind,
      length: 0,
      startsAt: reply.textLength,
      index: isThought ? reply.thoughts++ : 0,
      annotations: new Set(),
      hasLogprobs: false,
    }
    parts.byName.set(name, part)
    if (kind !== 'summary') {
      parts.firstContent = parts.firstContent < 0 ? index : Math.min(parts.firstContent, index)
      parts.lastContent = Math.max(parts.lastContent, index)
    }
  }
  return part
}

/** A piece of the part's text. */
export function addPiece(
  part: Part,
  text: unknown,
  parts: Parts,
  reply: Reply,
  events: InferenceEvent[],
): void {
  if (!isString(text) || text === '') return
  part.length += text.length
  switch (part.kind) {
    case 'text':
      reply.textLength += text.length
      events.push({ type: 'text-delta', choice: 0, text })
      return
    case 'refusal':
      events.push({ type: 'refusal-delta', choice: 0, text })
      return
    default:
      parts.own += text.length
      emitReasoning(text, parts.own, parts, events)
      events.push(detailOf({ ...pieceOf(part.kind, text), ...parts.shared, index: part.index }))
  }
}

/** The rest of a part whose complete text came: some servers send no deltas, or not all. */
export function addRest(
  part: Part,
  complete: unknown,
  parts: Parts,
  reply: Reply,
  events: InferenceEvent[],
): void {
  if (isString(complete)) addPiece(part, complete.slice(part.length), parts, reply, events)
}

/** `response.reasoning.delta` repeats the events of the parts if a server sends both, and else replaces them. */
export function addRepeated(text: unknown, parts: Parts, events: InferenceEvent[]): void {
  if (!isString(text)) return
  parts.repeated += text.length
  emitReasoning(text, parts.repeated, parts, events)
}

/** Two kinds of events carry one text: the one that is ahead counts. */
function emitReasoning(text: string, length: number, parts: Parts, events: InferenceEvent[]): void {
  const missing = Math.min(length - parts.emitted, text.length)
  if (missing <= 0) return
  parts.emitted = length
  events.push({ type: 'reasoning-delta', choice: 0, text: text.slice(text.length - missing) })
}

const pieceOf = (kind: PartKind, text: string): ReasoningDetail =>
  kind === 'summary' ? { type: 'reasoning.summary', summary: text } : { type: 'reasoning.text', text }

export const detailOf = (detail: ReasoningDetail): InferenceEvent => ({
  type: 'reasoning-detail',
  choice: 0,
  detail,
})

/** Each annotation is emitted once, although events, parts and items repeat it. */
export function addAnnotation(part: Part, raw: unknown, events: InferenceEvent[]): void {
  if (!isObject(raw)) return
  const key = JSON.stringify(raw)
  if (part.annotations.has(key)) return
  part.annotations.add(key)
  events.push({ type: 'annotation', choice: 0, annotation: citationOf(raw, part.startsAt) ?? raw })
}

function citationOf(raw: JsonObject, startsAt: number): UrlCitation | undefined {
  const { type, url, title, content } = raw
  if (type !== 'url_citation' || !isText(url)) return undefined
  const startIndex = startsAt + placeOf(raw['start_index'])
  return urlCitation(url, title, content, { startIndex, endIndex: startsAt + placeOf(raw['end_index']) })
}

/** The tokens of a delta; those of a complete part only if its deltas had none. */
export function addLogprobs(
  part: Part,
  logprobs: unknown,
  isComplete: boolean,
  events: InferenceEvent[],
): void {
  if (!Array.isArray(logprobs) || logprobs.length === 0 || (isComplete && part.hasLogprobs)) return
  part.hasLogprobs = true
  events.push({ type: 'logprobs', choice: 0, logprobs: { content: logprobs } })
}
