import type { JsonObject } from '../../../src/core/events.ts'
import { messagesEgress } from '../../../src/dialects/messages/index.ts'
import { type ReplyForm, upstreamReply } from '../../upstream-reply.ts'
import { outcomeOf } from '../chat/outcome.ts'

export const stream = (events: readonly (JsonObject | string)[]): string =>
  events
    .map((event) => (typeof event === 'string' ? event : `data: ${JSON.stringify(event)}`))
    .map((event) => `${event}\n\n`)
    .join('')

export const START = {
  type: 'message_start',
  message: { id: 'm1', model: 'c', content: [], usage: { input_tokens: 5, output_tokens: 1 } },
}

export const block = (index: number, content_block: JsonObject) => ({
  type: 'content_block_start',
  index,
  content_block,
})

export const delta = (index: number, fields: JsonObject) => ({
  type: 'content_block_delta',
  index,
  delta: fields,
})

export const stop = (index: number) => ({ type: 'content_block_stop', index })

export const finish = (stop_reason: string | null, usage: JsonObject = { output_tokens: 9 }) => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage,
})

export const STOP = { type: 'message_stop' }

export const HI = delta(0, { type: 'text_delta', text: 'Hi' })

export const read = (body: string, form: ReplyForm = {}, streamed = true) =>
  outcomeOf(messagesEgress.read(upstreamReply(body, form), streamed))
