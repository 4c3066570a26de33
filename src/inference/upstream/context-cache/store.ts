import { CONTEXT_TTL_SECONDS } from '../../../core/pricing.ts'
import type { MadeContext } from '../../../dialects/dialect.ts'

/** A cache that a provider keeps for one workspace. */
export interface CachedContext {
  readonly key: string
  readonly name: string
  /** Null if the provider did not report them. */
  readonly tokens: number | null
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** Who is charged for creating the cache. `open`: the next reply; a claim: an unsettled reply; `paid`: already charged. */
  making: 'open' | 'paid' | object
}

/** The caches at providers. In memory only: after a restart they are created again, and the former ones expire. */
export interface ContextStore {
  /** A cache that will not expire before a request reaches the provider. */
  find(key: string): CachedContext | null
  /** Remembers for 5 minutes that a request with this prefix succeeded. */
  see(key: string): void
  wasSeen(key: string): boolean
  isMaking(key: string): boolean
  /**
   * Starts to create a cache of this prefix, unless one exists or is being created, or the provider rejected one within
   * the last 5 minutes. No request waits for it. `make` throws `TooShort` if the prefix can never be cached, and `Busy` if
   * an immediate retry is allowed.
   */
  make(wanted: WantedContext, make: () => Promise<MadeContext>): void
  /** A call with this cache was rejected: it is no longer used, and none is created in this account for 5 minutes. */
  refuse(context: CachedContext, account: string): void
  /** Resolves once no cache is being created. */
  whenIdle(): Promise<void>
}

interface WantedContext {
  readonly key: string
  /** The workspace, provider, credential and model. */
  readonly account: string
}

export class TooShort extends Error {}
export class Busy extends Error {}

/** A cache is not used in its last seconds: it must still exist when the request arrives. */
const MARGIN_MS = 15_000
/** How long a rejection prevents further attempts, and how long a prefix counts as seen. */
const WHILE_MS = 300_000
const MOST_KEPT = 10_000

export function createContextStore(now: () => number): ContextStore {
  const caches = new Map<string, CachedContext>()
  const making = new Map<string, Promise<void>>()
  /** Times of expiry, by key. `refused` also has accounts. */
  const seen = new Map<string, number>()
  const refused = new Map<string, number>()

  const isStill = (map: ReadonlyMap<string, number>, name: string): boolean => (map.get(name) ?? 0) > now()

  function find(key: string): CachedContext | null {
    const context = caches.get(key)
    if (context === undefined) return null
    if (context.expiresAt - MARGIN_MS > now()) return context
    caches.delete(key)
    return null
  }

  async function made({ key, account }: WantedContext, make: () => Promise<MadeContext>): Promise<void> {
    // Its lifetime starts when the provider creates it, before its reply arrives.
    const expiresAt = now() + CONTEXT_TTL_SECONDS * 1_000
    try {
      put(caches, key, { ...(await make()), key, expiresAt, making: 'open' })
    } catch (error) {
      if (!(error instanceof Busy)) put(refused, error instanceof TooShort ? key : account, now() + WHILE_MS)
    } finally {
      making.delete(key)
    }
  }

  return {
    find,
    see: (key) => put(seen, key, now() + WHILE_MS),
    wasSeen: (key) => isStill(seen, key),
    isMaking: (key) => making.has(key),
    make(wanted, make) {
      const { key, account } = wanted
      if (making.has(key) || find(key) !== null || isStill(refused, key) || isStill(refused, account)) return
      making.set(key, Promise.resolve())
      making.set(key, made(wanted, make))
    },
    refuse(context, account) {
      if (caches.get(context.key) === context) caches.delete(context.key)
      put(refused, account, now() + WHILE_MS)
    },
    async whenIdle() {
      while (making.size > 0) await Promise.all(making.values())
    },
  }
}

/** Adds an entry, and evicts the oldest one beyond the bound. */
function put<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= MOST_KEPT) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
