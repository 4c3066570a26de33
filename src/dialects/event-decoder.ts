import type { UpstreamError } from '../core/errors.ts'
import { type InferenceEvent, type InferenceFrame, isContent, type JsonObject } from '../core/events.ts'
import { isObject } from '../core/json.ts'
import { errorInReply, isErrorBody } from './read-error.ts'
import {
  checkTail,
  isDone,
  noAnswer,
  notJson,
  parseReply,
  type ReplyDecoder,
  unfinished,
} from './reply-decoder.ts'
import type { Shortcut } from './shortcut.ts'

export interface DecodeOptions {
  /** The HTTP status of the reply. */
  status: number
  /** False: every event is parsed. The same events come, without `plainText`. */
  fast: boolean
}

/** How far the reading of one reply is. The state of a dialect's reader adds its own fields. */
export interface ReplyProgress {
  readonly status: number
  hasStarted: boolean
  hasContent: boolean
  /** The dialect's terminal marker came, or OpenAI's `[DONE]`. */
  isTerminated: boolean
  /** The reply is one JSON document, not a stream. */
  isBody: boolean
  /** The error that the reply reports. */
  failure: UpstreamError | null
}

export const newProgress = (status: number): ReplyProgress => ({
  status,
  hasStarted: false,
  hasContent: false,
  isTerminated: false,
  isBody: false,
  failure: null,
})

/** What one dialect knows of its replies. */
interface ReplyReader {
  readonly progress: ReplyProgress
  /** What a reply holds, for the error about one without it. */
  readonly noun: string
  readonly shortcut?: Shortcut | undefined
  isPing?(data: string): boolean
  isError(name: string, event: unknown): boolean
  readEvent(event: JsonObject, name: string, events: InferenceEvent[]): void
  /** True if the event can be the shortcut's template; absent: each can. */
  mayRepeat?(event: JsonObject): boolean
  /** False if the body is not an answer of this dialect, or reports an error. */
  readBody(body: unknown, events: InferenceEvent[]): boolean
  /** The reply has its finish reason. */
  isFinished(): boolean
  isEmpty(): boolean
  /** The last events of a complete reply. */
  readEnd(events: InferenceEvent[]): void
}

/** Decodes replies whose events are JSON objects: the errors, markers and checks that these dialects have in common. */
export function createEventDecoder(reader: ReplyReader): ReplyDecoder {
  const { progress, shortcut } = reader
  const { status } = progress

  function takeEvent(name: string, data: string): InferenceFrame | undefined {
    const repeated = name === 'error' ? undefined : shortcut?.repeat(data)
    if (repeated !== undefined) return repeated
    if (name === 'ping' || reader.isPing?.(data) || (data.trim() === '' && name !== 'error')) return undefined
    if (isDone(data)) {
      progress.isTerminated = true
      return undefined
    }
    const event = parseReply(data, status)
    if (reader.isError(name, event)) {
      progress.failure = errorInReply(event ?? [data], status)
      return undefined
    }
    if (!isObject(event)) throw notJson(status)
    const events: InferenceEvent[] = []
    reader.readEvent(event, name, events)
    const mayRepeat = reader.mayRepeat?.(event) ?? true
    const plain = mayRepeat ? shortcut?.learn(data, events) : shortcut?.forget()
    const frame = frameOf(events, progress)
    return plain ?? frame
  }

  return {
    takeEvent,
    takeTail(name, data) {
      checkTail(name, data, status)
      return takeEvent(name, data)
    },
    takeBody(body) {
      progress.isBody = true
      const events: InferenceEvent[] = []
      if (reader.readBody(body, events)) return frameOf(events, progress)
      if (!isErrorBody(body)) throw noAnswer(reader.noun, status)
      progress.failure = errorInReply(body, status)
      return undefined
    },
    end: () => endReply(reader),
    failure: () => progress.failure,
    isTerminated: () => progress.isTerminated,
    isFinished: reader.isFinished,
    hasContent: () => progress.hasContent,
    shortcut,
  }
}

/** A frame with these events; undefined if the list is empty. */
export function frameOf(events: InferenceEvent[], progress: ReplyProgress): InferenceFrame | undefined {
  progress.hasContent ||= events.some(isContent)
  return events.length > 0 ? { events } : undefined
}

/** A stream without a finish reason is complete after its terminal marker, a body as it is. */
function endReply(reader: ReplyReader): InferenceFrame {
  const { status, isBody, isTerminated, hasContent } = reader.progress
  if (reader.isEmpty()) throw noAnswer(reader.noun, status)
  if (!reader.isFinished() && !isBody && !(isTerminated && hasContent)) throw unfinished(status)
  const events: InferenceEvent[] = []
  reader.readEnd(events)
  return { events }
}
