import { expect, test } from 'bun:test'
import { isInSample } from '../../src/delivery/sampling.ts'

const ROWS = 100_000
const RATES = [0.0001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.999, 1]

/** Ids as requests have them: of about the same time, so that only their ends differ. */
const traceOf = (n: number): string => `01a20747708a7000${n.toString(16).padStart(16, '0')}`

test('shares are those of the rates, and each sample contains every smaller one', () => {
  const counts = RATES.map(() => 0)
  for (let n = 0; n < ROWS; n++) {
    const row = { sessionId: n % 3 === 0 ? `session ${n}` : null, traceId: traceOf(n) }
    const taken = RATES.map((rate) => isInSample(row, rate))
    for (const [at, isTaken] of taken.entries()) {
      if (isTaken) counts[at] = (counts[at] ?? 0) + 1
      if (isTaken && taken.slice(at).includes(false)) throw new Error(`row ${n} is in a smaller sample only`)
    }
  }
  for (const [at, rate] of RATES.entries())
    expect(Math.abs((counts[at] ?? 0) / ROWS - rate)).toBeLessThan(0.01)
  expect(counts.at(-1)).toBe(ROWS)
  expect(isInSample({ sessionId: null, traceId: traceOf(1) }, 0)).toBe(false)
})

test('a session is in the sample as one, whatever its traces', () => {
  for (let session = 0; session < 1_000; session++) {
    const sessionId = `session ${session}`
    const taken = [0, 1, 2, 3].map((n) => isInSample({ sessionId, traceId: traceOf(session * 10 + n) }, 0.5))
    expect(new Set(taken).size).toBe(1)
  }
})

test('a trace is in the sample as one, and not because a session has its name', () => {
  let same = 0
  for (let n = 0; n < 1_000; n++) {
    const traceId = traceOf(n)
    const ofTrace = isInSample({ sessionId: null, traceId }, 0.5)
    expect(isInSample({ sessionId: null, traceId }, 0.5)).toBe(ofTrace)
    if (isInSample({ sessionId: traceId, traceId }, 0.5) === ofTrace) same += 1
  }
  expect(same).toBeGreaterThan(400)
  expect(same).toBeLessThan(600)
})
