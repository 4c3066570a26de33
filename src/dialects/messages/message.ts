import { UpstreamError } from '../../core/errors.ts'
import type { Finish, InferenceEvent, JsonObject } from '../../core/events.ts'
import { defaultReason, finishReasonOf } from '../finish.ts'
import { isObject, isString } from '../values.ts'
import { type Block, type Blocks, newBlocks, openBlock } from './block.ts'
import { mergeUsage, readServiceTier, readUsage } from './usage.ts'

/** What is remembered of one reply between its events. */
export interface MessageState {
  readonly blocks: Blocks
  /** By the index of upstream. */
  readonly open: Map<number, Block>
  usage: JsonObject
  hasStarted: boolean
  isTerminated: boolean
  stopReason: string | null
}

export const newMessage = (): MessageState => ({
  blocks: newBlocks(),
  open: new Map(),
  usage: {},
  hasStarted: false,
  isTerminated: false,
  stopReason: null,
})

/**
 * Reads one event of a stream. Those of unknown types are skipped: the API says that new ones may come at any time.
 */
export function readEvent(event: JsonObject, state: MessageState, events: InferenceEvent[]): void {
  const at = Number(event['index'])
  switch (event['type']) {
    case 'message_start':
      startMessage(event['message'], state, events)
      break
    case 'content_block_start':
      startBlock(at, event['content_block'], state, events)
      break
    case 'content_block_delta':
      readDelta(at, event['delta'], state, events)
      break
    case 'content_block_stop':
      state.open.get(at)?.close(false, events)
      state.open.delete(at)
      break
    case 'message_delta':
      if (isObject(event['delta'])) readStop(event['delta'], state, events)
      tellUsage(event['usage'], state, events)
      break
    case 'message_stop':
      state.isTerminated = true
  }
}

/** Reads a whole `message`. */
export function readMessage(message: JsonObject, state: MessageState, events: InferenceEvent[]): void {
  startMessage(message, state, events)
  const content: unknown[] = Array.isArray(message['content']) ? message['content'] : []
  for (const [index, block] of content.entries()) {
    startBlock(index, block, state, events)
    closeBlocks(false, state, events)
  }
  readStop(message, state, events)
}

/** Both end an answer in its midst: a call that was not closed then stays as it is. */
const CUT_REASONS = ['max_tokens', 'model_context_window_exceeded']

/** The last events of a whole reply. `tool_use` without a client's call is the answer tool: an answer like any other. */
export function endMessage(state: MessageState, events: InferenceEvent[]): void {
  const native = state.stopReason
  closeBlocks(CUT_REASONS.includes(native ?? ''), state, events)
  const hasCalls = state.blocks.calls > 0
  const isPlain = native === null || (native === 'tool_use' && !hasCalls)
  const finish: Finish = {
    choice: 0,
    reason: isPlain ? defaultReason(hasCalls) : finishReasonOf(native, hasCalls),
    native,
  }
  events.push({ type: 'response-end', finishes: [finish] })
}

function startMessage(message: unknown, state: MessageState, events: InferenceEvent[]): void {
  if (!isObject(message)) return
  // A gateway that tries again in mid-stream starts a second message (recorded): what was open is left as it is.
  closeBlocks(true, state, events)
  const { id, model, usage } = message
  if (!state.hasStarted) {
    events.push({
      type: 'response-start',
      upstreamId: isString(id) ? id : null,
      model: isString(model) ? model : null,
      created: null,
    })
  }
  state.hasStarted = true
  tellUsage(usage, state, events)
}

function tellUsage(told: unknown, state: MessageState, events: InferenceEvent[]): void {
  if (!isObject(told)) return
  state.usage = mergeUsage(state.usage, told)
  const usage = readUsage(state.usage)
  if (usage) events.push({ type: 'usage', usage, serviceTier: readServiceTier(state.usage) })
}

/** `explanation` says why the provider would not answer. */
function readStop(from: JsonObject, state: MessageState, events: InferenceEvent[]): void {
  const { stop_reason, stop_details } = from
  if (!isString(stop_reason) || stop_reason === '') return
  state.stopReason = stop_reason
  const text = isObject(stop_details) ? stop_details['explanation'] : undefined
  if (stop_reason === 'refusal' && isString(text) && text !== '') {
    events.push({ type: 'refusal-delta', choice: 0, text })
  }
}

function startBlock(at: number, raw: unknown, state: MessageState, events: InferenceEvent[]): void {
  if (!isObject(raw)) return
  if (raw['type'] === 'tool_use' && (!isString(raw['name']) || raw['name'] === '')) {
    throw new UpstreamError('malformed', 'a tool call of the reply has no name')
  }
  state.open.get(at)?.close(false, events)
  state.open.set(at, openBlock(raw, state.blocks, events))
}

/** Some servers of this dialect leave out the start of a block. */
function readDelta(at: number, delta: unknown, state: MessageState, events: InferenceEvent[]): void {
  if (!isObject(delta)) return
  if (!state.open.has(at)) startBlock(at, blockFor(delta['type']), state, events)
  state.open.get(at)?.add(delta, events)
}

function blockFor(deltaType: unknown): JsonObject | undefined {
  if (deltaType === 'text_delta') return { type: 'text' }
  return deltaType === 'thinking_delta' || deltaType === 'signature_delta' ? { type: 'thinking' } : undefined
}

function closeBlocks(wasCut: boolean, { open }: MessageState, events: InferenceEvent[]): void {
  for (const block of open.values()) block.close(wasCut, events)
  open.clear()
}
