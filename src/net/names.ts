import { lookup } from 'node:dns/promises'
import type { Resolve } from './guarded.ts'

/** Looks up host names that callers send and a provider may connect to. */
export interface Names {
  /** Empty if the name does not resolve within two seconds. Null if too many lookups are running. Never rejects. */
  addressesOf(host: string): Promise<readonly string[]> | null
}

export interface NamesOptions {
  /** All addresses of a name; the system's resolver by default. */
  resolve?: Resolve
  /** A monotonic clock, in milliseconds. */
  now?(): number
}

/** A conversation repeats its URLs with every turn. Short, because names can move. */
const TTL_MS = 30_000
const TIMEOUT_MS = 2_000
const MOST_KEPT = 1_000
/** The resolver's own timeout can be far longer than ours. */
const MOST_UNDER_WAY = 256

const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

export function createNames({
  resolve = systemResolve,
  now = () => performance.now(),
}: NamesOptions = {}): Names {
  const kept = new Map<string, { until: number; addresses: Promise<readonly string[]> }>()
  let underWay = 0

  /** The addresses, or none after the timeout; the lookup counts until the resolver has answered. */
  function look(host: string): Promise<readonly string[]> {
    underWay++
    const found = Promise.withResolvers<readonly string[]>()
    const timer = setTimeout(found.resolve, TIMEOUT_MS, [])
    resolve(host)
      .catch(() => [])
      .then((addresses) => {
        underWay--
        clearTimeout(timer)
        found.resolve(addresses)
      })
    return found.promise
  }

  return {
    addressesOf(host) {
      const known = kept.get(host)
      if (known !== undefined && now() < known.until) return known.addresses
      if (underWay >= MOST_UNDER_WAY) return null
      const addresses = look(host)
      kept.delete(host)
      kept.set(host, { until: now() + TTL_MS, addresses })
      for (const oldest of kept.keys()) {
        if (kept.size <= MOST_KEPT) break
        kept.delete(oldest)
      }
      return addresses
    },
  }
}
