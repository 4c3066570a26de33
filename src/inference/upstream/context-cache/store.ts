import { CONTEXT_TTL_SECONDS } from '../../../core/pricing.ts'
import type { MadeContext } from '../../../dialects/dialect.ts'

/** A cache that a provider keeps for one workspace. */
export interface KeptContext {
  readonly key: string
  readonly name: string
  /** What it holds; null: the provider did not tell. */
  readonly tokens: number | null
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** Which reply is charged for making the cache: `open`: none yet; a claim: one that is not settled yet; `paid`. */
  making: 'open' | 'paid' | object
}

/** What providers keep for us, in memory alone: after a restart it is made anew, and the former expires. */
export interface ContextStore {
  /** One that is still there for as long as a request takes to arrive. */
  find(key: string): KeptContext | null
  /** Remembers for a while that an answer was given on this beginning. */
  see(key: string): void
  wasSeen(key: string): boolean
  isMaking(key: string): boolean
  /**
   * Starts to make a cache of this prefix, unless one exists or is being made, or the provider refused a short while ago.
   * No request waits for it. `make` throws `TooShort` for a prefix that is never cached, `Busy` if a retry may be made at
   * once.
   */
  make(wanted: WantedContext, make: () => Promise<MadeContext>): void
  /** A call that named it was refused: it is not used any more, and nothing is made there for a while. */
  refuse(context: KeptContext, account: string): void
  /** Resolves once nothing is being made. */
  whenIdle(): Promise<void>
}

interface WantedContext {
  readonly key: string
  /** Who would keep it, and for whom: the model at this provider with this credential, and the workspace. */
  readonly account: string
}

export class TooShort extends Error {}
export class Busy extends Error {}

/** It is not named any more shortly before it ends: the request must still find it. */
const MARGIN_MS = 15_000
/** What was refused is not asked for again so soon; a beginning that does not come again by then is not worth keeping. */
const WHILE_MS = 300_000
const MOST_KEPT = 10_000

export function createContextStore(now: () => number): ContextStore {
  const kept = new Map<string, KeptContext>()
  const making = new Map<string, Promise<void>>()
  /** Until when something holds of a key or an account. */
  const seen = new Map<string, number>()
  const refused = new Map<string, number>()

  const isStill = (map: ReadonlyMap<string, number>, name: string): boolean => (map.get(name) ?? 0) > now()

  function find(key: string): KeptContext | null {
    const context = kept.get(key)
    if (context === undefined) return null
    if (context.expiresAt - MARGIN_MS > now()) return context
    kept.delete(key)
    return null
  }

  async function made({ key, account }: WantedContext, make: () => Promise<MadeContext>): Promise<void> {
    // It lives from its making, which is before we hear of it.
    const expiresAt = now() + CONTEXT_TTL_SECONDS * 1_000
    try {
      put(kept, key, { ...(await make()), key, expiresAt, making: 'open' })
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
      if (kept.get(context.key) === context) kept.delete(context.key)
      put(refused, account, now() + WHILE_MS)
    },
    async whenIdle() {
      while (making.size > 0) await Promise.all(making.values())
    },
  }
}

/** The oldest goes where there are too many. */
function put<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= MOST_KEPT) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
