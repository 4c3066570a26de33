import type { InferenceEvent, JsonObject } from '../../../src/core/events.ts'
import type { Closing } from '../../../src/core/result.ts'
import { messagesIngress } from '../../../src/dialects/messages/index.ts'
import { closingOf } from '../replies.ts'
import { eventsOf, replyOf } from './written.ts'

export const choice = 0

export const text = (value: string): InferenceEvent => ({ type: 'text-delta', choice, text: value })

export const native = (event: JsonObject): InferenceEvent => ({
  type: 'native',
  dialect: 'messages',
  data: { event },
})

/** Each list of events is a frame. */
export function written(frames: InferenceEvent[][], closing: Partial<Closing> = {}, reply = replyOf()) {
  const writer = messagesIngress.writeStream(reply)
  const body = frames.map((events) => writer.write({ events })).join('')
  return eventsOf(body + writer.end(closingOf(closing)))
}

export const TEXT = { type: 'text', text: '' }

export const THINKING = { type: 'thinking', thinking: '', signature: '' }

export const textDelta = (piece: string) => ({ type: 'text_delta', text: piece })

export const thought = (piece: string) => ({ type: 'thinking_delta', thinking: piece })

export const json = (partial_json: string) => ({ type: 'input_json_delta', partial_json })
