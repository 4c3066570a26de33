import { describe, expect, test } from 'bun:test'
import type { LoadResult } from '../../bench/load.ts'
import { hotspots } from '../../bench/profile.ts'
import { goals, type Measured, table } from '../../bench/report.ts'
import { readSettings } from '../../bench/settings.ts'
import { median, percentile } from '../../bench/statistics.ts'

const result = (changes: Partial<LoadResult>): LoadResult => ({
  measured: 100,
  completed: 100,
  errors: 0,
  faults: [],
  seconds: 1,
  perSecond: 100,
  p50Ms: 1,
  p99Ms: 2,
  firstByteP50Ms: 1,
  peakOpen: 1,
  cpuMicros: 10,
  cpuShare: 1,
  peakResidentBytes: 50e6,
  ...changes,
})

/** Three rounds; the second one is disturbed and so counts for nothing. */
function measured(perSecond: number, p50Ms: number, openStreams: Partial<LoadResult>): Measured {
  const rounds = [1, 0.1, 1].map((factor) =>
    result({ perSecond: perSecond * factor, p50Ms: p50Ms / factor, cpuMicros: 1e6 / perSecond }),
  )
  return {
    rounds: { unaryAlone: rounds, unary: rounds, steps: rounds, burst: rounds },
    openStreams: result({ peakOpen: 2000, peakResidentBytes: 200e6, ...openStreams }),
    coldStartsMs: [900, 100, 300, 200],
    idleBytes: 80e6,
  }
}

const all = {
  direct: measured(2000, 0.1, {}),
  bare: measured(1000, 0.3, {}),
  nginx: measured(1500, 0.2, {}),
  sluice: measured(700, 0.4, {}),
}

describe('goals', () => {
  const verdicts = (measurements: Parameters<typeof goals>[0]) =>
    goals(measurements).map((goal) => goal.isReached)

  test('are compared by the medians of one run', () => {
    expect(goals(all).map((goal) => goal.measured)).toEqual([
      '0.70 (by CPU 0.70; bare Bun proxy 100 % busy)',
      '0.47 (by CPU 0.47; nginx 100 % busy)',
      '0.47 (by CPU 0.47; nginx 100 % busy)',
      '0.47 (by CPU 0.47; nginx 100 % busy)',
      '1.50',
      '200 ms',
      '80 MB',
      '2,000 open, 0 errors, 200 MB',
    ])
    expect(verdicts(all)).toEqual(Array.from({ length: 8 }, () => true))
  })

  test('are missed below the wanted share', () => {
    const slow = { ...measured(300, 0.6, { errors: 1 }), idleBytes: 130e6, coldStartsMs: [1, 500] }
    expect(verdicts({ ...all, sluice: slow })).toEqual(Array.from({ length: 8 }, () => false))
  })

  test('say what a bare proxy comes to that keeps a durable row', () => {
    const least = goals({ ...all, recording: measured(600, 0.5, {}) }).map((goal) => goal.least)
    expect(least).toEqual(['0.60', '0.40', '0.40', '0.40', '2.00', undefined, undefined, undefined])
    expect(goals(all).every((goal) => goal.least === undefined)).toBe(true)
  })

  test('say that they were not measured where there is nothing to compare with', () => {
    const { sluice } = all
    expect(verdicts({ sluice })).toEqual([null, null, null, null, null, true, true, true])
  })
})

test('the table has a column for each target that ran', () => {
  const { direct, bare, sluice } = all
  const rows = table({ direct, bare, sluice })
  expect(rows[0]).toEqual(['', 'direct', 'bare Bun proxy', 'Sluice'])
  expect(rows.every((row) => row.length === 4)).toBe(true)
  expect(rows.find(([title]) => title?.startsWith('added'))).toEqual([
    'added to the p50 of direct, ms',
    '—',
    '0.200',
    '0.300',
  ])
})

test('hot spots count a recursive function once in a stack', () => {
  const node = (id: number, functionName: string, children: number[]) => ({
    id,
    callFrame: { functionName, url: functionName === 'parse' ? 'file:///a/ingress.ts' : '', lineNumber: 9 },
    children,
  })
  const nodes = [node(1, '(root)', [2, 4]), node(2, 'parse', [3]), node(3, 'parse', []), node(4, 'idle', [])]
  expect(hotspots({ nodes, samples: [3, 3, 2, 4] })).toEqual([
    { place: 'parse ingress.ts:10', self: 0.75, total: 0.75 },
    { place: 'idle', self: 0.25, total: 0.25 },
    { place: '(root)', self: 0, total: 1 },
  ])
})

describe('settings', () => {
  test('default to all targets, and --quick is shorter', () => {
    expect(readSettings([])).toMatchObject({
      targets: ['direct', 'bare', 'recording', 'nginx', 'sluice'],
      rounds: 5,
    })
    expect(readSettings(['--quick'])).toMatchObject({ rounds: 2, turnMs: 600 })
    expect(readSettings(['--targets', 'sluice,direct'])).toMatchObject({ targets: ['direct', 'sluice'] })
    expect(readSettings(['--help'])).toBeNull()
  })

  for (const [args, sentence] of [
    [['--targets', 'apache'], 'apache'],
    [['--rounds', '0'], '--rounds'],
    [['--seconds', 'soon'], '--seconds'],
    [['--fast'], '--fast'],
  ] satisfies [string[], string][]) {
    test(`${args.join(' ')} is refused by name`, () => {
      expect(() => readSettings(args)).toThrow(sentence)
    })
  }
})

test('statistics', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(median([4, 1, 2, 3])).toBe(2.5)
  expect(percentile([1, 2, 3, 4], 0.5)).toBe(3)
  expect(percentile([1, 2, 3, 4], 0.99)).toBe(4)
  expect(percentile([], 0.5)).toBe(0)
})
