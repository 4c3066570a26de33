import { expect } from 'bun:test'
import { completionTokens, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { messagesEgress } from '../../../src/dialects/messages/index.ts'
import { type Expected, forReplies, type Recording } from '../../recordings.ts'
import type { Outcome } from '../chat/outcome.ts'
import {
  at,
  type Ending,
  eventsOf,
  expectContent,
  expectReason,
  numberAt,
  repliesAreRead,
} from '../recorded.ts'

const isMessages = ({ api, expected }: Recording): boolean =>
  api === 'anthropic-messages' || (api === 'count-tokens' && String(expected.error).includes('model: claude'))

const REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

function expectOutcome(outcome: Outcome, { expected }: Recording): void {
  // What runs at the provider is not the client's to run.
  const calls = (expected.tool_calls ?? []).filter(({ id }) => !id?.startsWith('srvtoolu_'))
  expectContent(outcome, expected, calls)
  if (expected.citations !== undefined) expect(outcome.annotations.length).toBe(expected.citations)
  expectSignatures(outcome, expected)
  expectUsage(outcome.usage, expected.usage ?? {})
  if (expected.error) {
    expect(outcome.finishes).toEqual([])
    expectReason(outcome.error, expected)
    return
  }
  expect(outcome.error).toBeUndefined()
  const native = expected.finish ?? ''
  const known = REASONS[native] ?? 'a reason that the table does not know'
  const isAnswer = native === 'tool_use' && calls.length === 0
  expect(outcome.finishes).toEqual([
    { choice: 0, reason: toReason(isAnswer ? 'stop' : known), native: expected.finish ?? null },
  ])
}

function toReason(word: string) {
  if (word === 'stop' || word === 'length' || word === 'tool_calls' || word === 'content_filter') return word
  throw new Error(word)
}

/** The text of the details is the reasoning, and each thought ends in its signature. */
function expectSignatures(outcome: Outcome, { reasoning, tags }: Expected): void {
  if (!reasoning) return
  const details = outcome.events.flatMap((event) => (event.type === 'reasoning-detail' ? [event.detail] : []))
  expect(details.map(({ text }) => text ?? '').join('')).toBe(reasoning)
  for (const { format } of details) expect(format).toBe('anthropic-claude-v1')
  if (tags?.includes('signature')) expect(details.at(-1)?.signature).toBeString()
}

/** The provider excludes cached tokens from its input; thinking is a part of its output. */
function expectUsage(usage: Usage | null, told: Record<string, unknown>): void {
  if (Object.keys(told).length === 0) {
    expect(usage).toBeNull()
    return
  }
  if (usage === null) throw new Error('usage is lost')
  const reads = numberAt(told, 'cache_read_input_tokens')
  const writes = numberAt(told, 'cache_creation_input_tokens')
  expect(usage.inputTokens).toBe(numberAt(told, 'input_tokens'))
  expect(usage.cacheReadTokens).toBe(reads)
  expect(usage.cacheWriteTokens).toBe(writes)
  expect(usage.cacheWriteHourTokens ?? 0).toBe(numberAt(told, 'cache_creation', 'ephemeral_1h_input_tokens'))
  expect(promptTokens(usage)).toBe(numberAt(told, 'input_tokens') + reads + writes)
  expect(usage.reasoningTokens).toBe(numberAt(told, 'output_tokens_details', 'thinking_tokens'))
  expect(completionTokens(usage)).toBe(numberAt(told, 'output_tokens'))
  expect(usage.webSearchRequests ?? 0).toBe(numberAt(told, 'server_tool_use', 'web_search_requests'))
}

/** The rule again: a stop reason and then a clean end or a reset, or `message_stop` after an answer. */
function isWhole(part: Uint8Array, ending: Ending): boolean {
  let isFinished = false
  for (const { event, data, json } of eventsOf(part, ending)) {
    if (/^event: ?error/m.test(event)) return false
    if (data.trim() === '') continue
    if (json === undefined) return false
    const type = at(json, 'type')
    if (type === 'error') return false
    if (type === 'message_delta' && at(json, 'delta', 'stop_reason')) isFinished = true
    if (type === 'message_stop') return isFinished
  }
  return isFinished
}

forReplies(
  ['messages'],
  isMessages,
  repliesAreRead(messagesEgress, {
    expectOutcome,
    expectRefusal(error) {
      expect(error.code).toMatch(/_error$|^request_too_large$/)
    },
    isWhole,
  }),
)
