import { UpstreamError } from '../../core/errors.ts'
import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { asList, asObject, asText, isObject, isString, isText } from '../../core/json.ts'
import { type Block, type Blocks, finishOf, isTruncation } from '../claude-blocks.ts'
import { newProgress, type ReplyProgress } from '../event-decoder.ts'
import { checkItems, checkUsage } from '../reply-decoder.ts'
import { openBlock } from './decode-block.ts'
import { mergeUsage, readServiceTier, readUsage } from './usage.ts'

/** A block under way, and its place among the blocks of this reply. */
interface OpenBlock {
  readonly index: number
  readonly block: Block
}

/** The state of one reply between its events. */
interface MessageState extends ReplyProgress {
  readonly blocks: Blocks
  /** By the provider's index. */
  readonly open: Map<number, OpenBlock>
  /** How many blocks were started. */
  started: number
  usage: JsonObject
  stopReason: string | null
}

export const newMessage = (status: number): MessageState => ({
  ...newProgress(status),
  blocks: { textLength: 0, thoughts: 0, calls: 0 },
  open: new Map(),
  started: 0,
  usage: {},
  stopReason: null,
})

/**
 * Reads one event of a stream. Events of unknown types go only to a writer of this dialect: the API documents that
 * new ones may come at any time.
 */
export function readEvent(event: JsonObject, state: MessageState, events: InferenceEvent[]): void {
  const at = Number(event['index'])
  switch (event['type']) {
    case 'message_start':
      startMessage(event['message'], event, state, events)
      break
    case 'content_block_start':
      startBlock(at, event['content_block'], event, state, events)
      break
    case 'content_block_delta':
      readDelta(at, event, state, events)
      break
    case 'content_block_stop':
      stopBlock(at, event, false, state, events)
      break
    case 'message_delta':
      if (isObject(event['delta'])) readStop(event['delta'], state, events)
      emitUsage(event['usage'], state, events)
      emit(event, state, events)
      break
    case 'message_stop':
      state.isTerminated = true
      emit(event, state, events)
      break
    default:
      if (isString(event['type'])) emit(event, state, events)
  }
}

/** Reads a complete `message`. */
export function readMessage(message: JsonObject, state: MessageState, events: InferenceEvent[]): void {
  startMessage(message, message, state, events)
  const content = asList(message['content'])
  for (const [index, block] of content.entries()) {
    startBlock(index, block, {}, state, events)
    closeBlocks(false, state, events)
  }
  readStop(message, state, events)
  events.push({ type: 'native', dialect: 'messages', data: { message } })
}

/** The last events of a complete reply. */
export function endMessage(state: MessageState, events: InferenceEvent[]): void {
  closeBlocks(isTruncation(state.stopReason), state, events)
  events.push({ type: 'response-end', finishes: [finishOf(state.stopReason, state.blocks)] })
}

/** For a writer of this dialect. A body is emitted as one message instead. */
function emit(event: JsonObject, { isBody }: MessageState, events: InferenceEvent[]): void {
  if (!isBody) events.push({ type: 'native', dialect: 'messages', data: { event } })
}

function startMessage(
  message: unknown,
  event: JsonObject,
  state: MessageState,
  events: InferenceEvent[],
): void {
  if (!isObject(message)) return
  // A gateway that tries again in mid-stream starts a second message (recorded): what was open is left as it is.
  closeBlocks(true, state, events)
  const { id, model, usage } = message
  if (!state.hasStarted) {
    events.push({
      type: 'response-start',
      upstreamId: asText(id) ?? null,
      model: asText(model) ?? null,
      created: null,
    })
    emit(event, state, events)
  }
  state.hasStarted = true
  emitUsage(usage, state, events)
}

function emitUsage(raw: unknown, state: MessageState, events: InferenceEvent[]): void {
  if (!isObject(raw)) return
  state.usage = mergeUsage(state.usage, raw)
  checkUsage(state.usage)
  const usage = readUsage(state.usage)
  if (usage) events.push({ type: 'usage', usage, serviceTier: readServiceTier(state.usage) })
}

/** `explanation` holds the provider's reason for a refusal. */
function readStop(from: JsonObject, state: MessageState, events: InferenceEvent[]): void {
  const { stop_reason, stop_details } = from
  if (!isString(stop_reason) || stop_reason === '') return
  state.stopReason = stop_reason
  const text = asObject(stop_details)?.['explanation']
  if (stop_reason === 'refusal' && isText(text)) {
    events.push({ type: 'refusal-delta', choice: 0, text })
  }
}

function startBlock(
  at: number,
  raw: unknown,
  event: JsonObject,
  state: MessageState,
  events: InferenceEvent[],
): void {
  if (!isObject(raw)) return
  if (raw['type'] === 'tool_use' && (!isString(raw['name']) || raw['name'] === '')) {
    throw new UpstreamError('malformed', 'a tool call of the reply has no name')
  }
  stopBlock(at, {}, false, state, events)
  checkItems(state.started)
  const index = state.started++
  emit({ ...event, type: 'content_block_start', index, content_block: raw }, state, events)
  state.open.set(at, { index, block: openBlock(raw, state.blocks, events) })
}

/** Some servers of this dialect leave out the start of a block. */
function readDelta(at: number, event: JsonObject, state: MessageState, events: InferenceEvent[]): void {
  const { delta } = event
  if (!isObject(delta)) return
  if (!state.open.has(at)) startBlock(at, blockFor(delta['type']), {}, state, events)
  const open = state.open.get(at)
  if (open === undefined) return
  const isLast = open.index === state.started - 1
  if (!isLast || !isPlainText(event)) emit({ ...event, index: open.index }, state, events)
  open.block.add(delta, events)
}

function blockFor(deltaType: unknown): JsonObject | undefined {
  if (deltaType === 'text_delta') return { type: 'text', text: '' }
  return deltaType === 'thinking_delta' || deltaType === 'signature_delta'
    ? { type: 'thinking', thinking: '', signature: '' }
    : undefined
}

/** True for a piece of text without fields that the neutral event lacks. */
export function isPlainText(event: unknown): boolean {
  if (!isObject(event) || event['type'] !== 'content_block_delta') return false
  const { delta } = event
  return (
    isObject(delta) &&
    delta['type'] === 'text_delta' &&
    isString(delta['text']) &&
    Object.keys(delta).length === 2 &&
    Object.keys(event).length === 3
  )
}

function stopBlock(
  at: number,
  event: JsonObject,
  wasTruncated: boolean,
  state: MessageState,
  events: InferenceEvent[],
): void {
  const open = state.open.get(at)
  if (open === undefined) return
  open.block.close(wasTruncated, events)
  emit({ ...event, type: 'content_block_stop', index: open.index }, state, events)
  state.open.delete(at)
}

function closeBlocks(wasTruncated: boolean, state: MessageState, events: InferenceEvent[]): void {
  for (const at of [...state.open.keys()]) stopBlock(at, {}, wasTruncated, state, events)
}
