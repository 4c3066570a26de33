import { expect } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import { completionTokens, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { geminiEgress } from '../../../src/dialects/gemini/index.ts'
import { type Expected, forReplies, type Recording } from '../../recordings.ts'
import { type Outcome, sameText } from '../chat/outcome.ts'
import { at, expectReason, numberAt } from '../expected.ts'
import { type Ending, repliesAreRead } from '../recorded.ts'

const isGemini = ({ api, provider }: Recording): boolean =>
  api === 'gemini' || (api === 'error-body' && provider === 'vertex')

function kindOf(status: number, text: string): string {
  if (status === 429) return 'rate-limit'
  if (status === 503) return 'overloaded'
  if (status === 404) return 'unsuitable'
  return text.includes('API_KEY_INVALID') ? 'credential' : 'caller'
}

const call = (name: string, args: unknown) => ({ name, arguments: JSON.stringify(args), id: null })

/** The independent reader read each part of a streamed call as one call. */
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
  // The recording's count is only right as to whether there are any.
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

function finishOf(recorded: string, hasCalls: boolean): { reason: string; native: string } {
  if (recorded.startsWith('promptBlocked:')) {
    return { reason: 'content_filter', native: recorded.slice('promptBlocked:'.length) }
  }
  const native = recorded === '1' ? 'STOP' : recorded
  if (native === 'MAX_TOKENS') return { reason: 'length', native }
  if (['SAFETY', 'RECITATION', 'MODEL_ARMOR'].includes(native)) return { reason: 'content_filter', native }
  return { reason: hasCalls ? 'tool_calls' : 'stop', native }
}

/** Total = prompt + candidates + thoughts; cached tokens are part of the prompt. */
function expectUsage(usage: Usage | null, recorded: Record<string, unknown> | null): void {
  if (recorded === null || recorded['promptTokenCount'] === undefined) {
    expect(usage).toBeNull()
    return
  }
  if (usage === null) throw new Error('usage is lost')
  const prompt = numberAt(recorded, 'promptTokenCount') + numberAt(recorded, 'toolUsePromptTokenCount')
  expect(promptTokens(usage)).toBe(prompt)
  expect(promptTokens(usage) + completionTokens(usage)).toBe(numberAt(recorded, 'totalTokenCount'))
  expect(usage.cacheReadTokens).toBe(numberAt(recorded, 'cachedContentTokenCount'))
  expect(usage.reasoningTokens).toBe(numberAt(recorded, 'thoughtsTokenCount'))
}

/**
 * The rule, written again: each candidate has its reason, or the prompt was blocked, and then a clean end (one
 * inside an event is not clean), or a reset after usage was reported.
 */
function isComplete(part: Uint8Array, ending: Ending): boolean {
  const blocks = new TextDecoder().decode(part).split(/\r\n\r\n|\r\n\r$|\n\n/)
  const tail = blocks.pop() ?? ''
  // The first letters of `data:` are not an event.
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

forReplies(
  ['gemini'],
  isGemini,
  repliesAreRead(geminiEgress, {
    expectOutcome,
    expectRefusal(error, { bytes, status }) {
      const text = new TextDecoder().decode(bytes)
      expect(String(error.kind)).toBe(kindOf(status, text))
      const delay = /"retryDelay": "([\d.]+)s"/.exec(text)?.[1]
      expect(error.retryAfterMs).toBe(delay === undefined ? null : Number(delay) * 1_000)
    },
    textOf: sameText,
    isComplete,
  }),
)
