import { closeSync, openSync, readFileSync, statSync } from 'node:fs'

/** File descriptors of this process. Bun raises the soft limit to the hard one when it starts. */
export interface Descriptors {
  readonly limit: number
  used(): number
}

const LIMITS = '/proc/self/limits'
const OPEN = '/proc/self/fd'

/** Null if there is no limit, or the system does not report it. */
export function descriptorLimit(): number | null {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync(LIMITS, 'utf8')) ?? []
    return limit === undefined ? null : Number(limit)
  } catch {
    return null
  }
}

/** Descriptors of the databases, their journals, logs and idle pooled connections. */
const FOR_FILES = 352
/** The caller's and the provider's. */
const CONNECTIONS_PER_REQUEST = 2
const FEW_REQUESTS = 2_000

/** How many requests can run at once, within the bound on requests in flight. */
export const requestsWith = (limit: number, maxInFlight: number): number =>
  Math.min(maxInFlight, Math.max(0, Math.floor((limit - FOR_FILES) / CONNECTIONS_PER_REQUEST)))

export const isLowLimit = (limit: number): boolean =>
  requestsWith(limit, Number.POSITIVE_INFINITY) < FEW_REQUESTS

/** Null if the limit is unknown. */
export function ownDescriptors(): Descriptors | null {
  const limit = descriptorLimit()
  return limit === null ? null : { limit, used: () => sizeOfList() || lowestFree(limit) }
}

/** Linux 6.2 and later count the descriptors in the size of the folder; earlier ones report 0. Needs no descriptor. */
const sizeOfList = (): number => statSync(OPEN).size

/** Estimates the count by the lowest free number, which a new file gets. Rather too low, but listing takes milliseconds. */
function lowestFree(limit: number): number {
  try {
    const lowest = openSync('/dev/null', 'r')
    closeSync(lowest)
    return lowest
  } catch {
    return limit
  }
}
