import { expect, test } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import { completionTokens, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { converseEgress } from '../../../src/dialects/converse/index.ts'
import { type Expected, forReplies, type Recording } from '../../recordings.ts'
import { cutOffsets, type ReplyForm, upstreamReply } from '../../upstream-reply.ts'
import { type Outcome, outcomeOf } from '../chat/outcome.ts'
import { answersAreRead, cutsSayTheSame } from '../recorded.ts'
import { frameEnds } from './frames.ts'

forReplies(['converse'], ({ api }) => api === 'bedrock-converse', table)

function table(recordings: Recording[]): void {
  const answers = recordings.filter((each) => each.status < 300)
  const refusals = recordings.filter((each) => each.status >= 300)
  const streams = answers.filter((each) => each.isStream)

  answersAreRead(converseEgress, answers, expectOutcome)

  test.each(refusals.map((each) => [each.name, each] as const))(
    '%s',
    (_, { bytes, headers, status, expected }) => {
      const error = converseEgress.readError(status, headers, new TextDecoder().decode(bytes))
      expectReason(error, expected)
      expect(error.status).toBe(status)
      expect(error.code).toMatch(/^[A-Z]\w+Exception$/)
      expect<string>(error.kind).toBe(KINDS[status] ?? 'a status that the table does not know')
    },
  )

  cutsSayTheSame(converseEgress, streams)

  test.each(streams.map((each) => [each.name, each] as const))('broken off: %s', async (_, recording) => {
    const { bytes } = recording
    const stop = stopEnd(bytes)
    const ends = new Set(frameEnds(bytes))
    for (const offset of new Set([...cutOffsets(bytes.length, bytes.length + 1), ...ends])) {
      const part = bytes.subarray(0, offset)
      const isInFrame = !ends.has(offset)
      for (const ending of ['clean', 'reset'] as const) {
        const { events, error } = await outcomeOf(converseEgress.read(upstreamReply(part, { ending }), true))
        const hasEnd = events.some((event) => event.type === 'response-end')
        // A stop reason and then a clean end or a reset; half a frame is no clean end.
        const isWhole = offset >= stop && (ending === 'reset' || !isInFrame)
        const isRight = hasEnd === isWhole && hasEnd !== error instanceof UpstreamError
        if (!isRight) throw new Error(`cut at ${offset}, ${ending}: ${hasEnd ? 'looks whole' : 'is lost'}`)
      }
    }
  })
}

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

const _read = ({ bytes, status, isStream }: Recording, form: ReplyForm = {}): Promise<Outcome> =>
  outcomeOf(converseEgress.read(upstreamReply(bytes, { ...form, status }), isStream))

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
  expect(outcome.text).toBe(expected.text ?? '')
  expect(outcome.reasoning).toBe(expected.reasoning ?? '')
  expect(outcome.calls).toEqual(
    calls.map(({ id, name, arguments: told }) => ({
      id: String(id),
      name: String(name),
      arguments: typeof told === 'string' ? told || '{}' : JSON.stringify(told),
    })),
  )
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

const numberAt = (told: Record<string, unknown>, name: string): number => {
  const value = told[name]
  return typeof value === 'number' ? value : 0
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

function expectReason(error: unknown, { error: told }: Expected): void {
  if (!(error instanceof UpstreamError)) throw new Error(`no UpstreamError but ${String(error)}`)
  const said = /"message": ?"((?:[^"\\]|\\.){1,60})/.exec(String(told))?.[1] ?? ''
  expect(said).not.toBe('')
  expect(error.reason.slice(0, said.length)).toBe(said)
}
