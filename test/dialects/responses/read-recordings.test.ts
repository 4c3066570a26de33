import { expect, test } from 'bun:test'
import { completionTokens, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { responsesEgress } from '../../../src/dialects/responses/index.ts'
import { type Expected, forReplies, type Recording } from '../../recordings.ts'
import { cutOffsets, type ReplyForm, upstreamReply } from '../../upstream-reply.ts'
import { type Outcome, outcomeOf } from '../chat/outcome.ts'
import {
  at,
  brokenOff,
  type Ending,
  eventsOf,
  expectContent,
  expectReason,
  numberAt,
  refusalsAreRead,
} from '../recorded.ts'

/** Recordings that are not replies, with the reported error. */
const NO_REPLY: Readonly<Record<string, { kind: string; reason: RegExp }>> = {
  // We ask for nothing in the background: a response that is still under way is half of one.
  'openai/pyd-background_mode_vcr.http.json#0': { kind: 'truncated', reason: /under way/ },
  'openai/pyd-background_mode_vcr.http.json#1': { kind: 'truncated', reason: /under way/ },
  // The recording truncated its first and last line: not JSON.
  'openai/vai-parallel-tool-call-wrapper.1.chunks.txt': { kind: 'malformed', reason: /not JSON/ },
}

forReplies(['responses'], ({ api }) => api === 'openai-responses', table)

function table(recordings: Recording[]): void {
  const answers = recordings.filter((each) => each.status < 300)
  const streams = answers.filter((each) => each.isStream)

  test.each(answers.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
    const outcome = await read(recording)
    const no = NO_REPLY[recording.name]
    if (no) {
      expect(outcome.finishes).toEqual([])
      expect(outcome.error).toMatchObject({ kind: no.kind, reason: expect.stringMatching(no.reason) })
      return
    }
    expectOutcome(outcome, recording)
    // What was asked for does not decide how it is read.
    const crossed = await outcomeOf(responsesEgress.read(upstreamReply(recording.bytes), !recording.isStream))
    expect(crossed.events).toEqual(outcome.events)
  })

  refusalsAreRead(responsesEgress, recordings, ({ code }) => expect(code).toBeString())

  test.each(streams.map((each) => [each.name, each] as const))('re-cut: %s', async (_, recording) => {
    const whole = await read(recording)
    const every = await read(recording, { cuts: 'every' })
    expect(JSON.stringify(every.events)).toBe(JSON.stringify(whole.events))
    const told = toldBy(whole)
    for (const offset of cutOffsets(recording.bytes.length, recording.bytes.length)) {
      const cut = await read(recording, { cuts: [offset] })
      if (toldBy(cut) !== told) throw new Error(`cut at ${offset} says something else`)
    }
  })

  brokenOff(responsesEgress, streams, { isWhole })
}

/** All events except the native ones, which repeat complete responses. */
const toldBy = ({ events }: Outcome): string =>
  JSON.stringify(events.map((event) => (event.type === 'native' ? event.type : event)))

const read = ({ bytes, status, isStream }: Recording, form: ReplyForm = {}): Promise<Outcome> =>
  outcomeOf(responsesEgress.read(upstreamReply(bytes, { ...form, status }), isStream))

function expectOutcome(outcome: Outcome, { name, expected }: Recording): void {
  expectContent(outcome, expected)
  expect(outcome.refusal).toBe(expected.refusal ?? '')
  expect(outcome.images).toHaveLength(expected.images ?? 0)
  for (const url of outcome.images) expect(url).toMatch(/^data:image\/(png|webp|jpeg);base64,/)
  expect(outcome.annotations).toHaveLength(expected.citations ?? 0)
  expectDetails(outcome, expected)
  expectUsage(outcome.usage, expected.usage ?? {})
  if (expected.error) {
    expect(outcome.finishes).toEqual([])
    expectReason(outcome.error, expected)
    return
  }
  expect(outcome.error).toBeUndefined()
  expect(outcome.finishes).toEqual([finishOf(name, expected)])
}

/** The words of the native finish: an incomplete response names its reason. */
const CUT: Readonly<Record<string, ['length' | 'content_filter', string]>> = {
  'incomplete.sse': ['length', 'max_output_tokens'],
  'incomplete-call.sse': ['length', 'max_output_tokens'],
  'filtered.json': ['content_filter', 'content_filter'],
}

function finishOf(name: string, { finish = null, tool_calls = [] }: Expected) {
  const [reason, native] = CUT[name] ?? [tool_calls.length > 0 ? 'tool_calls' : 'stop', finish]
  return { choice: 0, reason, native }
}

/** The text of the details is the reasoning, and what must be sent back is among them. */
function expectDetails(outcome: Outcome, { reasoning = '', tags }: Expected): void {
  const details = outcome.events.flatMap((event) => (event.type === 'reasoning-detail' ? [event.detail] : []))
  expect(details.map(({ text, summary }) => text ?? summary ?? '').join('')).toBe(reasoning)
  for (const { format } of details) expect(format).toBe('openai-responses-v1')
  if (tags?.includes('signature')) expect(details.at(-1)?.data).toBeString()
}

/** The provider includes cached tokens in its input, and reasoning in its output. */
function expectUsage(usage: Usage | null, told: Record<string, unknown>): void {
  if (Object.keys(told).length === 0) {
    expect(usage).toBeNull()
    return
  }
  if (usage === null) throw new Error('usage is lost')
  expect(promptTokens(usage)).toBe(numberAt(told, 'input_tokens'))
  expect(completionTokens(usage)).toBe(numberAt(told, 'output_tokens'))
  expect(usage.cacheReadTokens).toBe(numberAt(told, 'input_tokens_details', 'cached_tokens'))
  expect(usage.cacheWriteTokens).toBe(numberAt(told, 'input_tokens_details', 'cache_write_tokens'))
  expect(usage.reasoningTokens).toBe(numberAt(told, 'output_tokens_details', 'reasoning_tokens'))
  const ticks = numberAt(told, 'cost_in_usd_ticks')
  expect(usage.providerCostUsd ?? 0).toBe(ticks > 0 ? ticks / 1e10 : numberAt(told, 'cost'))
}

/** The rule again: the last event of a response, or the marker of gateways after an answer. */
function isWhole(part: Uint8Array, ending: Ending): boolean {
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
