import { expect } from 'bun:test'
import { UpstreamError, type UpstreamFailure } from '../../../src/core/errors.ts'
import type { InferenceEvent } from '../../../src/core/events.ts'
import { readChat } from '../../../src/dialects/chat/decode.ts'
import { upstreamReply } from '../../upstream-reply.ts'
import { outcomeOf } from './outcome.ts'

/** Replies of an OpenAI-compatible provider, written in a line, and their outcomes. */

export type Json = Record<string, unknown>

export const chunk = (
  delta: Json,
  finish: string | null = null,
  more: Json = {},
  choice: Json = {},
): Json => ({
  id: 'fx',
  object: 'chat.completion.chunk',
  created: 5,
  model: 'm',
  choices: [{ index: 0, delta, ...choice, finish_reason: finish }],
  ...more,
})
export const data = (...chunks: (Json | string)[]): string =>
  chunks.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join('')
export const body = (message: Json, finish: unknown = 'stop', more: Json = {}): string =>
  JSON.stringify({
    id: 'fx',
    created: 5,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: finish }],
    ...more,
  })

export const stream = (text: string) => outcomeOf(readChat(upstreamReply(text), true))
export const unary = (text: string) => outcomeOf(readChat(upstreamReply(text), false))
export const calls = (...list: unknown[]): Json => ({ tool_calls: list })
export const eventsOf = <T extends InferenceEvent['type']>(events: InferenceEvent[], type: T) =>
  events.filter((event): event is Extract<InferenceEvent, { type: T }> => event.type === type)

export function expectFailure(
  error: unknown,
  kind: UpstreamFailure,
  status: number | null = 200,
): UpstreamError {
  if (!(error instanceof UpstreamError)) throw new Error(`no UpstreamError but ${String(error)}`)
  expect([error.kind, error.status]).toEqual([kind, status])
  return error
}
