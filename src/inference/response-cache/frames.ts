import {
  eachOf,
  type FinishReason,
  type FrameBatch,
  type InferenceEvent,
  type InferenceFrame,
  isContent,
  plainFrame,
} from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { NO_USAGE } from '../../core/usage.ts'
import { mayBeSpliced } from '../../dialects/json-text.ts'

/** Records the frames of a reply. */
export interface Recording {
  add(batch: FrameBatch): void
  /** Null: the reply is not cached, because of its end or its size. */
  bytes(): Uint8Array | null
}

/** Finish reasons of replies that may be cached. Blocked and refused replies are never cached. */
const CACHEABLE: readonly FinishReason[] = ['stop', 'tool_calls', 'length']

/**
 * `mayBeShort`: cache replies that reached their output bound. False if the bound was set by the caller's remaining
 * budget.
 */
export function newRecording(mostBytes: number, mayBeShort: boolean): Recording {
  let parts: string[] = []
  let length = 0
  let isTooLarge = false
  let hasContent = false
  let reasons: FinishReason[] = []

  function addFrame(events: readonly InferenceEvent[]): void {
    const part = packed(events)
    hasContent ||= events.some(isContent)
    length += part.length + 1
    parts.push(part)
    const last = events.at(-1)
    if (last?.type === 'response-end') reasons = last.finishes.map(({ reason }) => reason)
  }

  return {
    add(batch) {
      if (isTooLarge) return
      for (const frame of batch) for (const { events } of eachOf(frame)) addFrame(events)
      isTooLarge = length > mostBytes
      if (isTooLarge) parts = []
    },
    bytes() {
      if (isTooLarge || !hasContent || reasons.length === 0) return null
      if (!reasons.every((reason) => CACHEABLE.includes(reason) && (mayBeShort || reason !== 'length')))
        return null
      const bytes = Buffer.from(`[${parts.join()}]`)
      return bytes.byteLength > mostBytes ? null : bytes
    },
  }
}

/** A frame with one text delta, the most frequent kind, is packed as a string; others as a list of their events. */
function packed(events: readonly InferenceEvent[]): string {
  const [first] = events
  const isText = events.length === 1 && first?.type === 'text-delta' && first.choice === 0
  return JSON.stringify(isText ? first.text : events.map(withoutSource))
}

/** Removes usage and ids, which belong to the original generation. */
function withoutSource(event: InferenceEvent): InferenceEvent {
  switch (event.type) {
    case 'usage':
      return { ...event, usage: NO_USAGE }
    case 'response-start':
      return { ...event, upstreamId: null, created: null }
    case 'native':
      return { ...event, data: withoutUsage(event.data, NATIVE_DEPTH) }
    default:
      return event
  }
}

/** Covers `chunk.x_groq.usage` and `event.message.usage`. Deeper fields, and those in lists, are the model's output. */
const NATIVE_DEPTH = 2

function withoutUsage(data: unknown, depth: number): unknown {
  if (!isObject(data)) return data
  const { usage: _, usageMetadata: _counted, responseId: _id, ...rest } = data
  if (depth > 0) for (const name of Object.keys(rest)) rest[name] = withoutUsage(rest[name], depth - 1)
  return rest
}

/** The recorded frames. */
export function framesOf(bytes: Uint8Array): FrameBatch {
  const parts: (string | InferenceEvent[])[] = JSON.parse(Buffer.from(bytes).toString())
  return parts.map(frameOf)
}

function frameOf(part: string | InferenceEvent[]): InferenceFrame {
  if (typeof part !== 'string') return { events: part }
  const json = JSON.stringify(part).slice(1, -1)
  return json !== '' && mayBeSpliced(json)
    ? plainFrame(part, [json])
    : { events: [{ type: 'text-delta', choice: 0, text: part }] }
}
