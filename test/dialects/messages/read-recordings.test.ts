import { expect, test } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import { completionTokens, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { messagesEgress } from '../../../src/dialects/messages/index.ts'
import { type Expected, forReplies, type Recording } from '../../recordings.ts'
import { cutOffsets, type ReplyForm, upstreamReply } from '../../upstream-reply.ts'
import { type Outcome, outcomeOf } from '../chat/outcome.ts'
import { answersAreRead, cutsSayTheSame } from '../recorded.ts'

const isMessages = ({ api, expected }: Recording): boolean =>
  api === 'anthropic-messages' || (api === 'count-tokens' && String(expected.error).includes('model: claude'))

forReplies(['messages'], isMessages, table)

function table(recordings: Recording[]): void {
  const answers = recordings.filter((each) => each.status < 300)
  const refusals = recordings.filter((each) => each.status >= 300)
  const streams = answers.filter((each) => each.isStream)

  answersAreRead(messagesEgress, answers, expectOutcome)

  test.each(refusals.map((each) => [each.name, each] as const))(
    '%s',
    (_, { bytes, headers, status, expected }) => {
      const error = messagesEgress.readError(status, headers, new TextDecoder().decode(bytes))
      expectReason(error, expected)
      expect(error.status).toBe(status)
      expect(error.code).toMatch(/_error$|^request_too_large$/)
    },
  )

  cutsSayTheSame(messagesEgress, streams)

  test.each(streams.map((each) => [each.name, each] as const))('broken off: %s', async (_, recording) => {
    const { bytes } = recording
    for (const offset of new Set([...cutOffsets(bytes.length, bytes.length + 1), ...eventEnds(bytes)])) {
      const part = bytes.subarray(0, offset)
      for (const ending of ['clean', 'reset'] as const) {
        const { events, error } = await outcomeOf(messagesEgress.read(upstreamReply(part, { ending }), true))
        const hasEnd = events.some((event) => event.type === 'response-end')
        const isRight = hasEnd === isWhole(part, ending) && hasEnd !== error instanceof UpstreamError
        if (!isRight) throw new Error(`cut at ${offset}, ${ending}: ${hasEnd ? 'looks whole' : 'is lost'}`)
      }
    }
  })
}

const _read = ({ bytes, status, isStream }: Recording, form: ReplyForm = {}): Promise<Outcome> =>
  outcomeOf(messagesEgress.read(upstreamReply(bytes, { ...form, status }), isStream))

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
  expect(outcome.text).toBe(expected.text ?? '')
  expect(outcome.reasoning).toBe(expected.reasoning ?? '')
  expect(outcome.calls).toEqual(
    calls.map(({ id, name, arguments: told }) => ({
      id: String(id),
      name: String(name),
      arguments: argumentsOf(told),
    })),
  )
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

const argumentsOf = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text === '' ? '{}' : text
}

/** The text of the details is the reasoning, and each thought ends in its signature. */
function expectSignatures(outcome: Outcome, { reasoning, tags }: Expected): void {
  if (!reasoning) return
  const details = outcome.events.flatMap((event) => (event.type === 'reasoning-detail' ? [event.detail] : []))
  expect(details.map(({ text }) => text ?? '').join('')).toBe(reasoning)
  for (const { format } of details) expect(format).toBe('anthropic-claude-v1')
  if (tags?.includes('signature')) expect(details.at(-1)?.signature).toBeString()
}

const numberAt = (object: unknown, ...path: string[]): number => {
  let value = object
  for (const key of path) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  }
  return typeof value === 'number' ? value : 0
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

function expectReason(error: unknown, { error: told }: Expected): void {
  if (!(error instanceof UpstreamError)) throw new Error(`no UpstreamError but ${String(error)}`)
  // The table keeps the beginning of the object's JSON.
  const said = /"message": ?"((?:[^"\\]|\\.){1,60})/.exec(String(told))?.[1] ?? ''
  expect(said).not.toBe('')
  expect(error.reason.slice(0, said.length)).toBe(said)
}

/** Offsets behind each blank line. */
const eventEnds = (bytes: Uint8Array): number[] =>
  [...Buffer.from(bytes).toString('latin1').matchAll(/\n\n/g)].map((match) => match.index + 2)

/** The rule, said once more: a stop reason and then a clean end or a reset, or `message_stop` after an answer. */
function isWhole(part: Uint8Array, ending: 'clean' | 'reset'): boolean {
  const text = new TextDecoder().decode(part)
  const events = text.split('\n\n')
  const tail = events.pop() ?? ''
  if (ending === 'clean' && tail.trim() !== '') events.push(tail)
  let isFinished = false
  for (const event of events) {
    if (/^event: ?error/m.test(event)) return false
    const data = /^data: ?(.*)$/m.exec(event)?.[1]
    if (data === undefined || data.trim() === '') continue
    let parsed: unknown
    try {
      parsed = JSON.parse(data)
    } catch {
      return false
    }
    const type = at(parsed, 'type')
    if (type === 'error') return false
    if (type === 'message_delta' && at(at(parsed, 'delta'), 'stop_reason')) isFinished = true
    if (type === 'message_stop') return isFinished
  }
  return isFinished
}

const at = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
