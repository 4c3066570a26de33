import { statfs } from 'node:fs/promises'

export interface DiskRoom {
  /** False while so little is left that what already runs needs it to be settled. */
  hasRoom(): boolean
  /** Looks now; resolves when `hasRoom` knows. */
  look(): Promise<void>
  stop(): void
}

export interface Space {
  readonly freeBytes: number
  readonly totalBytes: number
}

export interface DiskRoomOptions {
  space?(folder: string): Promise<Space>
  /** Told once when room runs out, and once when there is some again. */
  onChange(hasRoom: boolean, space: Space): void
}

const EVERY_MS = 1000
/** Enough to settle thousands of requests that run, and for the log that a checkpoint needs. */
const RESERVE_BYTES = 16_000_000
/** On a small disk, that part of it. */
const RESERVE_SHARE = 1 / 20
/** New requests are taken again with so much more, so that it does not go to and fro. */
const AGAIN = 1.25

/**
 * Watches the room on the disk of a folder, once a second. A disk is full for its writers only once one of them has
 * failed; by then requests run whose answers cannot be settled. A disk that does not say how full it is counts as
 * having room.
 */
export function watchRoom(folder: string, { space = spaceOf, onChange }: DiskRoomOptions): DiskRoom {
  let isEnough = true
  const look = async (): Promise<void> => {
    const now = await space(folder).catch(() => null)
    if (now === null || now.totalBytes <= 0) return
    const reserve = Math.min(RESERVE_BYTES, now.totalBytes * RESERVE_SHARE)
    const hasRoom = now.freeBytes >= (isEnough ? reserve : reserve * AGAIN)
    if (hasRoom === isEnough) return
    isEnough = hasRoom
    onChange(hasRoom, now)
  }
  const timer = setInterval(look, EVERY_MS)
  timer.unref()
  return { hasRoom: () => isEnough, look, stop: () => clearInterval(timer) }
}

async function spaceOf(folder: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}
