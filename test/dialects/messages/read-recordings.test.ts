import { expect } from 'bun:test'
import type { Finish } from '../../../src/core/events.ts'
import { completionTokens, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { messagesEgress } from '../../../src/dialects/messages/index.ts'
import { type Expected, forReplies, type Recording } from '../../recordings.ts'
import type { Outcome } from '../chat/outcome.ts'
import { at, detailsOf, expectContent, expectEnd, finishOf, numberAt, usageToCompare } from '../expected.ts'
import { type Ending, eventsOf, repliesAreRead } from '../recorded.ts'

const isMessages = ({ api, expected }: Recording): boolean =>
  api === 'anthropic-messages' || (api === 'count-tokens' && String(expected.error).includes('model: claude'))

const REASONS: Readonly<Record<string, Finish['reason']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

function expectOutcome(outcome: Outcome, { expected }: Recording): void {
  // Calls that the provider runs itself are not calls for the client.
  const calls = (expected.tool_calls ?? []).filter(({ id }) => !id?.startsWith('srvtoolu_'))
  expectContent(outcome, expected, calls)
  if (expected.citations !== undefined) expect(outcome.annotations.length).toBe(expected.citations)
  expectSignatures(outcome, expected)
  expectUsage(outcome.usage, expected.usage ?? {})
  expectEnd(outcome, expected, () => finishOf(REASONS, expected.finish ?? null, calls.length > 0))
}

/** The text of the details is the reasoning, and each thought ends in its signature. */
function expectSignatures(outcome: Outcome, { reasoning, tags }: Expected): void {
  if (!reasoning) return
  const details = detailsOf(outcome)
  expect(details.map(({ text }) => text ?? '').join('')).toBe(reasoning)
  for (const { format } of details) expect(format).toBe('anthropic-claude-v1')
  if (tags?.includes('signature')) expect(details.at(-1)?.signature).toBeString()
}

/** The provider excludes cached tokens from its input; thinking is a part of its output. */
function expectUsage(reported: Usage | null, recorded: Record<string, unknown>): void {
  const usage = usageToCompare(reported, recorded)
  if (usage === null) return
  const reads = numberAt(recorded, 'cache_read_input_tokens')
  const writes = numberAt(recorded, 'cache_creation_input_tokens')
  expect(usage.inputTokens).toBe(numberAt(recorded, 'input_tokens'))
  expect(usage.cacheReadTokens).toBe(reads)
  expect(usage.cacheWriteTokens).toBe(writes)
  expect(usage.cacheWriteHourTokens ?? 0).toBe(
    numberAt(recorded, 'cache_creation', 'ephemeral_1h_input_tokens'),
  )
  expect(promptTokens(usage)).toBe(numberAt(recorded, 'input_tokens') + reads + writes)
  expect(usage.reasoningTokens).toBe(numberAt(recorded, 'output_tokens_details', 'thinking_tokens'))
  expect(completionTokens(usage)).toBe(numberAt(recorded, 'output_tokens'))
  expect(usage.webSearchRequests ?? 0).toBe(numberAt(recorded, 'server_tool_use', 'web_search_requests'))
}

/** The rule, written again: a stop reason and then a clean end or a reset, or `message_stop` after an answer. */
function isComplete(part: Uint8Array, ending: Ending): boolean {
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
    isComplete,
  }),
)
