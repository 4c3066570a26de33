import type { LoadResult } from './load.ts'
import type { ScenarioName } from './measure.ts'
import { median } from './statistics.ts'
import { TARGET_NAMES, type TargetName } from './target.ts'

/** All that was measured of one target: a result for each round, in the order of the rounds. */
export interface Measured {
  rounds: Record<ScenarioName, LoadResult[]>
  openStreams: LoadResult | null
  /** The first one made a new data folder; the others found it. */
  coldStartsMs: number[]
  idleBytes: number | null
}

export type Measurements = Partial<Record<TargetName, Measured>>

export interface Goal {
  name: string
  goal: string
  measured: string
  /** Null where there is nothing to measure against. */
  isReached: boolean | null
  /** What a bare proxy comes to that keeps one durable row of each answer and does nothing else; absent: not asked. */
  least?: string
}

type Figure = (result: LoadResult) => number | null

const TITLES: Record<TargetName, string> = {
  direct: 'direct',
  bare: 'bare Bun proxy',
  recording: 'the same + a durable row',
  nginx: 'nginx',
  sluice: 'Sluice',
}

const decimals = (value: number, digits: number) => value.toFixed(digits)
const whole = (value: number) => Math.round(value).toLocaleString('en')
const megabytes = (bytes: number | null) => (bytes === null ? '—' : decimals(bytes / 1e6, 0))

/** The median over the rounds; null when the figure is not known of every round. */
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

function rate(scenario: ScenarioName): Cell {
  return (measured) => {
    const value = figure(measured, scenario, (result) => result.perSecond)
    return value === null ? '—' : whole(value)
  }
}

function latency(scenario: ScenarioName): Cell {
  return (measured) => {
    const p50 = figure(measured, scenario, (result) => result.p50Ms)
    const p99 = figure(measured, scenario, (result) => result.p99Ms)
    return p50 === null || p99 === null ? '—' : `${decimals(p50, 2)} / ${decimals(p99, 2)}`
  }
}

/** Processor time for each answer, and how busy that kept the gateway's core. */
function cpu(scenario: ScenarioName): Cell {
  return (measured) => {
    const micros = figure(measured, scenario, (result) => result.cpuMicros)
    const share = figure(measured, scenario, (result) => result.cpuShare)
    return micros === null || share === null ? '—' : `${whole(micros)} (${whole(share * 100)} %)`
  }
}

function added(measured: Measured, all: Measurements): string {
  const rounds = measured === all.direct ? [] : addedByRound(measured, all.direct)
  return rounds.length === 0 ? '—' : decimals(median(rounds), 3)
}

function memory(measured: Measured): string {
  const loaded = loadedBytes(measured)
  return loaded === null ? '—' : `${megabytes(measured.idleBytes)} / ${megabytes(loaded)}`
}

function coldStart(measured: Measured): string {
  const value = coldStartMs(measured)
  return value === null ? '—' : `${whole(value)} (${whole(measured.coldStartsMs[0] ?? 0)})`
}

function coldStartMs(measured: Measured | undefined): number | null {
  const later = measured?.coldStartsMs.slice(1) ?? []
  return later.length === 0 ? null : median(later)
}

function loadedBytes(measured: Measured): number | null {
  const { rounds } = measured
  const peaks = [...rounds.unary, ...rounds.steps, ...rounds.burst].map((result) => result.peakResidentBytes)
  const known = peaks.filter((peak) => peak !== null)
  return known.length === 0 ? null : Math.max(...known)
}

function openStreams(measured: Measured): string {
  const result = measured.openStreams
  if (result === null) return '—'
  return `${whole(result.peakOpen)} / ${result.errors} / ${megabytes(result.peakResidentBytes)}`
}

const ROWS: readonly (readonly [string, Cell])[] = [
  ['unary, 1 caller: requests/s', rate('unaryAlone')],
  ['p50 / p99, ms', latency('unaryAlone')],
  ['added to the p50 of direct, ms', added],
  ['unary, 64 callers: requests/s', rate('unary')],
  ['p50 / p99, ms', latency('unary')],
  ['CPU µs per request (core busy)', cpu('unary')],
  ['streams/s, 64 callers, 50 chunks in 53 writes', rate('steps')],
  ['p50 / p99, ms', latency('steps')],
  ['CPU µs per stream (core busy)', cpu('steps')],
  ['streams/s, 64 callers, 50 chunks in one write', rate('burst')],
  ['CPU µs per stream (core busy)', cpu('burst')],
  ['cold start, ms (in a new folder)', coldStart],
  ['RSS idle / loaded, MB', memory],
  ['2,000 open streams: open / errors / RSS in MB', openStreams],
]

