import type { MadeContext } from '../../dialects/dialect.ts'

/** A cache that a provider keeps for one workspace. */
export interface KeptContext {
  readonly key: string
  readonly name: string
  /** What it holds; null: the provider did not tell. */
  readonly tokens: number | null
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** Whether an answer was charged for its making: the first that reads it is. */
  isPaid: boolean
}

/** What providers keep for us, in memory alone: after a restart they are made anew, and the former expire. */
export interface ContextStore {
  /** One that is still there for as long as a request takes to arrive. */
  find(key: string): KeptContext | null
  /** False for an account that refused, for a while, and for what is not longer than what it found too short. */
  mayMake(wanted: WantedContext): boolean
  /**
   * The one of this key, made by `make` unless that is under way already. Null where it could not be made. `make`
   * throws `TooShort` for what the account does not keep, `Busy` for what may be tried again at once.
   */
  make(wanted: WantedContext, make: () => Promise<MadeContext>): Promise<KeptContext | null>
  /** The provider does not know it any more. */
  forget(key: string): void
}

export interface WantedContext {
  readonly key: string
  /** Who would keep it: the model at this provider with this credential. */
  readonly account: string
  /** A rough count. */
  readonly tokens: number
}

export class TooShort extends Error {}
export class Busy extends Error {}

/** How long a cache lives. Its price is by the hour: prices of writing hold for these five minutes. */
export const CONTEXT_TTL_SECONDS = 300
/** It is not named any more shortly before it ends: the request must still find it. */
const MARGIN_MS = 15_000
/** What was refused is not asked for again so soon. */
const REFUSED_MS = 300_000
const MOST_KEPT = 10_000

export function createContextStore(now: () => number): ContextStore {
  const kept = new Map<string, KeptContext>()
  const making = new Map<string, Promise<KeptContext | null>>()
  /** By account: until when nothing is tried. */
  const refused = new Map<string, number>()
  /** By account: the longest that was too short. Models differ in what they keep, and tell it by refusing. */
  const tooShort = new Map<string, number>()

  async function made(
    { key, account, tokens }: WantedContext,
    make: () => Promise<MadeContext>,
  ): Promise<KeptContext | null> {
    // It lives from its making, which is before we hear of it.
    const expiresAt = now() + CONTEXT_TTL_SECONDS * 1_000
    try {
      const context = { ...(await make()), key, expiresAt, isPaid: false }
      put(kept, key, context)
      return context
    } catch (error) {
      if (error instanceof TooShort) put(tooShort, account, Math.max(tokens, tooShort.get(account) ?? 0))
      else if (!(error instanceof Busy)) put(refused, account, now() + REFUSED_MS)
      return null
    } finally {
      making.delete(key)
    }
  }

  return {
    find(key) {
      const context = kept.get(key)
      if (context === undefined) return null
      if (context.expiresAt - MARGIN_MS > now()) return context
      kept.delete(key)
      return null
    },
    make(wanted, make) {
      const running = making.get(wanted.key) ?? made(wanted, make)
      if (!making.has(wanted.key)) making.set(wanted.key, running)
      return running
    },
    mayMake: ({ account, tokens }) =>
      (refused.get(account) ?? 0) <= now() && tokens > (tooShort.get(account) ?? 0),
    forget(key) {
      kept.delete(key)
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
