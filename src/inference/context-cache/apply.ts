import { createHash } from 'node:crypto'
import type { Attempt } from '../../core/attempt.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { ContextCut, DialectCall, MadeContext } from '../../dialects/dialect.ts'
import { CONTEXT_TTL_SECONDS, type ContextStore, type KeptContext } from './store.ts'

/** Nobody keeps less: to ask would be in vain (Google's least of all its models, 2026). */
const LEAST_TOKENS = 1_024
/** A longer cache is made once it would hold so many times what the kept one holds: all that is written is bounded. */
const WORTH_A_LONGER_ONE = 2
/** A request does not wait longer for a cache to be made; it goes on without, and the next one finds it. */
const MOST_WAITING_MS = 15_000

export interface ContextDeps {
  contexts: ContextStore | null
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export interface ContextAsked {
  readonly request: InferenceRequest
  readonly attempt: Attempt
  /** For whom it is kept: nobody else reads it. Null: nothing may be kept. */
  readonly owner: string | null
  readonly signal: AbortSignal
}

/** A call whose beginning a provider keeps, and the cache that it is read from. */
export interface ContextCall {
  readonly call: DialectCall
  readonly context: KeptContext
}

/**
 * The call with the longest of its marked beginnings read from a cache: one that is kept, or one that is made now.
 * Null: it goes as it is. Nothing is kept for those who want that nothing is retained, nor where writing has no price.
 */
export async function throughContext(
  call: DialectCall,
  { request, attempt, owner, signal }: ContextAsked,
  { contexts, wait }: ContextDeps,
  /** Makes a cache; throws as `ContextStore.make` says. */
  make: (making: DialectCall) => Promise<MadeContext>,
): Promise<ContextCall | null> {
  if (contexts === null || call.cuts === undefined || owner === null || !mayKeep(request, attempt))
    return null
  const choices = call.cuts().map((cut) => ({ cut, key: keyOf(cut, attempt, owner) }))
  const longest = choices.at(-1)
  if (longest === undefined) return null
  const kept = choices
    .map(({ cut, key }) => ({ cut, context: contexts.find(key) }))
    .findLast(({ context }) => context !== null)
  const { tokens } = longest.cut
  const wanted = { key: longest.key, account: accountOf(attempt), tokens }
  if (
    tokens >= LEAST_TOKENS &&
    tokens >= WORTH_A_LONGER_ONE * (kept?.cut.tokens ?? 0) &&
    contexts.mayMake(wanted)
  ) {
    const making = contexts.make(wanted, () => make(longest.cut.make(CONTEXT_TTL_SECONDS)))
    const made = await unlessLate(making, wait, signal)
    if (made !== null) return calling(call, longest.cut, made)
  }
  return kept?.context ? calling(call, kept.cut, kept.context) : null
}

const mayKeep = ({ preferences }: InferenceRequest, { endpoint }: Attempt): boolean =>
  endpoint.pricing?.inputCacheWrite !== undefined &&
  preferences.zdr !== true &&
  preferences.dataCollection !== 'deny'

const calling = (call: DialectCall, cut: ContextCut, context: KeptContext): ContextCall => ({
  call: {
    ...call,
    body: cut.bodyWith(context.name),
    dropped: call.dropped.filter((name) => name !== 'cache_control'),
  },
  context,
})

const accountOf = ({ provider, credential, endpoint }: Attempt): string =>
  JSON.stringify([provider.slug, credential.id, endpoint.upstreamId])

/** The same beginning at the same account, of the same owner. */
const keyOf = ({ kept }: ContextCut, attempt: Attempt, owner: string): string =>
  createHash('sha256')
    .update(JSON.stringify([owner, accountOf(attempt), kept]))
    .digest('base64url')

/** Null where it takes too long, or the caller leaves: it is made all the same. */
async function unlessLate(
  making: Promise<KeptContext | null>,
  wait: ContextDeps['wait'],
  signal: AbortSignal,
): Promise<KeptContext | null> {
  const settled = new AbortController()
  const late = wait(MOST_WAITING_MS, AbortSignal.any([signal, settled.signal])).then(
    () => null,
    () => null,
  )
  try {
    return await Promise.race([making, late])
  } finally {
    settled.abort()
    signal.throwIfAborted()
  }
}
