import type { DestinationKind } from '../exporters/kind.ts'
import { complete, failed, run, unreadable } from './batch.ts'
import { gather, nothingGathered } from './gather.ts'
import {
  dropForming,
  type Forming,
  gatherDepsOf,
  LATER_MS,
  type LaneState,
  leave,
  pauseLane,
  type Track,
  tracksOf,
} from './lane-state.ts'
import type { Plan } from './stretch.ts'

const MOST_IN_FLIGHT = 2

/** Sends what may be sent now. Batches begin in order; after a failure one at a time, until one is delivered. */
export function pump(lane: LaneState): void {
  if (!maySend(lane)) return
  const kind = lane.deps.kindOf(lane.destination.type)
  if (kind === undefined) {
    pauseLane(lane, 'This version has no delivery to this type of destination')
    return
  }
  while (maySend(lane) && lane.inFlight < (lane.failures > 0 || lane.isFirst ? 1 : MOST_IN_FLIGHT)) {
    const track = tracksOf(lane).find(({ stretch }) => stretch.nextWaiting() !== undefined)
    const plan = track?.stretch.nextWaiting()
    if (track === undefined || plan === undefined) {
      formNext(lane, kind)
      return
    }
    void run(lane, kind, track, plan)
  }
}

const maySend = (lane: LaneState): boolean =>
  lane.destination.enabled && !lane.isPaused && !lane.isStopped && lane.skips === 0 && lane.unblock === null

/** Reads the next batch, of the outbox and of the replay in turns. */
function formNext(lane: LaneState, kind: DestinationKind): void {
  lane.isMore = true
  if (lane.isForming) return
  lane.isForming = true
  lane.isMore = false
  const tracks = tracksOf(lane)
  const order = lane.lastFormed === tracks[0] ? tracks.reverse() : tracks
  formFirst(lane, kind, order)
    .catch((error) => {
      failed(lane, unreadable(error), null)
      return false
    })
    .then((isAgain) => {
      lane.isForming = false
      leave(lane)
      if (isAgain || lane.isMore) pump(lane)
    })
}

/** True: there may be more at once. */
async function formFirst(lane: LaneState, kind: DestinationKind, tracks: readonly Track[]): Promise<boolean> {
  for (const track of tracks) if (await form(lane, kind, track)) return true
  return false
}

async function form(lane: LaneState, kind: DestinationKind, track: Track): Promise<boolean> {
  const { stretch } = track
  track.forming ??= { gathered: nothingGathered(stretch.planned()), isDue: false, cancelDue: null }
  const { forming } = track
  const verdict = await gather(gatherDepsOf(lane), forming.gathered, { ...lane, stretch, kind })
  // Edited or skipped meanwhile: what was read is void.
  if (track.forming !== forming) return true
  const { items, last } = forming.gathered
  if (verdict === 'later') lookLater(lane)
  if (items.length > 0 && !(verdict === 'full' || forming.isDue || stretch.isReplay)) {
    waitForOthers(lane, forming, kind.limits.waitMs)
    return false
  }
  dropForming(track)
  lane.lastFormed = track
  if (last > stretch.planned()) {
    const isRepeat = lane.isFirst
    const plan: Plan = { after: stretch.planned(), last, state: 'waiting', isBare: false, isRepeat }
    stretch.plan(plan)
    if (items.length === 0) complete(lane, track, plan, forming.gathered)
    else if (maySend(lane)) void run(lane, kind, track, plan, forming.gathered)
    return true
  }
  const { replay } = lane
  // Batches of it may still be on their way.
  if (verdict === 'end' && track === replay && stretch.cursor() === stretch.planned()) {
    replay.isDone = true
    lane.tally.changed()
  }
  return false
}

function waitForOthers(lane: LaneState, forming: Forming, ms: number): void {
  forming.cancelDue ??= lane.deps.clock.after(ms, () => {
    forming.isDue = true
    pump(lane)
  })
}

function lookLater(lane: LaneState): void {
  lane.cancelLook ??= lane.deps.clock.after(LATER_MS, () => {
    lane.cancelLook = null
    pump(lane)
  })
}
