import type { DestinationType } from '../exporters/destination-types.ts'
import type { BatchContext, DestinationKind } from '../exporters/kind.ts'
import type { Backlog } from './backlog.ts'
import type { DeliverDeps } from './deliver.ts'
import type { Destination } from './destination.ts'
import type { GatherDeps, Gathered } from './gather.ts'
import type { OutboxEntry } from './outbox-reader.ts'
import type { Stretch } from './stretch.ts'
import type { Tally } from './tally.ts'

export interface LaneDeps extends DeliverDeps, Omit<GatherDeps, 'now'> {
  random(): number
  kindOf(type: DestinationType): DestinationKind | undefined
  readonly backlog: Backlog
  readOutbox(after: number, most: number): readonly OutboxEntry[]
  readLedger(after: number, to: number, most: number): readonly OutboxEntry[]
  readonly service: { readonly version: string; readonly instanceId: string }
  /** Of records that several destinations get. */
  readonly encodings: NonNullable<BatchContext['encodings']>
  /** There is something to report. */
  onChange(): void
}

/** A batch that waits for more records. */
export interface Forming {
  readonly gathered: Gathered
  /** Its first record has waited long enough. */
  isDue: boolean
  cancelDue: (() => void) | null
}

/** The outbox, or a replay of the ledger. */
export interface Track {
  readonly stretch: Stretch
  forming: Forming | null
  /** Of a replay: generations that were passed. */
  passed: number
}

/** What the parts of a lane share. */
export interface LaneState {
  readonly deps: LaneDeps
  readonly tally: Tally
  readonly controller: AbortController
  readonly live: Track
  destination: Destination
  replay: (Track & { readonly id: number; isDone: boolean }) | null
  isPaused: boolean
  isStopped: boolean
  /** Number of times that what waits is to be dropped. Nothing is sent meanwhile. */
  skips: number
  lastSkip: Promise<void>
  /** Until something was delivered a former process may have sent it. */
  isFirst: boolean
  /** Consecutive failed batches. */
  failures: number
  inFlight: number
  /** Cancels the wait for the next try; null: none. */
  unblock: (() => void) | null
  /** Cancels the next look at a generation whose content is being written. */
  cancelLook: (() => void) | null
  /** Reads the next batch. */
  isForming: boolean
  /** Something may have come while the next batch was read. */
  isMore: boolean
  /** Whose batch was formed last. */
  lastFormed: Track | null
  /** Sends what may be sent now. */
  more(): void
  /** Called when nothing is in flight. */
  readonly onQuiet: (() => void)[]
}

export const tracksOf = ({ live, replay }: LaneState): Track[] =>
  replay === null || replay.isDone ? [live] : [live, replay]

/** Ends a batch that is being formed: its records are read again. */
export function dropForming(track: Track): void {
  track.forming?.cancelDue?.()
  track.forming = null
}

const isQuiet = ({ inFlight, isForming }: LaneState): boolean => inFlight === 0 && !isForming

/** Runs what waits for the end of everything in flight. */
export function leave(lane: LaneState): void {
  if (isQuiet(lane)) for (const run of lane.onQuiet.splice(0)) run()
}

export const whenQuiet = (lane: LaneState): Promise<void> =>
  new Promise((resolve) => {
    if (isQuiet(lane)) resolve()
    else lane.onQuiet.push(resolve)
  })

/** How soon a generation is read again whose content is being written. */
export const LATER_MS = 250

export const gatherDepsOf = ({ deps: { clock, recordsOf, maxAgeMs } }: LaneState) => ({
  now: clock.now,
  recordsOf,
  maxAgeMs,
})

export function pauseLane(lane: LaneState, message: string): void {
  if (lane.isPaused) return
  lane.isPaused = true
  lane.tally.failure(message)
}
