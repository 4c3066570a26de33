import type { JsonObject } from '../../../src/core/events.ts'
import { converseEgress } from '../../../src/dialects/converse/index.ts'
import { type ReplyForm, upstreamReply } from '../../upstream-reply.ts'
import { outcomeOf } from '../chat/outcome.ts'
import { streamOf } from './frames.ts'

export const START = { messageStart: { role: 'assistant' } }

export const delta = (contentBlockIndex: number, fields: JsonObject) => ({
  contentBlockDelta: { contentBlockIndex, delta: fields, p: 'abc' },
})

export const begin = (contentBlockIndex: number, start: JsonObject) => ({
  contentBlockStart: { contentBlockIndex, start },
})

export const stop = (contentBlockIndex: number) => ({ contentBlockStop: { contentBlockIndex } })

export const finish = (stopReason: string) => ({ messageStop: { stopReason } })

export const USAGE = { metadata: { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } } }

export const HI = delta(0, { text: 'Hi' })

export const read = (events: readonly JsonObject[], form: ReplyForm = {}) =>
  outcomeOf(converseEgress.read(upstreamReply(streamOf(events), form), true))

export const readBody = (body: unknown) =>
  outcomeOf(converseEgress.read(upstreamReply(typeof body === 'string' ? body : JSON.stringify(body)), false))

export const bodyOf = (content: JsonObject[], stopReason = 'end_turn') => ({
  output: { message: { role: 'assistant', content } },
  stopReason,
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
})
