import type { Backlog } from './backlog.ts'
import { createLane, type Lane, type LaneStart } from './lane.ts'
import type { LaneDeps } from './lane-state.ts'
import type { Replay } from './replay.ts'
import type { Report } from './report.ts'

export interface EngineDeps extends Omit<LaneDeps, 'onChange' | 'encodings'> {
  report(reports: readonly Report[]): void
}

/** A destination as the main thread has it now. `from`: of a new or enabled one, nothing before it is sent. */
export interface EngineLane extends LaneStart {
  readonly from: number
}

/** The deliveries to all destinations. A failure of one never delays another. */
export interface Engine {
  /** Adds, changes and removes destinations, so that it has these. Unchanged ones are not listed in `changed`. */
  setLanes(lanes: readonly EngineLane[], changed: ReadonlySet<string>): void
  /** A commit may have written to the outbox. */
  wake(): void
  resume(id: string): void
  discard(id: string): void
  replay(id: string, replay: Replay | null): void
  /** Waits at most `ms` for what is being sent, then ends it. */
  stop(ms: number): Promise<void>
}

/** Reports of this time are one. */
const REPORT_MS = 200
/** How often bounds of age are applied while something waits. */
const ENFORCE_MS = 60_000

export function createEngine(deps: EngineDeps): Engine {
  const lanes = new Map<string, Lane>()
  const { clock, backlog } = deps
  const reporter = createReporter(deps, lanes)
  const laneDeps: LaneDeps = { ...deps, encodings: new WeakMap(), onChange: reporter.later }
  let cancelEnforce: (() => void) | null = null

  function wake(): void {
    backlog.extend()
    for (const lane of lanes.values()) lane.wake()
    enforceLater()
  }

  /** Only while something waits: an idle gateway has no clocks. */
  function enforceLater(): void {
    if (cancelEnforce !== null || !hasBacklog(lanes, backlog)) return
    cancelEnforce = clock.after(ENFORCE_MS, () => {
      cancelEnforce = null
      wake()
    })
  }

  return {
    wake,
    setLanes(next, changed) {
      for (const [id, lane] of lanes) {
        if (next.some(({ destination }) => destination.id === id)) continue
        lanes.delete(id)
        void lane.stop()
        lane.abort()
      }
      backlog.extend()
      for (const start of next) {
        const { id } = start.destination
        const lane = lanes.get(id)
        if (lane === undefined) lanes.set(id, createLane(laneDeps, start))
        else if (changed.has(id)) lane.update(start.destination, start.from)
      }
      wake()
    },
    resume: (id) => lanes.get(id)?.resume(),
    discard(id) {
      backlog.extend()
      void lanes.get(id)?.discard()
    },
    replay: (id, replay) => lanes.get(id)?.replay(replay),
    async stop(ms) {
      cancelEnforce?.()
      const ended = Promise.all([...lanes.values()].map((lane) => lane.stop()))
      const cancel = clock.after(ms, () => {
        for (const lane of lanes.values()) lane.abort()
      })
      await ended
      cancel()
      reporter.now()
    },
  }
}

const hasBacklog = (lanes: ReadonlyMap<string, Lane>, backlog: Backlog): boolean =>
  [...lanes.values()].some((lane) => lane.cursor() < backlog.head())

/** Gathers what lanes report, and forgets what all of them have passed. */
function createReporter({ clock, backlog, report }: EngineDeps, lanes: ReadonlyMap<string, Lane>) {
  let cancel: (() => void) | null = null
  function now(): void {
    cancel?.()
    cancel = null
    const reports = [...lanes.values()].flatMap((lane) => lane.report() ?? [])
    if (reports.length > 0) report(reports)
    if (lanes.size > 0) backlog.forget(Math.min(...[...lanes.values()].map((lane) => lane.cursor())))
  }
  return {
    now,
    later() {
      cancel ??= clock.after(REPORT_MS, now)
    },
  }
}
