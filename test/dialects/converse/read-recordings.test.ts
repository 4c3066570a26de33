import { expect } from 'bun:test'
import { completionTokens, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { converseEgress } from '../../../src/dialects/converse/index.ts'
import { type Expected, forReplies, type Recording } from '../../recordings.ts'
import type { Outcome } from '../chat/outcome.ts'
import { expectContent, expectReason, numberAt, repliesAreRead } from '../recorded.ts'
import { frameEnds } from './frames.ts'

const KINDS: Readonly<Record<number, string>> = {
  400: 'caller',
  403: 'credential',
  404: 'caller',
  408: 'timeout',
  424: 'server',
  429: 'rate-limit',
  500: 'server',
  503: 'overloaded',
}

/** The offset behind `messageStop`; past the end where an error came instead. */
function stopEnd(bytes: Uint8Array): number {
  const at = Buffer.from(bytes).indexOf('messageStop')
  return at === -1 ? bytes.length + 1 : (frameEnds(bytes).find((end) => end > at) ?? bytes.length)
}

const REASONS: Readonly<Record<string, 'stop' | 'length' | 'tool_calls' | 'content_filter'>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
}

/** What runs at AWS is not the client's to run. */
const isOwn = ({ name }: { name: string | null }): boolean => name?.startsWith('nova_') ?? false

function expectOutcome(outcome: Outcome, { expected }: Recording): void {
  const calls = (expected.tool_calls ?? []).filter((call) => !isOwn(call))
  expectContent(outcome, expected, calls)
  if (expected.citations !== undefined) expect(outcome.annotations.length).toBe(expected.citations)
  expectThoughts(outcome, expected)
  expectUsage(outcome.usage, expected.usage ?? {})
  if (expected.error) {
    expect(outcome.finishes).toEqual([])
    expectReason(outcome.error, expected)
    return
  }
  expect(outcome.error).toBeUndefined()
  const native = expected.finish ?? null
  const known = native === null ? undefined : REASONS[native]
  if (known === undefined) throw new Error(`${native} is not in the table`)
  const isAnswer = native === 'tool_use' && calls.length === 0
  expect(outcome.finishes).toEqual([{ choice: 0, reason: isAnswer ? 'stop' : known, native }])
}

/** The text of the details is the reasoning; what was signed and what was encrypted is kept. */
function expectThoughts(outcome: Outcome, { reasoning, tags }: Expected): void {
  const details = outcome.events.flatMap((event) => (event.type === 'reasoning-detail' ? [event.detail] : []))
  expect(details.map(({ text }) => text ?? '').join('')).toBe(reasoning ?? '')
  if (!tags?.includes('reasoning')) return
  expect(details).not.toEqual([])
  if (tags.includes('signature')) {
    expect(details.at(-1)).toMatchObject({ format: 'anthropic-claude-v1', signature: expect.any(String) })
  }
  if (!reasoning) {
    for (const detail of details) {
      expect(detail).toMatchObject({ type: 'reasoning.encrypted', format: 'anthropic-claude-v1' })
      expect(detail['data']).toMatch(/^E[\w+/=]+$/)
    }
  }
}

/** The provider excludes cached tokens from its input. */
function expectUsage(usage: Usage | null, told: Record<string, unknown>): void {
  if (Object.keys(told).length === 0) {
    expect(usage).toBeNull()
    return
  }
  if (usage === null) throw new Error('usage is lost')
  expect(usage.inputTokens).toBe(numberAt(told, 'inputTokens'))
  expect(usage.cacheReadTokens).toBe(numberAt(told, 'cacheReadInputTokens'))
  expect(usage.cacheWriteTokens).toBe(numberAt(told, 'cacheWriteInputTokens'))
  expect(promptTokens(usage) + completionTokens(usage)).toBe(numberAt(told, 'totalTokens'))
}

forReplies(
  ['converse'],
  ({ api }) => api === 'bedrock-converse',
  repliesAreRead(converseEgress, {
    expectOutcome,
    expectRefusal(error, { status }) {
      expect(error.code).toMatch(/^[A-Z]\w+Exception$/)
      expect<string>(error.kind).toBe(KINDS[status] ?? 'a status that the table does not know')
    },
    // A stop reason and then a clean end or a reset; half a frame is no clean end.
    isWhole: (part, ending, { bytes }) =>
      part.length >= stopEnd(bytes) && (ending === 'reset' || frameEnds(bytes).includes(part.length)),
    endsOf: frameEnds,
  }),
)
