import type { Clock, Ticker } from '../reply/ticker.ts'

/** A complete reply that may be served again. */
export interface CachedReply {
  /** The id of the original generation. */
  readonly sourceId: string
  /** The trace of that generation. */
  readonly traceId: string
  /** The account that produced it: `accountOf` its attempt. */
  readonly account: string
  readonly bytes: Uint8Array
  /** What it cost with the gateway's credentials, so what each cache hit saves. */
  readonly costNanoUsd: number
  /** Milliseconds since 1970. */
  readonly cachedAt: number
  readonly expiresAt: number
}

/** Cached replies by request hash. In memory only: a restart empties the cache. */
export interface ResponseCache {
  /** The maximum size of a reply. */
  readonly mostBytes: number
  /** Undefined: no reply is cached, or it has expired. */
  find(key: string): CachedReply | undefined
  /** Adds or replaces a reply. Evicts the least recently used ones beyond the bound. */
  keep(key: string, answer: Omit<CachedReply, 'cachedAt' | 'expiresAt'>, ttlSeconds: number): void
  drop(key: string): void
  heldBytes(): number
}

export interface ResponseCacheOptions {
  maxBytes: number
  now(): number
  ticker: Pick<Ticker, 'watch' | 'now'>
}

/** The maximum share of the cache that one reply may take. */
const MOST_OF_ALL = 1 / 16
/** Approximate overhead of an entry: hash, ids and objects. */
const ENTRY_BYTES = 512
/** Expired replies are removed within this time. */
const SWEEP_MS = 1_000

export function createResponseCache({ maxBytes, now, ticker }: ResponseCacheOptions): ResponseCache {
  /** Least recently used first. */
  const entries = new Map<string, CachedReply>()
  let held = 0
  let clock: Clock | null = null

  function drop(key: string): void {
    const known = entries.get(key)
    if (known === undefined) return
    entries.delete(key)
    held -= sizeOf(known)
  }

  function sweep(): void {
    const at = now()
    let next = Number.POSITIVE_INFINITY
    for (const [key, { expiresAt }] of entries) {
      if (expiresAt <= at) drop(key)
      else next = Math.min(next, expiresAt)
    }
    if (clock) clock.due = ticker.now() + Math.max(next - at, SWEEP_MS)
    if (entries.size > 0) return
    clock?.stop()
    clock = null
  }

  return {
    mostBytes: Math.floor(maxBytes * MOST_OF_ALL) - ENTRY_BYTES,
    find(key) {
      const known = entries.get(key)
      if (known === undefined) return undefined
      // An entry from the future was stored before the clock was set back: its age is unknown.
      if (known.expiresAt <= now() || known.cachedAt > now()) {
        drop(key)
        return undefined
      }
      entries.delete(key)
      entries.set(key, known)
      return known
    },
    keep(key, kept, ttlSeconds) {
      const cachedAt = now()
      const answer = { ...kept, cachedAt, expiresAt: cachedAt + ttlSeconds * 1000 }
      drop(key)
      entries.set(key, answer)
      held += sizeOf(answer)
      for (const [oldest] of entries) {
        if (held <= maxBytes) break
        drop(oldest)
      }
      clock ??= ticker.watch(sweep)
      clock.due = Math.min(clock.due, ticker.now() + ttlSeconds * 1000)
    },
    drop,
    heldBytes: () => held,
  }
}

const sizeOf = ({ bytes }: CachedReply): number => bytes.byteLength + ENTRY_BYTES
