import type { JsonObject } from '../../core/events.ts'
import { replyIdOf } from '../../core/ids.ts'
import { fieldsOf, isObject, isString } from '../../core/json.ts'
import type { Closing, InferenceResult, ReplyContext } from '../../core/result.ts'
import { eventsOfChoice } from '../result-events.ts'
import { viewMetadata } from '../usage.ts'
import { viewUsage } from './usage.ts'
import { endBlocks, writeBlocks } from './write-blocks.ts'
import { viewStop } from './write-events.ts'
import { createCollector, isMessagesNative, type MessagesNative } from './write-native.ts'
import { newBlockState } from './write-state.ts'

/**
 * A complete reply as a message. The reply of a Messages provider is forwarded, except for its id, model,
 * usage and what the gateway adds; one that was streamed although not requested keeps the blocks that only this dialect has.
 */
export function writeMessagesReply(
  result: InferenceResult,
  reply: ReplyContext,
  closing: Closing,
): JsonObject {
  const natives = result.natives.flatMap(({ dialect, data }) =>
    dialect === 'messages' && isMessagesNative(data) ? [data] : [],
  )
  const own = natives.findLast(({ message }) => message)?.message
  const { lost, ...made } = own ? { lost: [], ...own } : viewResult(result, natives, reply, closing)
  return {
    ...made,
    ...(Array.isArray(made.content) ? { content: made.content.map(withoutNoCitations) } : {}),
    id: replyIdOf(reply.generationId, 'msg_'),
    type: 'message',
    role: 'assistant',
    model: reply.model,
    provider: reply.providerName,
    usage: viewUsage(closing),
    ...viewMetadata(closing.serviceMetadata, lost),
  }
}

/** @ai-sdk/anthropic refuses the null (2026), and Anthropic itself leaves the field out. */
function withoutNoCitations(block: unknown): unknown {
  if (!isObject(block) || block.citations !== null) return block
  const { citations: _, ...rest } = block
  return rest
}

interface Made extends JsonObject {
  lost: string[]
}

function viewResult(
  result: InferenceResult,
  natives: readonly MessagesNative[],
  reply: ReplyContext,
  { finishes }: Closing,
): Made {
  const collector = createCollector()
  const state = newBlockState(collector, reply)
  const [choice] = result.choices
  const { blocks, fields } = foreignOf(natives)
  // Anthropic explains a refusal beside the stop reason.
  const isOwn = fields.stop_reason !== undefined
  if (result.frames) for (const { events } of result.frames) writeBlocks(events, state)
  else if (choice) writeBlocks(eventsOfChoice(isOwn ? { ...choice, refusal: '' } : choice), state)
  endBlocks(state)
  return {
    content: [...blocks, ...collector.content],
    ...viewStop(finishes[0], state.refusal),
    ...fields,
    lost: [...state.lost],
  }
}

/** Blocks that neutral events contain. */
const STANDARD_BLOCKS = new Set<unknown>(['text', 'thinking', 'redacted_thinking', 'tool_use'])

/** Of a stream of this dialect that was collected: the blocks that it alone has, and how the message ended. */
function foreignOf(natives: readonly MessagesNative[]): { blocks: JsonObject[]; fields: JsonObject } {
  const collector = createCollector()
  let fields: JsonObject = {}
  for (const { event } of natives) {
    const { type, index, content_block: block, delta, usage, ...rest } = event ?? {}
    const at = Number(index)
    if (type === 'content_block_start' && isObject(block) && !STANDARD_BLOCKS.has(block.type))
      collector.start(at, block)
    else if (type === 'content_block_delta' && isObject(delta) && collector.content[at])
      collector.delta(at, delta)
    else if (type === 'content_block_stop' && collector.content[at]) collector.stop(at)
    else if (type === 'message_delta') fields = { ...fields, ...rest, ...fieldsOf(delta) }
  }
  if (!isString(fields.stop_reason)) fields = {}
  return { blocks: collector.content.filter(Boolean), fields }
}
