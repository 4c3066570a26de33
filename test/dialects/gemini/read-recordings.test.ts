import { expect, test } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import { completionTokens, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { geminiEgress } from '../../../src/dialects/gemini/index.ts'
import { type Expected, forReplies, type Recording } from '../../recordings.ts'
import { cutOffsets, type ReplyForm, upstreamReply } from '../../upstream-reply.ts'
import { type Outcome, outcomeOf, sameText } from '../chat/outcome.ts'

const isGemini = ({ api, provider }: Recording): boolean =>
  api === 'gemini' || (api === 'error-body' && provider === 'vertex')

forReplies(['gemini'], isGemini, table)

function table(recordings: Recording[]): void {
  const answers = recordings.filter((each) => each.status < 300 && each.api === 'gemini')
  const refusals = recordings.filter((each) => !answers.includes(each))
  const streams = answers.filter((each) => each.isStream)

  test.each(answers.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
    const outcome = await read(recording)
    expectOutcome(outcome, recording)
    // What was asked for does not decide how it is read.
    const reply = upstreamReply(recording.bytes)
    const crossed = await outcomeOf(geminiEgress.read(reply, !recording.isStream))
    expect(sameText(crossed.events)).toBe(sameText(outcome.events))
  })

  test.each(refusals.map((each) => [each.name, each] as const))('%s', (_, recording) => {
    const { bytes, headers, status, expected } = recording
    const text = new TextDecoder().decode(bytes)
    const error = geminiEgress.readError(status < 300 ? 400 : status, headers, text)
    expectReason(error, expected)
    expect(String(error.kind)).toBe(kindOf(status, text))
    const delay = /"retryDelay": "([\d.]+)s"/.exec(text)?.[1]
    expect(error.retryAfterMs).toBe(delay === undefined ? null : Number(delay) * 1_000)
  })

  test.each(streams.map((each) => [each.name, each] as const))('re-cut: %s', async (_, recording) => {
    const events = sameText((await read(recording)).events)
    const bytewise = await read(recording, { cuts: 'every' })
    expect(sameText(bytewise.events)).toBe(events)
    for (const offset of cutOffsets(recording.bytes.length, recording.bytes.length)) {
      const cut = await read(recording, { cuts: [offset] })
      if (sameText(cut.events) !== events) throw new Error(`cut at ${offset} says something else`)
    }
  })

  test.each(streams.map((each) => [each.name, each] as const))('broken off: %s', async (_, recording) => {
    const { bytes } = recording
    for (const offset of cutOffsets(bytes.length, bytes.length + 1)) {
      const part = bytes.subarray(0, offset)
      for (const ending of ['clean', 'reset'] as const) {
        const reply = upstreamReply(part, { ending })
        const { events, error } = await outcomeOf(geminiEgress.read(reply, true))
        const hasEnd = events.some((event) => event.type === 'response-end')
        const told = `cut at ${offset}, ${ending}`
        expect(`${told}: ${hasEnd}`).toBe(`${told}: ${isWhole(part, ending)}`)
        expect(error instanceof UpstreamError).toBe(!hasEnd)
      }
    }
  })
}

const read = (recording: Recording, form: ReplyForm = {}): Promise<Outcome> =>
  outcomeOf(
    geminiEgress.read(
      upstreamReply(recording.bytes, { ...form, status: recording.status }),
      recording.isStream,
    ),
  )

function kindOf(status: number, text: string): string {
  if (status === 429) return 'rate-limit'
  if (status === 503) return 'overloaded'
  // What the operator's project has not, another endpoint may have.
  if (status === 404 && text.includes('Publisher Model')) return 'server'
  return text.includes('API_KEY_INVALID') ? 'credential' : 'caller'
}

const call = (name: string, args: unknown) => ({ name, arguments: JSON.stringify(args), id: null })

/** The independent reader took each piece of a call that comes in pieces for a call of its own. */
const CORRECTIONS: Record<string, Partial<Expected>> = {
  'google/vai-google-stream-tool-call-arguments.chunks.txt': {
    tool_calls: [
      call('getWeather', { location: 'Boston' }),
      call('getWeather', { location: 'San Francisco' }),
    ],
  },
  'google/vai-google-stream-tool-call-array-arguments-missing-terminal-function-call.chunks.txt': {
    tool_calls: [
      call('writeItems', {
        operations: [
          { action: 'add', description: 'Fresh red apple', itemid: 'apple_001', price: 0.5 },
          { action: 'add', description: 'Ripe yellow banana', itemid: 'banana_001', price: 0.3 },
        ],
      }),
    ],
  },
}

