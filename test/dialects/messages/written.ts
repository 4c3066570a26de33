import Anthropic from '@anthropic-ai/sdk'
import type { InferenceFrame, InferenceFrames } from '../../../src/core/events.ts'
import type { Closing, ReplyContext } from '../../../src/core/result.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { messagesIngress } from '../../../src/dialects/messages/index.ts'
import { collect } from '../../../src/inference/reply/collect.ts'
import { REQUEST } from '../request.ts'

/** Replies as this dialect writes them, and what Anthropic's own client makes of them. */

const GENERATION = 'gen-0198c0ffee00700080000000000000aa'
export const MESSAGE_ID = 'msg_0198c0ffee00700080000000000000aa'

export const replyOf = (more: Partial<ReplyContext> = {}): ReplyContext => ({
  generationId: GENERATION,
  created: 1_700_000_000,
  model: 'acme/large',
  providerName: 'Acme',
  request: REQUEST,
  hideReasoning: false,
  ...more,
})

export const closingOf = (more: Partial<Closing> = {}): Closing => ({
  finishes: [{ choice: 0, reason: 'stop', native: null }],
  usage: NO_USAGE,
  costNanoUsd: 1_500,
  promptCostNanoUsd: 1_000,
  completionCostNanoUsd: 500,
  isByok: false,
  serviceTier: null,
  serviceMetadata: null,
  ...more,
})

/** Remembers what the account of a reply is made of. */
function createWatch(closing: Closing) {
  return {
    closing,
    see({ events }: InferenceFrame): void {
      for (const event of events) {
        if (event.type === 'usage') {
          closing.usage = event.usage
          closing.serviceTier = event.serviceTier ?? closing.serviceTier
        }
        if (event.type === 'response-end') closing.finishes = event.finishes
      }
    },
  }
}

/** The text of a stream; one that breaks off ends in an error event. */
export async function writtenStream(frames: InferenceFrames, reply = replyOf()): Promise<string> {
  const writer = messagesIngress.writeStream(reply)
  const { closing, see } = createWatch(closingOf())
  let text = ''
  try {
    for await (const batch of frames) {
      for (const frame of batch) {
        see(frame)
        text += writer.write(frame)
      }
    }
  } catch {
    return text + writer.fail({ status: 502, message: 'It broke off' })
  }
  return text + writer.end(closing)
}

export async function writtenReply(frames: InferenceFrames, reply = replyOf()) {
  const { closing, see } = createWatch(closingOf())
  const result = await collect(frames, see)
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

/** The message that the client puts together; rejects where it takes the stream for broken. */
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
