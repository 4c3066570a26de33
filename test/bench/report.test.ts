import { describe, expect, test } from 'bun:test'
import type { LoadResult } from '../../bench/load.ts'
import { SCENARIO_NAMES } from '../../bench/measure.ts'
import { goalRows } from '../../bench/print.ts'
import { hotspots } from '../../bench/profile.ts'
import { goals, type Measured, type Measurements, table } from '../../bench/report.ts'
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
  threadMicros: { main: 8, http: 1, jit: 1, other: 0 },
  peakResidentBytes: 50e6,
  ...changes,
})

/** Three rounds; the second one is disturbed and so counts for nothing. */
function measured(perSecond: number, p50Ms: number, openStreams: Partial<LoadResult> = {}): Measured {
  const rounds = [1, 0.1, 1].map((factor) =>
    result({ perSecond: perSecond * factor, p50Ms: p50Ms / factor, cpuMicros: 1e6 / perSecond }),
  )
  return {
    rounds: Object.fromEntries(SCENARIO_NAMES.map((name) => [name, rounds])),
    openStreams: new Map([
      [2000, result({ peakOpen: 2000, peakResidentBytes: 160e6, ...openStreams })],
      [10_000, result({ peakOpen: 10_000, peakResidentBytes: 400e6, ...openStreams })],
    ]),
    coldStartsMs: [170, 100, 140, 120],
    idleBytes: 80e6,
    first: result({ cpuMicros: 1.5e6 / perSecond }),
  }
}

const all = new Map([
  ['direct', measured(2000, 0.1)],
  ['bare', measured(1000, 0.3)],
  ['recording', measured(900, 0.4)],
  ['nginx', measured(800, 0.2)],
  ['sluice', measured(700, 0.42)],
])

describe('goals', () => {
  const verdicts = (measurements: Parameters<typeof goals>[0]) =>
    goals(measurements).map((goal) => goal.isReached)

  test('are compared by the medians of one run', () => {
    expect(goals(all).map((goal) => goal.measured)).toEqual([
      '0.70 (by clock 0.70)',
      '0.88 (by clock 0.88)',
      '0.88 (by clock 0.88)',
      '1.07 ×',
      '1.40 ×',
      '1.50 ×',
      '0.70 (by clock 0.70)',
      '120 ms',
      '170 ms',
      '80 MB',
      '160 MB',
      '400 MB',
    ])
    expect(verdicts(all)).toEqual(Array.from({ length: 12 }, () => true))
  })

  test('are missed below the wanted share', () => {
    const slow = {
      ...measured(200, 0.9, { errors: 1 }),
      idleBytes: 130e6,
      coldStartsMs: [300, 500],
      first: result({ cpuMicros: 1e6 }),
    }
    expect(verdicts(new Map([...all, ['sluice', slow]]))).toEqual(Array.from({ length: 12 }, () => false))
  })

  test('are not judged without a target to compare with', () => {
    const { sluice } = Object.fromEntries(all)
    const alone: Measurements = new Map(sluice ? [['sluice', sluice]] : [])
    expect(verdicts(alone)).toEqual([null, null, null, null, null, true, null, true, true, true, true, true])
  })

  test('are not judged in a smoke run', () => {
    expect(goalRows(goals(all), true)[1]).toEqual([
      'unary, 64 callers, against bare Bun proxy',
      '0.70 (by clock 0.70)',
    ])
  })
})

test('the table has a column for each target that ran, peers last', () => {
  const { direct, bare, sluice, nginx } = Object.fromEntries(all)
  if (!direct || !bare || !sluice || !nginx) throw new Error('a target is missing')
  const rows = table(
    new Map([
      ['peer', nginx],
      ['direct', direct],
      ['bare', bare],
      ['sluice', sluice],
    ]),
  )
  expect(rows[0]).toEqual(['', 'direct', 'bare Bun proxy', 'Sluice', 'peer'])
  expect(rows.every((row) => row.length === 5)).toBe(true)
  expect(rows.find(([title]) => title?.startsWith('added'))).toEqual([
    'added to the p50 of direct, 1 caller, ms',
    '—',
    '0.200',
    '0.320',
    '0.100',
  ])
  expect(rows.find(([title]) => title?.startsWith('CPU µs by thread'))?.[3]).toBe('8 / 1 / 1 / 0')
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
      rounds: 7,
      warmUpRequests: 25_000,
    })
    expect(readSettings(['--smoke'])).toMatchObject({ targets: ['bare', 'sluice'], isSmoke: true, rounds: 2 })
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
