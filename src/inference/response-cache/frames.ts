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

/** The frames of one answer, put down while they pass. */
export interface Recording {
  add(batch: FrameBatch): void
  /** Null: the reply is not cached, because of its end or its size. */
  whole(): Uint8Array | null
}

/** Finish reasons of replies that may be cached: never blocked, refused or truncated ones. */
const KEPT: readonly FinishReason[] = ['stop', 'tool_calls', 'length']

/**
 * `mayBeShort`: an answer that ended at its bound is kept too; not where the bound was set by what one caller had left
 * to spend.
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
    whole() {
      if (isTooLarge || !hasContent || reasons.length === 0) return null
      if (!reasons.every((reason) => KEPT.includes(reason) && (mayBeShort || reason !== 'length')))
        return null
      const bytes = Buffer.from(`[${parts.join()}]`)
      return bytes.byteLength > mostBytes ? null : bytes
    },
  }
}

/** Nearly every frame is one piece of text: that is a string, and any other a list of its events. */
function packed(events: readonly InferenceEvent[]): string {
  const [first] = events
  const isText = events.length === 1 && first?.type === 'text-delta' && first.choice === 0
  return JSON.stringify(isText ? first.text : events.map(asideOfSource))
}

/** What was counted, and under which name, belongs to the generation that it was. */
function asideOfSource(event: InferenceEvent): InferenceEvent {
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

/** `chunk.x_groq.usage`, `event.message.usage`: deeper, and in lists, is what the model wrote. */
const NATIVE_DEPTH = 2

function withoutUsage(data: unknown, depth: number): unknown {
  if (!isObject(data)) return data
  const { usage: _, usageMetadata: _counted, responseId: _id, ...rest } = data
  if (depth > 0) for (const name of Object.keys(rest)) rest[name] = withoutUsage(rest[name], depth - 1)
  return rest
}

/** The frames as they passed. */
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
