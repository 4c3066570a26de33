import { UpstreamError } from '../core/errors.ts'
import type { InferenceFrame, JsonObject, ReasoningDetail } from '../core/events.ts'

/** No model calls so many tools, or answers in so many items: more would be an attempt to fill the memory. */
export const MOST_CALLS = 10_000
const MOST_ITEMS = 10_000

/** Throws `malformed` where a reply that has `count` of them would get one more. */
export function checkCalls(count: number): void {
  if (count >= MOST_CALLS) throw tooMany('tool calls', MOST_CALLS)
}

/** The same of items, or blocks, of its output. */
export function checkItems(count: number): void {
  if (count >= MOST_ITEMS) throw tooMany('items of output', MOST_ITEMS)
}

/** No provider counts so many things; what is remembered of them is read again with each event. */
const MOST_USAGE_FIELDS = 256

export function checkUsage(usage: object): void {
  if (Object.keys(usage).length > MOST_USAGE_FIELDS) throw tooMany('fields of usage', MOST_USAGE_FIELDS)
}

const tooMany = (what: string, most: number): UpstreamError =>
  new UpstreamError('malformed', `the reply has more than ${most} ${what}`)

/** Pieces of reasoning that are signed or encrypted. An answer has some dozen; toward callers each is sealed by itself. */
export const MOST_SEALED_PIECES = 5_000

/** Citations and pictures: each is shown by itself, and several times to callers of Responses. */
const MOST_ANNOTATIONS = 10_000

/** The same before a list of sources is read. Throws `malformed` where there are more. */
export function checkAnnotations(count: number): void {
  if (count > MOST_ANNOTATIONS) throw tooMany('annotations and images', MOST_ANNOTATIONS)
}

/** With `logprobs`, in one event or body: a longer answer has them in the events of its stream. */
export const MOST_TOKENS_AT_ONCE = 40_000

/** Counts such pieces of one reply. Throws `malformed` for one too many. */
export type PieceCount = (frame: InferenceFrame) => void

export function createPieceCount(): PieceCount {
  let sealed = 0
  let annotations = 0
  return ({ events }) => {
    for (const event of events) {
      if (event.type === 'reasoning-detail' && isSealedPiece(event.detail)) sealed += 1
      else if (event.type === 'logprobs') checkTokens(event.logprobs)
      else if (event.type === 'annotation' || event.type === 'image') annotations += 1
    }
    if (sealed > MOST_SEALED_PIECES) throw tooMany('signed pieces of reasoning', MOST_SEALED_PIECES)
    checkAnnotations(annotations)
  }
}

function checkTokens({ content }: JsonObject): void {
  if (Array.isArray(content) && content.length > MOST_TOKENS_AT_ONCE)
    throw tooMany('tokens with logprobs at once', MOST_TOKENS_AT_ONCE)
}

const isSealedPiece = ({ signature, data }: ReasoningDetail): boolean =>
  (typeof signature === 'string' && signature !== '') || (typeof data === 'string' && data !== '')
