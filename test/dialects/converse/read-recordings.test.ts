import { expect } from 'bun:test'
import type { Finish } from '../../../src/core/events.ts'
import { completionTokens, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { converseEgress } from '../../../src/dialects/converse/index.ts'
import { type Expected, forReplies, type Recording } from '../../recordings.ts'
import type { Outcome } from '../chat/outcome.ts'
import { detailsOf, expectContent, expectEnd, finishOf, numberAt, usageToCompare } from '../expected.ts'
import { repliesAreRead } from '../recorded.ts'
import { frameEnds } from './frames.ts'

const KINDS: Readonly<Record<number, string>> = {
  400: 'unsuitable',
  403: 'credential',
  404: 'unsuitable',
  408: 'timeout',
  424: 'server',
  429: 'rate-limit',
  500: 'server',
  503: 'overloaded',
}

/** The offset behind `messageStop`; past the end if there is an error instead. */
function stopEnd(bytes: Uint8Array): number {
  const at = Buffer.from(bytes).indexOf('messageStop')
  return at === -1 ? bytes.length + 1 : (frameEnds(bytes).find((end) => end > at) ?? bytes.length)
}

const REASONS: Readonly<Record<string, Finish['reason']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
}

/** Whether AWS runs the tool itself; the client does not see such a call. */
const isOwn = ({ name }: { name: string | null }): boolean => name?.startsWith('nova_') ?? false

function expectOutcome(outcome: Outcome, { expected }: Recording): void {
  const calls = (expected.tool_calls ?? []).filter((call) => !isOwn(call))
  expectContent(outcome, expected, calls)
  if (expected.citations !== undefined) expect(outcome.annotations.length).toBe(expected.citations)
  expectThoughts(outcome, expected)
  expectUsage(outcome.usage, expected.usage ?? {})
  expectEnd(outcome, expected, () => finishOf(REASONS, expected.finish ?? null, calls.length > 0))
}

/** The text of the details is the reasoning; signatures and encrypted thoughts are among them. */
function expectThoughts(outcome: Outcome, { reasoning, tags }: Expected): void {
  const details = detailsOf(outcome)
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
function expectUsage(reported: Usage | null, recorded: Record<string, unknown>): void {
  const usage = usageToCompare(reported, recorded)
  if (usage === null) return
  expect(usage.inputTokens).toBe(numberAt(recorded, 'inputTokens'))
  expect(usage.cacheReadTokens).toBe(numberAt(recorded, 'cacheReadInputTokens'))
  expect(usage.cacheWriteTokens).toBe(numberAt(recorded, 'cacheWriteInputTokens'))
  expect(promptTokens(usage) + completionTokens(usage)).toBe(numberAt(recorded, 'totalTokens'))
}

forReplies(
  ['converse'],
  ({ api }) => api === 'bedrock-converse',
  repliesAreRead(converseEgress, {
    expectOutcome,
    expectRefusal(error, { status }) {
      expect(error.code).toMatch(/^[A-Z]\w+Exception$/)
      expect<string>(error.kind).toBe(KINDS[status] ?? 'unknown status')
    },
    // A stop reason and then a clean end or a reset; an end inside a frame is not clean.
    isComplete: (part, ending, { bytes }) =>
      part.length >= stopEnd(bytes) && (ending === 'reset' || frameEnds(bytes).includes(part.length)),
    endsOf: frameEnds,
  }),
)
