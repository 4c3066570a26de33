import type { InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import type { Closing, ReplyContext } from '../../../src/core/result.ts'
import { parseResponses } from '../../../src/dialects/responses/parse.ts'
import { writeResponsesReply } from '../../../src/dialects/responses/write-reply.ts'
import { writeResponsesStream } from '../../../src/dialects/responses/write-stream.ts'
import { collect } from '../../../src/inference/reply/collect.ts'
import { contextOf, CLOSING as FULL_CLOSING } from '../replies.ts'
import { type CheckedStream, checkStream } from './stream-order.ts'

/** Replies as this dialect writes them. */

export const NONE = new Headers()

export const parse = (body: JsonObject, headers = NONE) => parseResponses({ model: 'm', ...body }, headers)

export const reply = (body: JsonObject = {}, more: Partial<ReplyContext> = {}): ReplyContext =>
  contextOf({ request: parse({ input: 'Hi', ...body }), ...more })

export const CLOSING: Closing = { ...FULL_CLOSING, completed: 1_700_000_009 }

export const ended = (reason: Closing['finishes'][number]['reason']): Closing => ({
  ...CLOSING,
  finishes: [{ choice: 0, reason, native: null }],
})

/** A complete stream, checked. */
export function streamed(
  frames: readonly InferenceFrame[],
  context: ReplyContext = reply(),
  closing: Closing = CLOSING,
): CheckedStream {
  const writer = writeResponsesStream(context)
  const written = frames.map((each) => writer.write(each)).join('') + writer.end(closing)
  return checkStream(written)
}

/** The same reply, not streamed. */
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
