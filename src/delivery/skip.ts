import { turnOfLoop } from '../core/turn.ts'
import { failed, unreadable } from './batch.ts'
import { dropForming, type LaneState, whenQuiet } from './lane-state.ts'
import type { DropReason } from './report.ts'
import { pump } from './sending.ts'

const ENTRIES = 256

/**
 * Drops everything up to a position that is not being sent, and counts the generations of it that the destination would
 * have got.
 */
export function skip(lane: LaneState, position: number, reason: DropReason): Promise<void> {
  lane.skips += 1
  lane.lastSkip = lane.lastSkip
    .then(() => drop(lane, position, reason))
    .catch((error) => failed(lane, unreadable(error), null))
    .finally(() => {
      lane.skips -= 1
      pump(lane)
    })
  return lane.lastSkip
}

async function drop(lane: LaneState, position: number, reason: DropReason): Promise<void> {
  const { stretch } = lane.live
  dropForming(lane.live)
  await whenQuiet(lane)
  const dropped = await count(lane, stretch.cursor(), position)
  dropForming(lane.live)
  stretch.skipTo(position)
  lane.tally.dropped({ [reason]: dropped })
}

async function count({ deps, destination }: LaneState, after: number, position: number): Promise<number> {
  // The content does not matter here.
  const withoutContent = { ...destination, privacyMode: true }
  let taken = 0
  for (let last = after; last < position; ) {
    const entries = deps.readOutbox(last, ENTRIES).filter((entry) => entry.position <= position)
    if (entries.length === 0) break
    last = entries.at(-1)?.position ?? position
    const outcomes = await deps.recordsOf(entries, withoutContent)
    taken += outcomes.filter((outcome) => outcome !== null).length
    await turnOfLoop()
  }
  return taken
}
