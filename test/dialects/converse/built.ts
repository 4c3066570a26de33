import { expect } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { converseEgress } from '../../../src/dialects/converse/index.ts'
import { attemptOf } from './attempt.ts'

export const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'

export const OLD_CLAUDE = 'anthropic.claude-3-haiku-20240307-v1:0'

export const NOVA = 'us.amazon.nova-pro-v1:0'

export const GPT_OSS = 'openai.gpt-oss-120b-1:0'

export const LLAMA = 'us.meta.llama3-3-70b-instruct-v1:0'

export const OTHER = 'qwen.qwen3-32b-v1:0'

export const HI = { role: 'user', content: 'Hi' }

export const TURN = { role: 'user', content: [{ text: 'Hi' }] }

export function build(
  fields: JsonObject,
  model = CLAUDE,
  facts: Partial<EndpointRecord> = {},
  outputBound?: number,
) {
  const request = chatIngress.parse({ model: 'm', messages: [HI], ...fields }, new Headers())
  return converseEgress.build(request, attemptOf(model, facts, outputBound))
}

/** The fields sent beside the one message, and the names of dropped ones. */
export function beside(fields: JsonObject, model?: string, facts?: Partial<EndpointRecord>): JsonObject {
  const { body, dropped } = build(fields, model, facts)
  const { messages, ...rest } = body
  expect(messages).toEqual([TURN])
  return { ...rest, dropped }
}
