import type { Destination } from './destination.ts'
import { dropForming, type LaneDeps, type LaneState, tracksOf, whenQuiet } from './lane-state.ts'
import { MOST_REPLAYED, type Replay } from './replay.ts'
import type { LaneStanding, Report } from './report.ts'
import { pump } from './sending.ts'
import { skip } from './skip.ts'
import { createStretch } from './stretch.ts'
import { createTally } from './tally.ts'

export interface LaneStart {
  readonly destination: Destination
  /** Everything up to here was delivered. */
  readonly position: number
  readonly isPaused: boolean
  readonly replay: Replay | null
}

/** The delivery to one destination: in order, at most two requests at a time, for ever. */
export interface Lane {
  /** Something may be waiting. */
  wake(): void
  /** Takes effect for everything that is not being sent, and ends a pause. `from`: nothing before it is sent. */
  update(destination: Destination, from: number): void
  /** Ends a pause and a wait for the next try. */
  resume(): void
  /** Drops all that waits now. */
  discard(): Promise<void>
  /** Begins a replay; null: ends it. */
  replay(replay: Replay | null): void
  /** What happened since the last report; null: nothing. */
  report(): Report | null
  cursor(): number
  /** Sends nothing more. Resolves when nothing is being sent. */
  stop(): Promise<void>
  /** Ends what is being sent. */
  abort(): void
}

export function createLane(deps: LaneDeps, start: LaneStart): Lane {
  const lane = stateOf(deps, start)
  const { live, tally } = lane
  return {
    wake: () => wake(lane),
    update(destination, from) {
      lane.destination = destination
      for (const track of tracksOf(lane)) dropForming(track)
      if (from > live.stretch.cursor()) live.stretch.skipTo(from)
      if (destination.enabled) resume(lane)
      else void skip(lane, deps.backlog.head(), 'discarded')
    },
    resume: () => resume(lane),
    discard: () => skip(lane, deps.backlog.head(), 'discarded'),
    replay(replay) {
      if (lane.replay !== null) dropForming(lane.replay)
      lane.replay = replay === null ? null : replayTrack(lane, replay)
      tally.changed()
      pump(lane)
    },
    report: () => reportOf(lane),
    cursor: () => live.stretch.cursor(),
    stop() {
      lane.isStopped = true
      for (const cancel of [lane.unblock, lane.cancelLook]) cancel?.()
      for (const track of tracksOf(lane)) dropForming(track)
      return whenQuiet(lane)
    },
    abort: () => lane.controller.abort(new DOMException('the gateway stops', 'AbortError')),
  }
}

function stateOf(deps: LaneDeps, { destination, position, isPaused, replay }: LaneStart): LaneState {
  const tally = createTally(deps.clock, deps.onChange)
  const lane: LaneState = {
    deps,
    tally,
    controller: new AbortController(),
    live: {
      stretch: createStretch(position, false, deps.readOutbox, tally.changed),
      forming: null,
      passed: 0,
    },
    destination,
    replay: null,
    isPaused,
    isStopped: false,
    skips: 0,
    lastSkip: Promise.resolve(),
    isFirst: true,
    failures: 0,
    inFlight: 0,
    unblock: null,
    cancelLook: null,
    isForming: false,
    isMore: false,
    lastFormed: null,
    more: () => pump(lane),
    onQuiet: [],
  }
  if (replay !== null) lane.replay = replayTrack(lane, replay)
  return lane
}

const progressOf = ({ id, stretch, passed, isDone }: NonNullable<LaneState['replay']>) => ({
  id,
  position: stretch.cursor(),
  passed,
  isDone,
})

function replayTrack(lane: LaneState, replay: Replay): LaneState['replay'] {
  const { deps, tally } = lane
  const { id, position, to, passed } = replay
  const read = (after: number, most: number) =>
    (lane.replay?.passed ?? 0) >= MOST_REPLAYED ? [] : deps.readLedger(after, to, most)
  const stretch = createStretch(position, true, read, tally.changed)
  return { id, stretch, forming: null, passed, isDone: false }
}

function wake(lane: LaneState): void {
  const { backlog, clock } = lane.deps
  const { stretch } = lane.live
  const floor = backlog.floor(clock.now())
  if (!lane.destination.enabled) {
    // Nothing waits for a disabled destination.
    if (lane.skips === 0 && lane.inFlight === 0) stretch.skipTo(backlog.head())
  } else if (floor !== null && floor.position > stretch.cursor())
    void skip(lane, floor.position, floor.reason)
  else pump(lane)
}

function resume(lane: LaneState): void {
  lane.isPaused = false
  lane.failures = 0
  lane.unblock?.()
  lane.unblock = null
  lane.tally.changed()
  wake(lane)
}

function reportOf(lane: LaneState): Report | null {
  const taken = lane.tally.take()
  if (taken === null) return null
  const { destination, live, replay, deps } = lane
  const position = live.stretch.cursor()
  return {
    destinationId: destination.id,
    position,
    ...taken,
    standing: standingOf(lane),
    waiting: deps.backlog.after(position, destination.workspaceId),
    replay: replay === null ? null : progressOf(replay),
  }
}

function standingOf({ destination, isPaused, failures }: LaneState): LaneStanding {
  if (!destination.enabled) return 'disabled'
  if (isPaused) return 'paused'
  return failures > 0 ? 'retrying' : 'delivering'
}
