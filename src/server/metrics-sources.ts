import type { HealthState } from '../core/endpoint-health.ts'
import type { Gate } from '../core/gate.ts'
import type { Snapshot } from '../core/snapshot.ts'
import { turnAfterLong } from '../core/turn.ts'
import type { BODIES_FILE, DATABASE_FILE } from '../db/database.ts'
import { sizeOf } from '../db/space.ts'
import type { Health } from '../inference/routing/health.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { createDistinctNames } from '../metrics/distinct-names.ts'
import type { ExportStatus } from '../metrics/export-status.ts'
import type { Add } from '../metrics/scrape.ts'
import type { Upstream } from '../net/upstream.ts'
import { version } from '../version.ts'
import type { Descriptors } from './descriptors.ts'

/** What a scrape reads: all of it is in memory, or one call of the system. */
export interface Sources {
  readonly ledger: Pick<Ledger, 'heldNanoUsd' | 'waiting' | 'isWritable' | 'usedNanoUsd'>
  readonly snapshot: { current(): Snapshot }
  readonly running: { count(): number }
  readonly health: Pick<Health, 'troubled'>
  readonly upstream: Pick<Upstream, 'inFlightByEndpoint'>
  /** Endpoints that were called since the start. */
  calledEndpoints(): Iterable<readonly [provider: string, endpoint: string]>
  exportStatus(): readonly ExportStatus[]
  /** Paths of the database files. */
  readonly files: Readonly<Record<typeof DATABASE_FILE | typeof BODIES_FILE, string>>
  /** Null: the system does not report them. */
  readonly descriptors: Descriptors | null
  /** Milliseconds since 1970. */
  now(): number
}

/** Returns the function that adds the current values. */
export function createCollect(sources: Sources): (add: Add) => Promise<void> {
  const gatesOf = createGatesOf()
  return async (add) => {
    addRunning(sources, add)
    addEndpoints(sources, add)
    addFiles(sources, add)
    addExports(sources.exportStatus(), add)
    addProcess(sources, add)
    const gates = await gatesOf(sources.snapshot.current())
    const at = sources.now()
    let startedAt = performance.now()
    for (const { gate, labels } of gates) {
      add('sluice_budget_limit_usd', labels, gate.limitNanoUsd)
      add('sluice_budget_used_usd', labels, sources.ledger.usedNanoUsd(gate, at))
      const turn = turnAfterLong(startedAt)
      if (turn === undefined) continue
      await turn
      startedAt = performance.now()
    }
  }
}

/** A limit with its labels. */
interface LabelledGate {
  readonly gate: Gate
  readonly labels: readonly string[]
}

/** Every spending limit once. They are gathered again when the Snapshot has changed. */
function createGatesOf(): (snapshot: Snapshot) => Promise<readonly LabelledGate[]> {
  let latest: { readonly version: number; readonly gates: readonly LabelledGate[] } = {
    version: -1,
    gates: [],
  }
  return async ({ version: current, keysByHash }) => {
    if (latest.version === current) return latest.gates
    const gates = new Map<string, Gate>()
    let startedAt = performance.now()
    for (const { spendingGates = [] } of keysByHash.values()) {
      for (const gate of spendingGates) gates.set(`${gate.scope} ${gate.id} ${gate.interval}`, gate)
      const turn = turnAfterLong(startedAt)
      if (turn === undefined) continue
      await turn
      startedAt = performance.now()
    }
    const names = createDistinctNames()
    for (const { scope, name = '', id } of gates.values()) names.add(scope, name, id)
    const labelled = [...gates.values()].map((gate) => {
      const { scope, name = '', id, interval } = gate
      return { gate, labels: [scope, names.nameOf(scope, name, id), interval] }
    })
    latest = { version: current, gates: labelled }
    return latest.gates
  }
}

function addRunning({ ledger, running }: Sources, add: Add): void {
  add('sluice_in_flight', [], running.count())
  add('sluice_held_usd', [], ledger.heldNanoUsd())
  add('sluice_ledger_waiting', [], ledger.waiting())
  add('sluice_ledger_writable', [], ledger.isWritable() ? 1 : 0)
}

const STATES: Readonly<Record<HealthState, number>> = {
  half_open: 1,
  failing: 2,
  rate_limited: 3,
  refused: 3,
  unknown_model: 3,
}

function addEndpoints({ calledEndpoints, health, upstream }: Sources, add: Add): void {
  for (const [provider, endpoint] of calledEndpoints()) {
    add('sluice_endpoint_state', [provider, endpoint], 0)
    add('sluice_endpoint_in_flight', [provider, endpoint], 0)
  }
  for (const { providerSlug, endpointId, state } of health.troubled())
    add('sluice_endpoint_state', [providerSlug, endpointId], STATES[state])
  // The id of an endpoint begins with the slug of its provider.
  for (const [endpoint, count] of upstream.inFlightByEndpoint)
    add('sluice_endpoint_in_flight', [endpoint.slice(0, endpoint.indexOf('/')), endpoint], count)
}

function addFiles({ files }: Sources, add: Add): void {
  for (const [file, path] of Object.entries(files)) {
    add('sluice_db_bytes', [file], sizeOf(path))
    add('sluice_wal_bytes', [file], sizeOf(`${path}-wal`))
  }
}

function addExports(all: readonly ExportStatus[], add: Add): void {
  for (const { destination, type, sent, failed, dropped, lagSeconds, queuedBytes } of all) {
    const labels = [destination, type]
    add('sluice_export_sent_total', labels, sent)
    add('sluice_export_failed_total', labels, failed)
    for (const [reason, count] of Object.entries(dropped))
      add('sluice_export_dropped_total', [...labels, reason], count)
    add('sluice_export_lag_seconds', labels, lagSeconds)
    add('sluice_export_queued_bytes', labels, queuedBytes)
  }
}

const MICROSECONDS = 1_000_000

function addProcess({ descriptors }: Sources, add: Add): void {
  const { user, system } = process.cpuUsage()
  add('process_resident_memory_bytes', [], process.memoryUsage.rss())
  add('process_cpu_seconds_total', [], (user + system) / MICROSECONDS)
  add('process_start_time_seconds', [], Math.round(performance.timeOrigin) / 1000)
  if (descriptors !== null) add('process_open_fds', [], descriptors.used())
  add('sluice_build_info', [version, Bun.version, `${process.platform}-${process.arch}`], 1)
}
