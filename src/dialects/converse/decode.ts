import { UpstreamError } from '../../core/errors.ts'
import type { InferenceEvent, InferenceFrame, JsonObject } from '../../core/events.ts'
import { asList, fieldsOf, isObject, isString } from '../../core/json.ts'
import { type Block, finishOf, isTruncation } from '../claude-blocks.ts'
import { frameOf, newProgress, type ReplyProgress } from '../event-decoder.ts'
import { noAnswer, notJson, parseReply, type ReplyDecoder, unfinished } from '../reply-decoder.ts'
import { type ConverseBlocks, openBlock, readBlock } from './decode-block.ts'
import { isException, readException } from './errors.ts'
import { EXCEPTION } from './event-stream.ts'
import { readServiceTier, readUsage } from './usage.ts'

/** Reads the events of ConverseStream, or the one body of Converse. */
export function createConverseDecoder(status: number): ReplyDecoder {
  const state: MessageState = {
    ...newProgress(status),
    blocks: { textLength: 0, citedFrom: 0, thoughts: 0, calls: 0 },
    open: new Map(),
    stopReason: null,
  }

  function takeEvent(name: string, data: string): InferenceFrame | undefined {
    const event = parseReply(data, status)
    if (!isObject(event)) throw notJson(status)
    if (name === EXCEPTION) {
      state.failure = readException(event)
      return undefined
    }
    const events: InferenceEvent[] = []
    readEvent(name, event, state, events)
    return frameOf(events, state)
  }

  function takeBody(body: unknown): InferenceFrame | undefined {
    const message = messageIn(body)
    if (!isObject(body) || message === undefined) {
      if (!isException(body)) throw noAnswer('message', status)
      state.failure = readException(isObject(body) ? { ...body, type: body['__type'] } : {})
      return undefined
    }
    const events: InferenceEvent[] = []
    readReplyBody(body, message, state, events)
    return frameOf(events, state)
  }

  return {
    takeEvent,
    takeTail: takeEvent,
    takeBody,
    end() {
      if (!state.hasStarted) throw noAnswer('message', status)
      if (state.stopReason === null) throw unfinished(status)
      const events: InferenceEvent[] = []
      endMessage(state, events)
      return { events }
    },
    failure: () => state.failure,
    isTerminated: () => state.isTerminated,
    isFinished: () => state.stopReason !== null,
    hasContent: () => state.hasContent,
  }
}

function messageIn(body: unknown): JsonObject | undefined {
  const output = fieldsOf(body)['output']
  const message = fieldsOf(output)['message']
  return isObject(message) && Array.isArray(message['content']) ? message : undefined
}

/** The state of one reply between its events. */
interface MessageState extends ReplyProgress {
  readonly blocks: ConverseBlocks
  /** By `contentBlockIndex`. */
  readonly open: Map<number, Block>
  stopReason: string | null
}

/** The model's output is unusable, so another endpoint may be tried. */
const BROKEN = ['malformed_model_output', 'malformed_tool_use']

/**
 * Reads one event of a stream. `metadata` comes after `messageStop` and is the last (recorded: 26 of 26). Events of
 * unknown types and the padding `p` are skipped.
 */
function readEvent(name: string, event: JsonObject, state: MessageState, events: InferenceEvent[]): void {
  const at = Number(event['contentBlockIndex'])
  switch (name) {
    case 'messageStart':
      start(state, events)
      break
    case 'contentBlockStart':
      if (isObject(event['start'])) startBlock(at, event['start'], state, events)
      break
    case 'contentBlockDelta':
      if (isObject(event['delta'])) readDelta(at, event['delta'], state, events)
      break
    case 'contentBlockStop':
      state.open.get(at)?.close(false, events)
      state.open.delete(at)
      break
    case 'messageStop':
      start(state, events)
      readStop(event, state)
      break
    case 'metadata':
      addUsage(event, events)
      state.isTerminated = state.stopReason !== null
  }
}

/** Reads the body of a reply that was not streamed: `{output: {message}, stopReason, usage, …}`. */
function readReplyBody(
  body: JsonObject,
  message: JsonObject,
  state: MessageState,
  events: InferenceEvent[],
): void {
  start(state, events)
  readStop(body, state)
  const wasTruncated = isTruncation(state.stopReason)
  const content = asList(message['content'])
  for (const raw of content) {
    if (!isObject(raw)) continue
    requireName(raw)
    readBlock(raw, state.blocks, wasTruncated, events)
  }
  addUsage(body, events)
}

function endMessage(state: MessageState, events: InferenceEvent[]): void {
  closeBlocks(isTruncation(state.stopReason), state, events)
  events.push({ type: 'response-end', finishes: [finishOf(state.stopReason, state.blocks)] })
}

/** The API reports neither an id nor the model. */
function start(state: MessageState, events: InferenceEvent[]): void {
  if (state.hasStarted) return
  state.hasStarted = true
  events.push({ type: 'response-start', upstreamId: null, model: null, created: null })
}

function readStop({ stopReason }: JsonObject, state: MessageState): void {
  if (!isString(stopReason) || stopReason === '') return
  if (BROKEN.includes(stopReason)) {
    throw new UpstreamError('malformed', 'the model broke its answer off', { code: stopReason })
  }
  state.stopReason = stopReason
}

function addUsage(from: JsonObject, events: InferenceEvent[]): void {
  const usage = readUsage(from['usage'])
  if (usage) events.push({ type: 'usage', usage, serviceTier: readServiceTier(from) })
}

function startBlock(at: number, raw: JsonObject, state: MessageState, events: InferenceEvent[]): void {
  start(state, events)
  requireName(raw)
  state.open.get(at)?.close(false, events)
  state.open.set(at, openBlock(raw, state.blocks, events))
}

function requireName({ toolUse }: JsonObject): void {
  if (!isObject(toolUse) || (isString(toolUse['name']) && toolUse['name'] !== '')) return
  throw new UpstreamError('malformed', 'a tool call of the reply has no name')
}

/** Text and thoughts have no start event (in all recordings). A call without one has no name. */
function readDelta(at: number, delta: JsonObject, state: MessageState, events: InferenceEvent[]): void {
  if (!state.open.has(at)) {
    const { toolUse, toolResult } = delta
    startBlock(at, toolUse === undefined && toolResult === undefined ? {} : { toolUse: {} }, state, events)
  }
  state.open.get(at)?.add(delta, events)
}

function closeBlocks(wasTruncated: boolean, { open }: MessageState, events: InferenceEvent[]): void {
  for (const block of open.values()) block.close(wasTruncated, events)
  open.clear()
}
