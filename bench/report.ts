import type { LoadResult } from './load.ts'
import { OPEN_STREAMS, SCENARIO_NAMES, SCENARIOS, type ScenarioName } from './measure.ts'
import { THREADS } from './proc.ts'
import { median } from './statistics.ts'
import { isTargetName, TARGET_NAMES, type TargetName } from './target.ts'

/** All that was measured of one target: a result for each round, in the order of the rounds. */
export interface Measured {
  rounds: Partial<Record<ScenarioName, LoadResult[]>>
  /** By how many streams were open. */
  openStreams: Map<number, LoadResult>
  /** The first one made a new data folder; the others found it. */
  coldStartsMs: number[]
  idleBytes: number | null
  /** The first requests after a start. */
  first: LoadResult | null
}

/** By the name of the target, in the order of the table. */
export type Measurements = ReadonlyMap<string, Measured>

export interface Goal {
  name: string
  /** What must hold, and what would be better still. */
  must: string
  stretch: string
  measured: string
  /** Null if there is nothing to measure against. */
  isReached: boolean | null
}

type Figure = (result: LoadResult) => number | null

const TITLES: Record<TargetName, string> = {
  direct: 'direct',
  bare: 'bare Bun proxy',
  recording: 'the same + a durable row',
  nginx: 'nginx',
  sluice: 'Sluice',
}

const titleOf = (name: string): string => (isTargetName(name) ? TITLES[name] : name)

const decimals = (value: number, digits: number) => value.toFixed(digits)
const rounded = (value: number) => Math.round(value).toLocaleString('en')
const megabytes = (bytes: number | null) => (bytes === null ? '—' : decimals(bytes / 1e6, 0))

/** The median over the rounds; null if the figure is not known of every round. */
function figure(measured: Measured | undefined, scenario: ScenarioName, of: Figure): number | null {
  const values = (measured?.rounds[scenario] ?? []).map(of)
  const known = values.filter((value) => value !== null)
  return known.length === 0 || known.length < values.length ? null : median(known)
}

/** The median of the ratios of each round: two targets of one round saw the same machine. */
function ratio(
  over: Measured | undefined,
  under: Measured | undefined,
  scenario: ScenarioName,
  of: Figure,
): number | null {
  const tops = over?.rounds[scenario] ?? []
  const bottoms = under?.rounds[scenario] ?? []
  const ratios: number[] = []
  for (const [round, top] of tops.entries()) {
    const bottom = bottoms[round]
    const a = of(top)
    const b = bottom === undefined ? null : of(bottom)
    if (a !== null && b !== null && b > 0) ratios.push(a / b)
  }
  return ratios.length === 0 ? null : median(ratios)
}

/** What a target adds to the median latency of one caller, in milliseconds, round by round. */
function addedByRound(measured: Measured | undefined, direct: Measured | undefined): number[] {
  const alone = measured?.rounds.unaryAlone ?? []
  const base = direct?.rounds.unaryAlone ?? []
  const rounds = Math.min(alone.length, base.length)
  return Array.from({ length: rounds }, (_, round) => (alone[round]?.p50Ms ?? 0) - (base[round]?.p50Ms ?? 0))
}

type Cell = (measured: Measured, all: Measurements) => string

const rate =
  (scenario: ScenarioName): Cell =>
  (measured) => {
    const value = figure(measured, scenario, perSecond)
    return value === null ? '—' : rounded(value)
  }

const latency =
  (scenario: ScenarioName): Cell =>
  (measured) => {
    const p50 = figure(measured, scenario, (result) => result.p50Ms)
    const p99 = figure(measured, scenario, (result) => result.p99Ms)
    return p50 === null || p99 === null ? '—' : `${decimals(p50, 2)} / ${decimals(p99, 2)}`
  }

/** Processor time for each answer, and how busy that kept the gateway's core. */
const cpu =
  (scenario: ScenarioName): Cell =>
  (measured) => {
    const micros = figure(measured, scenario, (result) => result.cpuMicros)
    const share = figure(measured, scenario, (result) => result.cpuShare)
    return micros === null || share === null ? '—' : `${rounded(micros)} (${rounded(share * 100)} %)`
  }

