import type { InferenceEvent, InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import type { Closing, ReplyContext } from '../../../src/core/result.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { parseResponses } from '../../../src/dialects/responses/parse.ts'
import { writeResponsesReply } from '../../../src/dialects/responses/write-reply.ts'
import { writeResponsesStream } from '../../../src/dialects/responses/write-stream.ts'
import { collect } from '../../../src/inference/reply/collect.ts'
import { type CheckedStream, checkStream } from './stream-order.ts'

/** Events by hand, and what callers of this dialect see of them. */

export const NONE = new Headers()

export const parse = (body: JsonObject, headers = NONE) => parseResponses({ model: 'm', ...body }, headers)

export const reply = (body: JsonObject = {}, more: Partial<ReplyContext> = {}): ReplyContext => ({
  generationId: 'gen-1',
  created: 1_700_000_000,
  model: 'acme/large',
  providerName: 'Acme',
  request: parse({ input: 'Hi', ...body }),
  hideReasoning: false,
  ...more,
})

export const CLOSING: Closing = {
  finishes: [{ choice: 0, reason: 'stop', native: 'end_turn' }],
  completed: 1_700_000_009,
  usage: { ...NO_USAGE, inputTokens: 7, cacheReadTokens: 3, outputTokens: 4, reasoningTokens: 1 },
  costNanoUsd: 1_500,
  promptCostNanoUsd: 1_000,
  completionCostNanoUsd: 500,
  isByok: false,
  serviceTier: 'default',
  serviceMetadata: null,
}
export const ended = (reason: Closing['finishes'][number]['reason']): Closing => ({
  ...CLOSING,
  finishes: [{ choice: 0, reason, native: null }],
})

export const frame = (...events: InferenceEvent[]): InferenceFrame => ({ events })
export const text = (value: string): InferenceEvent => ({ type: 'text-delta', choice: 0, text: value })
export const thought = (value: string): InferenceEvent => ({
  type: 'reasoning-delta',
  choice: 0,
  text: value,
})
export const detail = (fields: JsonObject & { type: string }): InferenceEvent => ({
  type: 'reasoning-detail',
  choice: 0,
  detail: fields,
})
export const call = (index: number, name: string, more: JsonObject = {}): InferenceEvent => ({
  type: 'tool-call-start',
  choice: 0,
  index,
  id: `call_${index}`,
  name,
  ...more,
})
export const piece = (index: number, json: string): InferenceEvent => ({
  type: 'tool-call-delta',
  choice: 0,
  index,
  json,
})
export const native = (data: JsonObject): InferenceEvent => ({ type: 'native', dialect: 'responses', data })

export const added = (output_index: number, item: JsonObject): InferenceEvent =>
  native({ event: { type: 'response.output_item.added', sequence_number: 40, output_index, item } })
export const done = (output_index: number, item: JsonObject): InferenceEvent =>
  native({ event: { type: 'response.output_item.done', sequence_number: 99, output_index, item } })

/** A complete stream, judged. */
export function streamed(
  frames: readonly InferenceFrame[],
  context: ReplyContext = reply(),
  closing: Closing = CLOSING,
): CheckedStream {
  const writer = writeResponsesStream(context)
  const written = frames.map((each) => writer.write(each)).join('') + writer.end(closing)
  return checkStream(written)
}

/** The same in one piece. */
export async function unary(
  frames: readonly InferenceFrame[],
  context: ReplyContext = reply(),
  closing: Closing = CLOSING,
): Promise<JsonObject> {
  const batches = async function* () {
    if (frames.length > 0) yield frames
  }
  return writeResponsesReply(await collect(batches(), () => undefined), context, closing)
}

export const typesOf = ({ events }: CheckedStream): string[] =>
  events.map(({ type }) => String(type).replace(/^response\./, ''))

export const itemsOf = ({ response }: CheckedStream): JsonObject[] => {
  const { output } = response
  if (!Array.isArray(output)) throw new Error('no output')
  return output
}
