import { expect } from 'bun:test'
import { completionTokens, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { cohereEgress } from '../../../src/dialects/cohere/index.ts'
import { type Expected, forReplies, type Recording } from '../../recordings.ts'
import type { Outcome } from '../chat/outcome.ts'
import { at, detailsOf, expectContent, expectEnd, numberAt, usageToCompare } from '../expected.ts'
import { type Ending, eventsOf, repliesAreRead } from '../recorded.ts'

/** An error is the same on every path of the API. */
const isCohere = ({ provider, api, status }: Recording): boolean =>
  provider === 'cohere' && (api === 'cohere-chat' || (api === 'embeddings' && status >= 300))

const KINDS: Readonly<Record<number, string>> = { 401: 'credential', 429: 'rate-limit', 500: 'server' }

const REASONS = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
} as const

function reasonOf(native: string | null | undefined) {
  if (
    native === 'COMPLETE' ||
    native === 'STOP_SEQUENCE' ||
    native === 'MAX_TOKENS' ||
    native === 'TOOL_CALL'
  )
    return REASONS[native]
  throw new Error(`unknown finish reason ${native}`)
}

function expectOutcome(outcome: Outcome, { expected }: Recording): void {
  expectContent(outcome, expected)
  expect(outcome.annotations.length).toBe(expected.citations ?? 0)
  expectDetails(outcome, expected)
  expectUsage(outcome.usage, expected.usage ?? {})
  const native = expected.finish ?? null
  expectEnd(outcome, expected, () => ({ choice: 0, reason: reasonOf(native), native }))
}

/** The text of the details is the reasoning; a plan is only in them. */
function expectDetails(outcome: Outcome, { reasoning }: Expected): void {
  const details = detailsOf(outcome)
  const thoughts = details.filter(({ type }) => type === 'reasoning.text')
  expect(thoughts.map(({ text }) => text).join('')).toBe(reasoning ?? '')
  for (const { format } of details) expect(format).toBe('cohere-v2')
}

/** Billed units count; tokens only if no units are billed. */
function expectUsage(reported: Usage | null, recorded: Record<string, unknown>): void {
  const usage = usageToCompare(reported, recorded)
  if (usage === null) return
  const place = recorded['billed_units'] === undefined ? 'tokens' : 'billed_units'
  expect(promptTokens(usage)).toBe(numberAt(recorded, place, 'input_tokens'))
  expect(completionTokens(usage)).toBe(numberAt(recorded, place, 'output_tokens'))
  expect(usage.cacheReadTokens).toBe(place === 'tokens' ? numberAt(recorded, 'cached_tokens') : 0)
}

/** The rule, written again: `message-end` with a known reason. A reset discards half an event. */
function isComplete(part: Uint8Array, ending: Ending): boolean {
  for (const { data, json } of eventsOf(part, ending)) {
    if (data.trim() === '') continue
    if (json === undefined) return false
    if (at(json, 'type') === 'message-end') {
      const reason = at(json, 'delta', 'finish_reason')
      return typeof reason === 'string' && reason in REASONS
    }
    if (at(json, 'type') === undefined) return false
  }
  return false
}

forReplies(
  ['cohere'],
  isCohere,
  repliesAreRead(cohereEgress, {
    expectOutcome,
    expectRefusal(error, { status, expected }) {
      expect<string>(error.kind).toBe(KINDS[status] ?? 'unsuitable')
      expect(error.retryAfterMs).toBe(status === 429 ? 30_000 : null)
      if (String(expected.error).includes('too many tokens')) {
        expect(error.errorType).toBe('context_length_exceeded')
      }
    },
    isComplete,
  }),
)
