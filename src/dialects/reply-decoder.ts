import { UpstreamError } from '../core/errors.ts'
import type { InferenceEvent, InferenceFrame, JsonObject, ReasoningDetail } from '../core/events.ts'
import { asList, parseUnchecked } from '../core/json.ts'
import { excessOf, MAX_TEXT_DEPTH, MAX_TEXT_ESCAPES, type TextExcess } from '../core/json-excess.ts'
import type { Shortcut } from './shortcut.ts'

/** Reads the parts of one reply in one dialect, in order: the `data` of its events, or its complete body. */
export interface ReplyDecoder {
  /**
   * One event of a stream; undefined if it has no content. Throws `malformed` if it is not JSON. After
   * `failure` or `isTerminated` it must not be called again.
   */
  takeEvent(name: string, data: string): InferenceFrame | undefined
  /** The last event of a body: if it is not JSON, the reply is `truncated`. */
  takeTail(name: string, data: string): InferenceFrame | undefined
  /** A body that is one JSON document. */
  takeBody(body: unknown): InferenceFrame | undefined
  /** The last frame. Throws `truncated` or `malformed` for an incomplete reply. */
  end(): InferenceFrame
  /** The error that the reply reports. The caller throws it after it has returned the frame that came with it. */
  failure(): UpstreamError | null
  /** The terminal marker came: nothing after it counts. */
  isTerminated(): boolean
  /** Every choice has its finish reason; only usage may follow. */
  isFinished(): boolean
  hasContent(): boolean
  /** Reads events like an earlier one as text, without `takeEvent`; absent: all events are parsed. */
  readonly shortcut?: Shortcut | undefined
}

/** No model makes so many calls or items: more would be an attempt to exhaust memory. */
export const MOST_CALLS = 10_000
const MOST_ITEMS = 10_000

/** Throws `malformed` if a reply with `count` calls would get one more. */
export function checkCalls(count: number): void {
  if (count >= MOST_CALLS) throw tooMany('tool calls', MOST_CALLS)
}

/** The same for items, or blocks, of its output. */
export function checkItems(count: number): void {
  if (count >= MOST_ITEMS) throw tooMany('items of output', MOST_ITEMS)
}

/** No provider counts so many things; each event merges all of them again. */
const MOST_USAGE_FIELDS = 256

export function checkUsage(usage: object): void {
  if (Object.keys(usage).length > MOST_USAGE_FIELDS) throw tooMany('fields of usage', MOST_USAGE_FIELDS)
}

const tooMany = (what: string, most: number): UpstreamError =>
  new UpstreamError('malformed', `the reply has more than ${most} ${what}`)

/** Pieces of reasoning that are signed or encrypted. An answer has some dozens; each is sealed separately for callers. */
export const MOST_SEALED_PIECES = 5_000

/** Citations and images: each is written separately, and several times in Responses. */
const MOST_ANNOTATIONS = 10_000

/** Checks a list of sources before it is read. Throws `malformed` if there are more. */
export function checkAnnotations(count: number): void {
  if (count > MOST_ANNOTATIONS) throw tooMany('annotations and images', MOST_ANNOTATIONS)
}

/** Tokens with `logprobs` in one event, or in a reply that is not streamed: a longer answer has them in several events. */
export const MOST_TOKENS_AT_ONCE = 40_000

/**
 * UTF-16 units of a reply's text, reasoning and arguments together, some 2,500,000 tokens: Responses repeat them at the
 * end, in steps that each write one of them out.
 */
export const MOST_CHARACTERS = 10_000_000

/** Counts these pieces of one reply. Throws `malformed` if there are too many. */
type PieceCount = (frame: InferenceFrame) => void

export function createPieceCount(): PieceCount {
  let sealed = 0
  let annotations = 0
  let characters = 0
  return ({ events }) => {
    for (const event of events) {
      characters += charactersOf(event)
      if (characters > MOST_CHARACTERS)
        throw tooMany('characters of text, reasoning and arguments', MOST_CHARACTERS)
      if (event.type === 'reasoning-detail' && isSealedPiece(event.detail)) sealed += 1
      else if (event.type === 'logprobs') checkTokens(tokensIn(event.logprobs))
      else if (event.type === 'annotation' || event.type === 'image') annotations += 1
    }
    if (sealed > MOST_SEALED_PIECES) throw tooMany('signed pieces of reasoning', MOST_SEALED_PIECES)
    checkAnnotations(annotations)
  }
}