function threads(measured: Measured): string {
  const parts = THREADS.map((kind) =>
    figure(measured, 'unary', ({ threadMicros }) => threadMicros?.[kind] ?? null),
  )
  return parts.every((part) => part === null) ? '—' : parts.map((part) => rounded(part ?? 0)).join(' / ')
}

function added(measured: Measured, all: Measurements): string {
  const direct = all.get('direct')
  const rounds = measured === direct ? [] : addedByRound(measured, direct)
  return rounds.length === 0 ? '—' : decimals(median(rounds), 3)
}

function memory(measured: Measured): string {
  const loaded = loadedBytes(measured)
  return loaded === null ? '—' : `${megabytes(measured.idleBytes)} / ${megabytes(loaded)}`
}

function coldStart(measured: Measured): string {
  const value = coldStartMs(measured)
  return value === null ? '—' : `${rounded(value)} (${rounded(measured.coldStartsMs[0] ?? 0)})`
}

function coldStartMs(measured: Measured | undefined): number | null {
  const later = measured?.coldStartsMs.slice(1) ?? []
  return later.length === 0 ? null : median(later)
}

function loadedBytes({ rounds }: Measured): number | null {
  const peaks = SCENARIO_NAMES.flatMap((name) => rounds[name] ?? []).map((result) => result.peakResidentBytes)
  const known = peaks.filter((peak) => peak !== null)
  return known.length === 0 ? null : Math.max(...known)
}

/** The first requests after a start against warm ones, by processor time. */
function firstRatio(measured: Measured | undefined): number | null {
  const warm = figure(measured, 'unary', (result) => result.cpuMicros)
  const first = measured?.first?.cpuMicros ?? null
  return warm === null || first === null ? null : first / warm
}

function firstRequests(measured: Measured): string {
  const micros = measured.first?.cpuMicros ?? null
  const value = firstRatio(measured)
  return micros === null || value === null ? '—' : `${rounded(micros)} (${decimals(value, 2)} ×)`
}

const openStreams =
  (concurrency: number): Cell =>
  (measured) => {
    const result = measured.openStreams.get(concurrency)
    if (result === undefined) return '—'
    return `${rounded(result.peakOpen)} / ${result.errors} / ${megabytes(result.peakResidentBytes)}`
  }

const ROWS: readonly (readonly [string, Cell])[] = [
  ...SCENARIO_NAMES.flatMap((name): (readonly [string, Cell])[] => [
    [`${SCENARIOS[name].title}: answers/s`, rate(name)],
    ['p50 / p99, ms', latency(name)],
    ['CPU µs (core busy)', cpu(name)],
  ]),
  ['added to the p50 of direct, 1 caller, ms', added],
  ['CPU µs by thread, unary, 64 callers: main / http / jit / other', threads],
  ['first 5,000 requests: CPU µs (against warm)', firstRequests],
  ['cold start, ms (in a new folder)', coldStart],
  ['RSS idle / loaded, MB', memory],
  ...OPEN_STREAMS.map((concurrency): readonly [string, Cell] => [
    `${rounded(concurrency)} open streams: open / errors / RSS in MB`,
    openStreams(concurrency),
  ]),
]

/** The header and the rows of the one table; a column for each target that ran. */
export function table(all: Measurements): string[][] {
  const columns = [
    ...TARGET_NAMES.filter((name) => all.has(name)),
    ...[...all.keys()].filter((name) => !isTargetName(name)),
  ]
  const rows = ROWS.map(([title, cell]) => [
    title,
    ...columns.map((name) => {
      const measured = all.get(name)
      return measured === undefined ? '—' : cell(measured, all)
    }),
  ])
  return [['', ...columns.map(titleOf)], ...rows.filter(([, ...cells]) => cells.some((cell) => cell !== '—'))]
}

const perSecond: Figure = (result) => result.perSecond
/** Answers in a second of processor time: the rate of one full core. */
const perCpuSecond: Figure = (result) => (result.cpuMicros === null ? null : 1e6 / result.cpuMicros)

