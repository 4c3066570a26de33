import { expect } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import { completionTokens, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { readChat } from '../../../src/dialects/chat/decode.ts'
import { chatEgress } from '../../../src/dialects/chat/index.ts'
import { type Expected, forReplies, type Recording } from '../../recordings.ts'
import { upstreamReply } from '../../upstream-reply.ts'
import { argumentsOf, at } from '../expected.ts'
import { type Ending, repliesAreRead } from '../recorded.ts'
import { type Outcome, outcomeOf, sameText } from './outcome.ts'

const isChat = ({ api, provider, expected }: Recording): boolean =>
  api === 'openai-chat' || (api === 'error-body' && provider === 'openai' && expected.error !== undefined)

/** What the independent reader got wrong. */
const CORRECTIONS: Record<string, Partial<Expected>> = {
  // It read the empty text in `delta` as the answer, which is in `message`.
  'perplexity/rllm-with_params_perplexity_sonar_supports_json_schema_response_format_param.http.json': {
    text: '{"result":8}',
  },
}

async function expectOutcome(outcome: Outcome, recording: Recording): Promise<void> {
  const { bytes, isStream } = recording
  const slow = await outcomeOf(readChat(upstreamReply(bytes), isStream, { fast: false }))
  expect(sameText(slow.events)).toBe(sameText(outcome.events))
  expectReply(outcome, recording)
}

function expectReply(outcome: Outcome, { name, expected: found }: Recording): void {
  const expected = { ...found, ...CORRECTIONS[name] }
  const calls = (expected.tool_calls ?? []).filter((call) => call.name !== null)
  expect(outcome.text).toBe(expected.text ?? '')
  expect(outcome.reasoning).toBe(expected.reasoning ?? '')
  expect(outcome.refusal).toBe(expected.refusal ?? '')
  expect(outcome.calls.map(({ name, arguments: text }) => [name, text])).toEqual(
    calls.map((call) => [String(call.name), argumentsOf(call.arguments)]),
  )
  calls.forEach(({ id }, i) => {
    if (id) expect(outcome.calls[i]?.id).toBe(id)
    else expect(outcome.calls[i]?.id).toMatch(/^call_/)
  })
  if (expected.citations !== undefined) expect(outcome.annotations.length).toBe(expected.citations)
  if (expected.images !== undefined) expect(outcome.images.length).toBe(expected.images)
  expectUsage(outcome.usage, expected.usage ?? null)
  if (expected.error) {
    expect(outcome.finishes).toEqual([])
    expectReason(outcome.error, expected)
    return
  }
  expect(outcome.error).toBeUndefined()
  const native = expected.finish || null
  const reason = native === null ? (calls.length > 0 ? 'tool_calls' : 'stop') : reasonOf(native)
  expect(String(outcome.finishes[0]?.reason)).toBe(reason)
  if (native !== null && outcome.finishes[0]?.native === null)
    throw new Error(`the finish reason ${native} is lost`)
}

function reasonOf(native: string): string {
  const known = ['stop', 'length', 'tool_calls', 'content_filter']
  if (known.includes(native)) return native
  if (native === 'eos') return 'stop'
  if (native === 'function_call') return 'tool_calls'
  throw new Error(`unknown finish reason ${native}`)
}

const maybeNumberAt = (object: unknown, ...path: string[]): number | undefined => {
  const value = at(object, ...path)
  return typeof value === 'number' ? value : undefined
}

/** The sums are inclusive: together they are the provider's total, however it divides its counts. */
function expectUsage(usage: Usage | null, recorded: Record<string, unknown> | null): void {
  const prompt = maybeNumberAt(recorded, 'prompt_tokens')
  if (recorded === null || prompt === undefined) {
    expect(usage).toBeNull()
    return
  }
  if (usage === null) throw new Error('usage is lost')
  const completion = maybeNumberAt(recorded, 'completion_tokens') ?? 0
  const total = maybeNumberAt(recorded, 'total_tokens') ?? prompt + completion
  expect(promptTokens(usage)).toBe(prompt)
  expect(completionTokens(usage)).toBe(total - prompt)
  const cached =
    maybeNumberAt(recorded, 'prompt_tokens_details', 'cached_tokens') ??
    maybeNumberAt(recorded, 'cached_tokens') ??
    0
  expect(usage.cacheReadTokens).toBe(Math.min(cached, prompt))
  const reasoning = maybeNumberAt(recorded, 'completion_tokens_details', 'reasoning_tokens')
  if (reasoning !== undefined) expect(usage.reasoningTokens).toBe(Math.min(reasoning, total - prompt))
  const ticks = maybeNumberAt(recorded, 'cost_in_usd_ticks')
  const cost =
    maybeNumberAt(recorded, 'cost') ??
    maybeNumberAt(recorded, 'cost', 'total_cost') ??
    (ticks === undefined ? undefined : ticks / 1e10)
  expect(usage.providerCostUsd).toBe(cost)
}

/** The provider's message is in the reason; OpenRouter's own message has less detail than the error that it wraps. */
function expectReason(error: unknown, { error: sent }: Expected): void {
  if (!(error instanceof UpstreamError)) throw new Error(`no UpstreamError but ${String(error)}`)
  const { reason } = error
  // The table has the start of the object's JSON.
  const messages = [...String(sent).matchAll(/"(?:message|raw|detail|error)": ?"((?:[^"\\]|\\.){1,60})/g)]
  expect(messages.length).toBeGreaterThan(0)
  expect(messages.some((match) => reason.startsWith(match[1] ?? '')) ? 'found' : reason).toBe('found')
}

/** Offsets behind each blank line. */
function eventEnds(bytes: Uint8Array): number[] {
  const text = Buffer.from(bytes).toString('latin1')
  return [...text.matchAll(/\r\n\r\n|\n\n/g)].map((match) => match.index + match[0].length)
}

/**
 * The rule, written again: the terminal marker, or a finish reason of every choice and then a clean end (an end
 * inside an event is not clean) or a reset.
 */
function isComplete(part: Uint8Array, ending: Ending): boolean {
  const text = new TextDecoder().decode(part)
  const lines = text.split(/\r\n|\n|\r/)
  const events: unknown[] = []
  const tail: unknown[] = []
  let pending: string[] = []
  for (const [i, line] of lines.entries()) {
    if (line.startsWith('data:')) pending.push(line.slice(5).trim())
    const isLast = i === lines.length - 1
    if (pending.length > 0 && ((line === '' && !isLast) || isLast)) {
      const list = line === '' && !isLast ? events : tail
      const data = pending.join('\n')
      if (data !== '') list.push(data)
      pending = []
    }
  }
  const read = ending === 'clean' ? [...events, ...tail] : events
  const finished = new Map<number, boolean>()
  for (const data of read) {
    if (data === '[DONE]') return finished.size > 0
    let chunk: unknown
    try {
      chunk = JSON.parse(String(data))
    } catch {
      return false
    }
    if (at(chunk, 'error')) return false
    const choices = at(chunk, 'choices')
    if (Array.isArray(choices)) {
      for (const choice of choices) {
        const index = Number(at(choice, 'index') ?? 0)
        finished.set(index, Boolean(at(choice, 'finish_reason')) || (finished.get(index) ?? false))
      }
    }
    if (at(chunk, 'object') === 'chat.completion.done') return true
  }
  return finished.size > 0 && [...finished.values()].every(Boolean)
}

forReplies(
  ['chat'],
  isChat,
  repliesAreRead(chatEgress, {
    expectOutcome,
    expectReason,
    textOf: sameText,
    isComplete,
    endsOf: eventEnds,
  }),
)