/**
 * Characters of events without text: a stream waits with some for its first content, and Responses repeat items, sounds and
 * images at the end. The drafts of one image have some tens of millions.
 */
const MOST_SILENT_CHARACTERS = 128 * 1024 * 1024

/** Counts the events of one reply, each with its length. Throws `malformed` if those without text are too long together. */
export function createSilentCount(): (frame: InferenceFrame | undefined, length: number) => void {
  let silent = 0
  return (frame, length) => {
    if (frame?.events.some((event) => charactersOf(event) > 0)) return
    silent += length
    if (silent > MOST_SILENT_CHARACTERS)
      throw tooMany('characters in events without text', MOST_SILENT_CHARACTERS)
  }
}

function charactersOf(event: InferenceEvent): number {
  switch (event.type) {
    case 'text-delta':
    case 'refusal-delta':
    case 'reasoning-delta':
      return event.text.length
    case 'tool-call-delta':
      return event.json.length
    default:
      return 0
  }
}

export function checkTokens(count: number): void {
  if (count > MOST_TOKENS_AT_ONCE) throw tooMany('tokens with logprobs at once', MOST_TOKENS_AT_ONCE)
}

export const tokensIn = ({ content, refusal }: JsonObject): number =>
  asList(content).length + asList(refusal).length

const isSealedPiece = ({ signature, data }: ReasoningDetail): boolean =>
  (typeof signature === 'string' && signature !== '') || (typeof data === 'string' && data !== '')

/**
 * The JSON of an event or a body of a provider; undefined if the text is not JSON. Throws `malformed` for JSON that is
 * nested deeper than 128 levels or exceeds `core/json-excess.ts`, in any field.
 */
export function parseReply(text: string, status: number): unknown {
  if (text === ahead?.text) return ahead.value
  checkReply(text, status)
  return parseUnchecked(text)
}

/** The long event that is parsed already, while it is read. */
let ahead: { readonly text: string; readonly value: unknown } | null = null

/** Reads a long event, of which `value` is the JSON: `parseReply` of the same text returns it. */
export function withParsed<T>(text: string, value: unknown, read: () => T): T {
  ahead = { text, value }
  try {
    return read()
  } finally {
    ahead = null
  }
}

/** The check of `parseReply`, for bodies that are read in steps with turns of the event loop in between. */
export function checkReply(text: string, status: number): void {
  const excess = excessOf(text)
  if (excess === null) return
  throw new UpstreamError('malformed', REASONS[excess], { status })
}

const REASONS: Readonly<Record<TextExcess, string>> = {
  depth: `the reply is nested deeper than ${MAX_TEXT_DEPTH} levels`,
  parts: 'the reply holds too many strings, objects and lists',
  escapes: `the reply holds more than ${MAX_TEXT_ESCAPES} escape sequences in its strings`,
}

/** OpenAI's terminal marker, which servers of other dialects send too. Long events are not searched for it. */
export const isDone = (data: string): boolean => data.length < 32 && data.trim() === '[DONE]'

/** Throws `truncated` for a last event that the end of the body cut: one that should be JSON and is not. */
export function checkTail(name: string, data: string, status: number): void {
  if (name === 'error' || name === 'ping' || data.trim() === '' || isDone(data)) return
  if (parseReply(data, status) !== undefined) return
  throw new UpstreamError('truncated', 'the reply ended inside an event', { status })
}

/** The JSON of a complete body. Throws `malformed` for text that is not JSON. */
export function orMalformed(value: unknown, status: number): unknown {
  if (value === undefined) throw new UpstreamError('malformed', 'the reply is not JSON', { status })
  return value
}

export const notJson = (status: number): UpstreamError =>
  new UpstreamError('malformed', 'an event of the stream is not JSON', { status })

/** A 200 with `{}`, with nothing in it, or with another dialect's answer. `noun`: what a reply holds. */
export const noAnswer = (noun: string, status: number): UpstreamError =>
  new UpstreamError('malformed', `the reply holds no ${noun}`, { status })

export const unfinished = (status: number): UpstreamError =>
  new UpstreamError('truncated', 'the reply ended without a finish', { status })
