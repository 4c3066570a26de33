import { expect } from 'bun:test'
import type { Finish } from '../../../src/core/events.ts'
import { completionTokens, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { responsesEgress } from '../../../src/dialects/responses/index.ts'
import { type Expected, forReplies, type Recording } from '../../recordings.ts'
import type { Outcome } from '../chat/outcome.ts'
import { at, detailsOf, expectContent, expectEnd, numberAt, usageToCompare } from '../expected.ts'
import { type Ending, eventsOf, repliesAreRead } from '../recorded.ts'

/** Recordings that are not replies, with the reported error. */
const NO_REPLY: Readonly<Record<string, { kind: string; reason: RegExp }>> = {
  // The gateway sends no background requests: a response in progress is truncated.
  'openai/pyd-background_mode_vcr.http.json#0': { kind: 'truncated', reason: /under way/ },
  'openai/pyd-background_mode_vcr.http.json#1': { kind: 'truncated', reason: /under way/ },
  // The recording truncated its first and last line: not JSON.
  'openai/vai-parallel-tool-call-wrapper.1.chunks.txt': { kind: 'malformed', reason: /not JSON/ },
}

function expectOutcome(outcome: Outcome, { name, expected }: Recording): void {
  const no = NO_REPLY[name]
  if (no) {
    expect(outcome.finishes).toEqual([])
    expect(outcome.error).toMatchObject({ kind: no.kind, reason: expect.stringMatching(no.reason) })
    return
  }
  expectContent(outcome, expected)
  expect(outcome.refusal).toBe(expected.refusal ?? '')
  expect(outcome.images).toHaveLength(expected.images ?? 0)
  for (const url of outcome.images) expect(url).toMatch(/^data:image\/(png|webp|jpeg);base64,/)
  expect(outcome.annotations).toHaveLength(expected.citations ?? 0)
  expectDetails(outcome, expected)
  expectUsage(outcome.usage, expected.usage ?? {})
  expectEnd(outcome, expected, () => finishOf(name, expected))
}

/** The finish of incomplete responses, which name their reason. */
const CUT: Readonly<Record<string, ['length' | 'content_filter', string]>> = {
  'incomplete.sse': ['length', 'max_output_tokens'],
  'incomplete-call.sse': ['length', 'max_output_tokens'],
  'filtered.json': ['content_filter', 'content_filter'],
}

function finishOf(name: string, { finish = null, tool_calls = [] }: Expected): Finish {
  const [reason, native] = CUT[name] ?? [tool_calls.length > 0 ? 'tool_calls' : 'stop', finish]
  return { choice: 0, reason, native }
}

/** The text of the details is the reasoning, and the encrypted part to send back is among them. */
function expectDetails(outcome: Outcome, { reasoning = '', tags }: Expected): void {
  const details = detailsOf(outcome)
  expect(details.map(({ text, summary }) => text ?? summary ?? '').join('')).toBe(reasoning)
  for (const { format } of details) expect(format).toBe('openai-responses-v1')
  if (tags?.includes('signature')) expect(details.at(-1)?.data).toBeString()
}

/** The provider includes cached tokens in its input, and reasoning in its output. */
function expectUsage(reported: Usage | null, recorded: Record<string, unknown>): void {
  const usage = usageToCompare(reported, recorded)
  if (usage === null) return
  expect(promptTokens(usage)).toBe(numberAt(recorded, 'input_tokens'))
  expect(completionTokens(usage)).toBe(numberAt(recorded, 'output_tokens'))
  expect(usage.cacheReadTokens).toBe(numberAt(recorded, 'input_tokens_details', 'cached_tokens'))
  expect(usage.cacheWriteTokens).toBe(numberAt(recorded, 'input_tokens_details', 'cache_write_tokens'))
  expect(usage.reasoningTokens).toBe(numberAt(recorded, 'output_tokens_details', 'reasoning_tokens'))
  const ticks = numberAt(recorded, 'cost_in_usd_ticks')
  expect(usage.providerCostUsd ?? 0).toBe(ticks > 0 ? ticks / 1e10 : numberAt(recorded, 'cost'))
}

/** The rule, written again: the last event of a response, or the marker of gateways after an answer. */
function isComplete(part: Uint8Array, ending: Ending): boolean {
  let hasContent = false
  for (const { data, json } of eventsOf(part, ending)) {
    if (data.trim() === '') continue
    if (data === '[DONE]') return hasContent
    if (json === undefined) return false
    const type = String(at(json, 'type'))
    if (type === 'error' || type === 'response.failed') return false
    if (type === 'response.completed' || type === 'response.incomplete') return true
    if (/delta$|output_item.added$/.test(type)) hasContent = true
  }
  return false
}

forReplies(
  ['responses'],
  ({ api }) => api === 'openai-responses',
  repliesAreRead(responsesEgress, {
    expectOutcome,
    expectRefusal: ({ code }) => expect(code).toBeString(),
    isComplete,
  }),
)
