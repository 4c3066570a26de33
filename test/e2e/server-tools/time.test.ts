/** The time of a whole request, on a clock that the test moves. */
import { beforeEach, expect, test } from 'bun:test'
import type { Ticker } from '../../../src/inference/reply/ticker.ts'
import { type Answer, paced } from '../../upstream.ts'
import { ask, calls, messageOf, says, startTools } from './setup.ts'

const { upstream, gateway } = await startTools({ SLUICE_TOOL_SECONDS: '100', SLUICE_TOOL_CALL_SECONDS: '20' })

const real = gateway.deps.run.ticker
let now = 0
let clocks: { due: number; callback: () => void }[] = []
const ticker: Ticker = {
  ...real,
  now: () => now,
  after(ms, callback) {
    const entry = { due: now + ms, callback }
    clocks.push(entry)
    return () => {
      clocks = clocks.filter((each) => each !== entry)
    }
  },
}
Object.assign(gateway.deps.run, { ticker })
beforeEach(() => {
  now = 0
  clocks = []
})
function pass(seconds: number): void {
  now += seconds * 1000
  for (const { callback } of clocks.filter(({ due }) => due <= now)) callback()
}

const HALF = 'data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n'
const sum = { name: 'calculator', args: { expression: '6 * 7' } }

/** A reply that hangs after its first words, or before them. */
function hanging(parts: readonly string[]) {
  const begun = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const answer: Answer = () => {
    begun.resolve()
    return paced(parts, 'hang', undefined, () => left.resolve())
  }
  return { answer, begun: begun.promise, left: left.promise }
}

test.each([1, 2])(
  'is over in step %d of a stream: the step is aborted and charged as delivered',
  async (at) => {
    const { answer, left } = hanging([HALF])
    upstream.inTurn('tiny', [...(at === 2 ? [calls([sum])] : []), answer])
    const before = gateway.generations().length
    const response = await gateway.call('/chat/completions', ask({ stream: true }))
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('half')) text += (await reader?.read())?.value
    pass(99)
    pass(2)
    await left
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) text += read.value
    expect(text).toContain('may take 100 seconds')
    expect(text).toContain('"finish_reason":"error"')
    const rows = gateway.generations().slice(before)
    expect(rows).toHaveLength(at)
    expect(rows.at(-1)).toMatchObject({ finish_reason: 'error', cancelled: 0 })
    expect(Number(rows.at(-1)?.['cost_nano_usd'])).toBeGreaterThan(0)
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
    expect(clocks).toEqual([])
  },
)

test.each([1, 2])(
  'is over in step %d of a complete reply: 408, and the finished step is charged',
  async (at) => {
    const { answer, begun, left } = hanging([])
    upstream.inTurn('tiny', [...(at === 2 ? [calls([sum])] : []), answer])
    const before = gateway.generations().length
    const asked = gateway.call('/chat/completions', ask())
    await begun
    pass(101)
    await left
    const response = await asked
    expect(response.status).toBe(408)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await messageOf(response)).toContain('may take 100 seconds')
    expect(gateway.generations().slice(before)).toHaveLength(at)
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  },
)

test('is over between two steps: the last one answers, in the time of one call', async () => {
  upstream.inTurn('tiny', [
    (seen, request) => {
      now = 99_000
      return calls([sum])(seen, request)
    },
    (seen, request) => {
      now = 101_000
      return calls([{ ...sum, args: { expression: '2' } }])(seen, request)
    },
    (seen, request) => {
      expect(seen.body['tool_choice']).toBe('none')
      pass(19)
      return says('enough')(seen, request)
    },
  ])
  const response = await gateway.call('/chat/completions', ask())
  expect(response.status).toBe(200)
  expect((await response.json()).choices[0].message.content).toBe('enough')
})
