import { statfs } from 'node:fs/promises'

export interface DiskSpace {
  /** False while the free space is needed for the settlements of running requests. */
  hasDiskSpace(): boolean
  /** Checks now. Resolves when `hasDiskSpace` is up to date. */
  look(): Promise<void>
  stop(): void
}

export interface Space {
  readonly freeBytes: number
  readonly totalBytes: number
}

export interface DiskSpaceOptions {
  space?(folder: string): Promise<Space>
  /** Called once when space runs out, and once when it is available again. */
  onChange(hasDiskSpace: boolean, space: Space): void
}

const EVERY_MS = 1000
/** Enough to settle thousands of running requests, and for a checkpoint of the write-ahead log. */
const RESERVE_BYTES = 16_000_000
/** The reserve on a small disk, as a share of it. */
const RESERVE_SHARE = 1 / 20
/** Hysteresis: new requests are accepted again at this multiple of the reserve. */
const AGAIN = 1.25

/**
 * Checks the free space on a folder's disk once per second. Without it, a full disk would be noticed only when a write
 * fails, while requests are running whose replies cannot be settled. If the free space is unknown, it counts as sufficient.
 */
export function watchDiskSpace(folder: string, { space = spaceOf, onChange }: DiskSpaceOptions): DiskSpace {
  let isEnough = true
  const look = async (): Promise<void> => {
    const now = await space(folder).catch(() => null)
    if (now === null || now.totalBytes <= 0) return
    const reserve = Math.min(RESERVE_BYTES, now.totalBytes * RESERVE_SHARE)
    const hasDiskSpace = now.freeBytes >= (isEnough ? reserve : reserve * AGAIN)
    if (hasDiskSpace === isEnough) return
    isEnough = hasDiskSpace
    onChange(hasDiskSpace, now)
  }
  const timer = setInterval(look, EVERY_MS)
  timer.unref()
  return { hasDiskSpace: () => isEnough, look, stop: () => clearInterval(timer) }
}

async function spaceOf(folder: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}