function expectOutcome(outcome: Outcome, { name, isStream, expected: found }: Recording): void {
  const expected = { ...found, ...CORRECTIONS[name] }
  const calls = expected.tool_calls ?? []
  expect(outcome.text).toBe(expected.text ?? '')
  expect(outcome.reasoning).toBe(expected.reasoning ?? '')
  expect(outcome.calls.map(({ name: called, arguments: text }) => [called, text])).toEqual(
    calls.map((each) => [String(each.name), String(each.arguments)]),
  )
  calls.forEach(({ id }, i) => {
    if (id) expect(outcome.calls[i]?.id).toBe(id)
    else expect(outcome.calls[i]?.id).toMatch(/^call_/)
  })
  expect(outcome.images.length).toBe(expected.images ?? 0)
  // The table shows whether there are any.
  expect(outcome.annotations.length > 0).toBe((expected.citations ?? 0) > 0)
  expectUsage(outcome.usage, expected.usage ?? null)
  if (expected.finish === 'error' || expected.error) {
    expect(outcome.finishes).toEqual([])
    expect(outcome.error).toBeInstanceOf(UpstreamError)
    if (expected.error) expectReason(outcome.error, expected)
  } else if (!expected.finish) {
    if (!isStream) throw new Error('the table has no body without a reason')
    expect(outcome.finishes).toEqual([])
    expect(outcome.error).toMatchObject({ kind: 'truncated' })
  } else {
    expect(outcome.error).toBeUndefined()
    expect<unknown[]>(outcome.finishes).toEqual([
      { choice: 0, ...finishOf(String(expected.finish), calls.length > 0) },
    ])
  }
}

function finishOf(told: string, hasCalls: boolean): { reason: string; native: string } {
  if (told.startsWith('promptBlocked:')) {
    return { reason: 'content_filter', native: told.slice('promptBlocked:'.length) }
  }
  const native = told === '1' ? 'STOP' : told
  if (native === 'MAX_TOKENS') return { reason: 'length', native }
  if (['SAFETY', 'RECITATION', 'MODEL_ARMOR'].includes(native)) return { reason: 'content_filter', native }
  return { reason: hasCalls ? 'tool_calls' : 'stop', native }
}

const numberAt = (object: Record<string, unknown>, key: string): number => {
  const value = object[key]
  return typeof value === 'number' ? value : 0
}

/** Total = prompt + candidates + thoughts; what was cached is inside the prompt. */
function expectUsage(usage: Usage | null, told: Record<string, unknown> | null): void {
  if (told === null || told['promptTokenCount'] === undefined) {
    expect(usage).toBeNull()
    return
  }
  if (usage === null) throw new Error('usage is lost')
  const prompt = numberAt(told, 'promptTokenCount') + numberAt(told, 'toolUsePromptTokenCount')
  expect(promptTokens(usage)).toBe(prompt)
  expect(promptTokens(usage) + completionTokens(usage)).toBe(numberAt(told, 'totalTokenCount'))
  expect(usage.cacheReadTokens).toBe(numberAt(told, 'cachedContentTokenCount'))
  expect(usage.reasoningTokens).toBe(numberAt(told, 'thoughtsTokenCount'))
}

/** The table holds the first characters of the error object's JSON. */
function expectReason(error: unknown, { error: told }: Expected): void {
  if (!(error instanceof UpstreamError)) throw new Error(`no UpstreamError but ${String(error)}`)
  const said = /"message": ?"((?:[^"\\]|\\.){1,60})/.exec(String(told))?.[1]
  expect(said).toBeDefined()
  expect(error.reason.startsWith(said ?? '-') ? 'said' : error.reason).toBe('said')
}

const at = (value: unknown, ...path: string[]): unknown => {
  let inner = value
  for (const key of path)
    inner = typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined
  return inner
}

/**
 * The rule, repeated: each candidate has its reason, or the prompt was blocked, and then a clean end (one
 * inside an event is not clean), or a reset after usage was reported.
 */
function isWhole(part: Uint8Array, ending: 'clean' | 'reset'): boolean {
  const blocks = new TextDecoder().decode(part).split(/\r\n\r\n|\r\n\r$|\n\n/)
  const tail = blocks.pop() ?? ''
  // The first letters of a line say nothing yet.
  if (ending === 'clean' && !/^(?:d|da|dat|data|data:)?\s*$/.test(tail)) blocks.push(tail)
  const finished = new Map<number, boolean>()
  let isBlocked = false
  let hasUsage = false
  for (const block of blocks) {
    let chunk: unknown
    try {
      chunk = JSON.parse(block.replace(/^data:/, ''))
    } catch {
      return false
    }
    if (at(chunk, 'error')) return false
    const candidates = at(chunk, 'candidates')
    for (const candidate of Array.isArray(candidates) ? candidates : []) {
      const index = Number(at(candidate, 'index') ?? 0)
      finished.set(index, Boolean(at(candidate, 'finishReason')) || (finished.get(index) ?? false))
    }
    if (at(chunk, 'promptFeedback', 'blockReason')) isBlocked = true
    if (at(chunk, 'usageMetadata', 'totalTokenCount') !== undefined) hasUsage = true
  }
  const isEnded = finished.size > 0 ? [...finished.values()].every(Boolean) : isBlocked
  return isEnded && (ending === 'clean' || hasUsage)
}
