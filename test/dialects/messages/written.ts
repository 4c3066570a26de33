import Anthropic from '@anthropic-ai/sdk'
import type { InferenceFrames } from '../../../src/core/events.ts'
import type { ReplyContext } from '../../../src/core/result.ts'
import { messagesIngress } from '../../../src/dialects/messages/index.ts'
import { contextOf, resultOf, streamOf } from '../replies.ts'

/** Replies as this dialect writes them, read by Anthropic's client. */

const GENERATION = 'gen-0198c0ffee00700080000000000000aa'
export const MESSAGE_ID = 'msg_0198c0ffee00700080000000000000aa'

export const replyOf = (more: Partial<ReplyContext> = {}): ReplyContext =>
  contextOf({ generationId: GENERATION, ...more })

/** The text of a stream; one that breaks off ends in an error event. */
export const writtenStream = (frames: InferenceFrames, reply = replyOf()): Promise<string> =>
  streamOf(messagesIngress.writeStream(reply), frames)

export async function writtenReply(frames: InferenceFrames, reply = replyOf()) {
  const { result, closing } = await resultOf(frames)
  return messagesIngress.writeReply(result, reply, closing)
}

const ASKED = { model: 'acme/large', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] }

const clientOf = (body: string, contentType: string): Anthropic =>
  new Anthropic({
    apiKey: 'key',
    authToken: null,
    baseURL: 'http://sdk.example',
    maxRetries: 0,
    fetch: async () => new Response(body, { headers: { 'content-type': contentType } }),
  })

/** The message that the client reads; rejects if the client finds the stream broken. */
export const readStream = (text: string): Promise<Anthropic.Message> =>
  clientOf(text, 'text/event-stream').messages.stream(ASKED).finalMessage()

export const readReply = (body: unknown): Promise<Anthropic.Message> =>
  clientOf(JSON.stringify(body), 'application/json').messages.create(ASKED)

/** The events of a stream, checked to be named by their types. */
export function eventsOf(text: string): Record<string, unknown>[] {
  if (!text.endsWith('\n\n')) throw new Error('the stream does not end in a blank line')
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((block) => {
      const [, name, data] = /^event: (\S+)\ndata: (.*)$/.exec(block) ?? []
      const event = JSON.parse(data ?? 'null')
      if (event?.type !== name) throw new Error(`an event is not named by its type: ${block.slice(0, 80)}`)
      return event
    })
}
