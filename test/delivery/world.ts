/** The engine of the delivery on an outbox in memory, with destinations on loopback and a clock that tests move. */
import { afterEach } from 'bun:test'
import { turnOfLoop } from '../../src/core/turn.ts'
import { createBacklog } from '../../src/delivery/backlog.ts'
import type { Destination } from '../../src/delivery/destination.ts'
import { createEngine, type EngineLane } from '../../src/delivery/engine.ts'
import type { OutboxEntry } from '../../src/delivery/outbox-reader.ts'
import type { Report } from '../../src/delivery/report.ts'
import { send } from '../../src/delivery/thread.ts'
import type { DestinationKind } from '../../src/exporters/kind.ts'
import { KINDS } from '../../src/exporters/kinds/index.ts'
import type { ExportRecord } from '../../src/exporters/record.ts'
import { parseOutboundAllow } from '../../src/net/address.ts'
import { fullRecord } from '../exporters/records.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'

export interface World {
  readonly clock: FakeClock
  readonly engine: ReturnType<typeof createEngine>
  /** Commits generations to the outbox, and wakes the engine. Returns their ids. */
  settle(generations: number, fields?: Partial<ExportRecord>): string[]
  /** Lets time pass, and waits for the sockets after each step. */
  pass(ms: number): Promise<void>
  /** The sums of all reports of a destination, and its last state. */
  totals(id: string): Totals
  setLanes(
    ...destinations: readonly (readonly [id: string, url: string, changes?: Partial<Destination>])[]
  ): void
}

interface Totals {
  position: number
  sent: number
  failed: number
  dropped: Record<string, number>
  setAside: Report['setAside'][number][]
  standing: string
  lastError: string | null
  waiting: number
}

interface Row {
  readonly seq: number
  readonly committedAt: number
  readonly records: readonly ExportRecord[]
}

const ALLOWED = parseOutboundAllow(['127.0.0.1', 'localhost'])

export interface WorldOptions {
  readonly maxAgeMs?: number
  readonly maxBytes?: number
  readonly kind?: DestinationKind
  /** Requests that will not be answered: nothing waits for them. */
  hanging?(): number
}

export function createWorld({
  maxAgeMs = 72 * 3_600_000,
  maxBytes = 1e9,
  kind,
  hanging = () => 0,
}: WorldOptions = {}): World {
  const clock = fakeClock()
  const rows: Row[] = []
  const records = new Map<string, ExportRecord>()
  const totals = new Map<string, Totals>()
  let inFlight = 0
  let made = 0
  const engine = createEngine({
    clock,
    // No jitter: a test knows when the next try is.
    random: () => 1,
    service: { version: '0', instanceId: 'test' },
    maxAgeMs,
    kindOf: (type) => kind ?? KINDS[type],
    backlog: createBacklog((after, most) => sizesOf(rows, after).slice(0, most), { maxAgeMs, maxBytes }),
    readOutbox: (after, most) =>
      rows
        .flatMap(entriesOf)
        .filter(({ position }) => position > after)
        .slice(0, most),
    readLedger: () => [],
    recordsOf: async (entries, { workspaceId }) =>
      entries.map((entry) => {
        if (workspaceId !== null && entry.workspaceId !== workspaceId) return null
        return records.get(entry.generationId) ?? 'gone'
      }),
    async send(call, _id, signal) {
      inFlight += 1
      try {
        return await send(call, signal, ALLOWED)
      } finally {
        inFlight -= 1
      }
    },
    report(reports) {
      for (const report of reports) take(totals, report)
    },
  })
  afterEach(() => engine.stop(0))

  async function quiet(): Promise<void> {
    // A batch is read, sent and judged in a few turns each; only sockets take longer.
    for (let turns = 0; turns < 30; turns++) {
      await turnOfLoop()
      if (inFlight > hanging()) turns = 0
    }
  }

  return {
    clock,
    engine,
    settle(generations, fields = {}) {
      const ids: string[] = []
      for (let left = generations; left > 0; left -= 64) {
        const some = Array.from({ length: Math.min(64, left) }, () => recordNow(clock.now(), ++made, fields))
        for (const record of some) records.set(record.id, record)
        rows.push({ seq: rows.length + 1, committedAt: clock.now(), records: some })
        ids.push(...some.map(({ id }) => id))
      }
      engine.wake()
      return ids
    },
    async pass(ms) {
      await quiet()
      await clock.advance(ms, quiet)
      await quiet()
    },
    totals: (id) => totals.get(id) ?? noTotals(),
    setLanes(...destinations) {
      const lanes = destinations.map(([id, url, changes]) => laneOf(id, url, changes))
      engine.setLanes(lanes, new Set(destinations.map(([id]) => id)))
    },
  }
}

const entriesOf = ({ seq, committedAt, records }: Row): OutboxEntry[] =>
  records.map(({ id, workspace }, index) => ({
    position: seq * 64 + index,
    generationId: id,
    workspaceId: workspace.id,
    committedAt,
    note: null,
  }))

const sizesOf = (rows: readonly Row[], after: number) =>
  rows
    .filter(({ seq }) => seq > after)
    .map(({ seq, committedAt, records }) => ({
      seq,
      committedAt,
      entries: records.length,
      bytes: records.length * 400,
      workspaces: JSON.stringify(countsOf(records)),
    }))

function countsOf(records: readonly ExportRecord[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { workspace } of records) counts[workspace.id] = (counts[workspace.id] ?? 0) + 1
  return counts
}

const recordNow = (now: number, number: number, fields: Partial<ExportRecord>): ExportRecord =>
  fullRecord({
    id: `gen-${now.toString(16).padStart(12, '0')}7000${number.toString(16).padStart(16, '0')}`,
    startedAt: now - 1_000,
    endedAt: now,
    ...fields,
  })

const laneOf = (id: string, url: string, changes: Partial<Destination> = {}): EngineLane => ({
  destination: {
    id,
    workspaceId: null,
    name: id,
    type: 'webhook',
    config: { fields: { url, method: 'POST' }, headers: null },
    enabled: true,
    privacyMode: false,
    samplingRate: 1,
    apiKeyHashes: null,
    filterRules: null,
    regions: ['global'],
    cost: true,
    identity: true,
    requestContext: true,
    ...changes,
  },
  position: 0,
  from: 0,
  isPaused: false,
  replay: null,
})

const noTotals = (): Totals => ({
  position: 0,
  sent: 0,
  failed: 0,
  dropped: {},
  setAside: [],
  standing: 'none',
  lastError: null,
  waiting: 0,
})

function take(totals: Map<string, Totals>, report: Report): void {
  const sums = totals.get(report.destinationId) ?? noTotals()
  totals.set(report.destinationId, sums)
  sums.position = report.position
  sums.sent += report.sent
  sums.failed += report.failed
  for (const [reason, count] of Object.entries(report.dropped))
    sums.dropped[reason] = (sums.dropped[reason] ?? 0) + count
  sums.setAside.push(...report.setAside)
  sums.standing = report.standing
  sums.lastError = report.lastError?.message ?? null
  sums.waiting = report.waiting.generations
}