const NOTHING = { measured: '—', isReached: null } as const

/** Sluice's share of another target's answers by processor time, which judges, and by wall clock. */
function shareGoal(
  all: Measurements,
  scenario: ScenarioName,
  other: 'bare' | 'nginx',
  [must, stretch]: readonly [number, number],
): Goal {
  const goal = {
    name: `${SCENARIOS[scenario].title}, against ${TITLES[other]}`,
    must: `≥ ${decimals(must, 2)}`,
    stretch: decimals(stretch, 2),
  }
  const byCpu = ratio(all.get('sluice'), all.get(other), scenario, perCpuSecond)
  const byClock = ratio(all.get('sluice'), all.get(other), scenario, perSecond)
  if (byCpu === null || byClock === null) return { ...goal, ...NOTHING }
  return {
    ...goal,
    measured: `${decimals(byCpu, 2)} (by clock ${decimals(byClock, 2)})`,
    isReached: byCpu >= must,
  }
}

function mostGoal(
  name: string,
  value: number | null,
  [must, stretch]: readonly [number, number],
  unit: 'ms' | 'MB' | '×',
): Goal {
  const digits = unit === '×' ? 2 : 0
  const say = (figure: number) => `${decimals(figure, digits)} ${unit}`
  const goal = { name, must: `≤ ${say(must)}`, stretch: say(stretch) }
  if (value === null) return { ...goal, ...NOTHING }
  return { ...goal, measured: say(value), isReached: value <= must }
}

/** What Sluice adds to the latency of one caller, as a multiple of what the proxy with a durable row adds. */
function addedRatio(all: Measurements): number | null {
  const base = addedByRound(all.get('recording'), all.get('direct'))
  const ratios = addedByRound(all.get('sluice'), all.get('direct')).map(
    (ms, round) => ms / (base[round] ?? 0),
  )
  const isKnown = ratios.length > 0 && ratios.every((value) => Number.isFinite(value) && value > 0)
  return isKnown ? median(ratios) : null
}

function openStreamsGoal(all: Measurements, concurrency: number, limits: readonly [number, number]): Goal {
  const result = all.get('sluice')?.openStreams.get(concurrency)
  const bytes = result?.peakResidentBytes ?? null
  const name = `${rounded(concurrency)} open streams, all answered`
  const goal = mostGoal(name, bytes === null ? null : bytes / 1e6, limits, 'MB')
  const isWhole = result?.errors === 0 && result.peakOpen === concurrency
  return goal.isReached === null ? goal : { ...goal, isReached: goal.isReached && isWhole }
}

export function goals(all: Measurements): Goal[] {
  const sluice = all.get('sluice')
  const idle = sluice?.idleBytes ?? null
  const inverse = (value: number | null) => (value === null ? null : 1 / value)
  const streamAlone = ratio(sluice, all.get('bare'), 'streamAlone', (result) => inverse(result.p50Ms))
  return [
    shareGoal(all, 'unary', 'bare', [0.5, 0.65]),
    shareGoal(all, 'burst', 'nginx', [0.35, 0.45]),
    shareGoal(all, 'steps', 'nginx', [0.8, 0.95]),
    mostGoal('added p50, 1 caller, against the proxy with a durable row', addedRatio(all), [1.15, 1], '×'),
    mostGoal('stream of 50 chunks, 1 caller, against bare Bun proxy', inverse(streamAlone), [1.6, 1.3], '×'),
    mostGoal('first 5,000 requests against warm ones', firstRatio(sluice), [1.6, 1.3], '×'),
    shareGoal(all, 'large', 'bare', [0.5, 0.7]),
    mostGoal('cold start', coldStartMs(sluice), [150, 100], 'ms'),
    mostGoal('cold start in a new folder', sluice?.coldStartsMs[0] ?? null, [180, 130], 'ms'),
    mostGoal('RSS idle', idle === null ? null : idle / 1e6, [85, 75], 'MB'),
    openStreamsGoal(all, 2_000, [170, 130]),
    openStreamsGoal(all, 10_000, [500, 350]),
  ]
}