/** The header and the rows of the one table; a column for each target that ran. */
export function table(all: Measurements): string[][] {
  const names = TARGET_NAMES.filter((name) => all[name] !== undefined)
  const cells = (cell: Cell) =>
    names.map((name) => {
      const measured = all[name]
      return measured === undefined ? '—' : cell(measured, all)
    })
  return [['', ...names.map((name) => TITLES[name])], ...ROWS.map(([title, cell]) => [title, ...cells(cell)])]
}

const perSecond: Figure = (result) => result.perSecond
/** Answers in a second of processor time: what a whole core would give. */
const perCpuSecond: Figure = (result) => (result.cpuMicros === null ? null : 1e6 / result.cpuMicros)

/**
 * Sluice's share of another target's answers a second. The share by processor time stands beside it: where the load
 * generator could not fill the other one's core, that one's rate is a floor and flatters Sluice.
 */
function shareGoal(
  all: Measurements,
  name: string,
  other: 'bare' | 'nginx',
  scenario: ScenarioName,
  least: number,
): Goal {
  const goal = `≥ ${decimals(least, 2)} × ${TITLES[other]}`
  const value = ratio(all.sluice, all[other], scenario, perSecond)
  if (value === null) return { name, goal, measured: '—', isReached: null }
  const recording = ratio(all.recording, all[other], scenario, perSecond)
  const byCpu = ratio(all.sluice, all[other], scenario, perCpuSecond)
  const busy = figure(all[other], scenario, (result) => result.cpuShare)
  const note =
    byCpu === null || busy === null
      ? ''
      : ` (by CPU ${decimals(byCpu, 2)}; ${TITLES[other]} ${whole(busy * 100)} % busy)`
  return {
    name,
    goal,
    measured: `${decimals(value, 2)}${note}`,
    isReached: value >= least,
    ...(recording === null ? {} : { least: decimals(recording, 2) }),
  }
}

function limitGoal(name: string, value: number | null, most: number, unit: string): Goal {
  const goal = `≤ ${whole(most)} ${unit}`
  if (value === null) return { name, goal, measured: '—', isReached: null }
  return { name, goal, measured: `${whole(value)} ${unit}`, isReached: value <= most }
}

function addedGoal(all: Measurements): Goal {
  const name = 'added p50, 1 caller'
  const goal = '≤ 2 × bare Bun proxy'
  const value = addedRatio(all.sluice, all)
  if (value === null) return { name, goal, measured: '—', isReached: null }
  const recording = addedRatio(all.recording, all)
  return {
    name,
    goal,
    measured: decimals(value, 2),
    isReached: value <= 2,
    ...(recording === null ? {} : { least: decimals(recording, 2) }),
  }
}

/** What a target adds to the latency of one caller, as a multiple of what the bare proxy adds. */
function addedRatio(measured: Measured | undefined, { bare, direct }: Measurements): number | null {
  const base = addedByRound(bare, direct)
  const ratios = addedByRound(measured, direct).map((ms, round) => ms / (base[round] ?? 0))
  const isKnown = ratios.length > 0 && ratios.every((value) => Number.isFinite(value) && value > 0)
  return isKnown ? median(ratios) : null
}

function openStreamsGoal(result: LoadResult | null | undefined): Goal {
  const name = '2,000 open streams'
  const goal = 'no error, ≤ 300 MB'
  if (result === null || result === undefined) return { name, goal, measured: '—', isReached: null }
  const isWhole = result.errors === 0 && result.peakOpen === 2000
  const bytes = result.peakResidentBytes
  return {
    name,
    goal,
    measured: `${whole(result.peakOpen)} open, ${result.errors} errors, ${megabytes(bytes)} MB`,
    isReached: bytes === null ? null : isWhole && bytes <= 300e6,
  }
}

export function goals(all: Measurements): Goal[] {
  const idle = all.sluice?.idleBytes ?? null
  return [
    shareGoal(all, 'unary, 64 callers', 'bare', 'unary', 0.65),
    shareGoal(all, 'unary, 64 callers', 'nginx', 'unary', 0.45),
    shareGoal(all, 'streams, one write a chunk', 'nginx', 'steps', 0.4),
    shareGoal(all, 'streams, one write in all', 'nginx', 'burst', 0.4),
    addedGoal(all),
    limitGoal('cold start', coldStartMs(all.sluice), 400, 'ms'),
    limitGoal('RSS idle', idle === null ? null : idle / 1e6, 120, 'MB'),
    openStreamsGoal(all.sluice?.openStreams),
  ]
}
