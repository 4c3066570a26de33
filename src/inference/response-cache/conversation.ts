import {
  eachOf,
  type FinishReason,
  type FrameBatch,
  type InferenceEvent,
  type InferenceFrame,
  type InferenceFrames,
  isContent,
  plainFrame,
} from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { NO_USAGE } from '../../core/usage.ts'
import { mayBeSpliced } from '../../dialects/json-text.ts'
import type { Conversation } from '../generation.ts'
import type { Dispatched } from '../upstream/first-content.ts'
import type { Lookup } from './lookup.ts'

/** Turns the frames of a streamed reply into those of one that is not streamed. */
export type Gather = (frames: FrameBatch) => FrameBatch

/** A cache hit, converted by `gather`; else the reply of `send`, which is cached if it is complete. */
export async function throughCache(
  generation: Conversation,
  cached: Lookup,
  send: (generation: Conversation) => Promise<Dispatched>,
  gather: Gather | undefined,
): Promise<Dispatched> {
  const { hit } = cached
  if (hit === null) {
    const dispatched = await send(generation)
    return { ...dispatched, frames: recorded(dispatched, generation, cached) }
  }
  const frames = framesOf(hit.answer.bytes)
  return { attempt: hit.attempt, frames: atOnce(gather ? gather(frames) : frames), dropped: [] }
}

async function* atOnce(batch: FrameBatch): InferenceFrames & AsyncGenerator<FrameBatch> {
  yield batch
}

/**
 * The same frames, recorded. A stream that ends normally is complete: a truncated one throws, or is not read to its end.
 * The reader settles afterwards, so the reply is cached once its row is committed.
 */
async function* recorded(
  { attempt, frames }: Dispatched,
  generation: Conversation,
  cached: Lookup,
): InferenceFrames & AsyncGenerator<FrameBatch> {
  const recording = newRecording(cached.mostBytes, attempt.outputBound === undefined)
  for await (const batch of frames) {
    recording.add(batch)
    yield batch
  }
  generation.onComplete = (costNanoUsd) => {
    const bytes = recording.bytes()
    if (bytes !== null) cached.keep(generation, attempt, bytes, costNanoUsd)
  }
}

/** Records the frames of a reply. */
interface Recording {
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
function newRecording(mostBytes: number, mayBeShort: boolean): Recording {
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
function framesOf(bytes: Uint8Array): FrameBatch {
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
