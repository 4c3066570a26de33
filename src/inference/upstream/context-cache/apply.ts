import { createHash } from 'node:crypto'
import type { Attempt } from '../../../core/attempt.ts'
import { CONTEXT_TTL_SECONDS } from '../../../core/pricing.ts'
import type { ProviderPreferences } from '../../../core/request.ts'
import { promptTokens, type Usage } from '../../../core/usage.ts'
import type { CacheBreakpoint, DialectCall, MadeContext } from '../../../dialects/dialect.ts'
import { type Claim, settleClaim } from './charge.ts'
import type { CachedContext, ContextStore } from './store.ts'

/** Google's smallest minimum of all its models (2026). Shorter prefixes are never cached. */
const LEAST_TOKENS = 1_024

/** One call whose prefix may be cached, from its build to its settlement. */
export interface ContextUse {
  readonly call: DialectCall
  /** The cache that its prefix is read from; null: none. */
  readonly context: CachedContext | null
  readonly claim: Claim
  /** The provider rejected the call because of the cache. */
  refused(): void
  /**
   * Called when the reply is settled, with the provider's usage; null if it failed or was not counted. Creates a cache
   * for a prefix on its second use if less than half of it was a cache hit: so a cache is created only if Google's
   * automatic caching does not suffice, and a longer one only once it holds twice as many tokens.
   */
  settled(usage: Usage | null): void
}

export interface ContextScope {
  readonly preferences: ProviderPreferences
  readonly attempt: Attempt
  /** The only owner that may read the cache. Null: nothing may be cached. */
  readonly owner: string | null
}

/** The call with its longest cached prefix read from the cache; null if the call cannot use caches. */
export function throughContext(
  call: DialectCall,
  { preferences, attempt, owner }: ContextScope,
  contexts: ContextStore | null,
  make: (making: DialectCall) => Promise<MadeContext>,
): ContextUse | null {
  if (contexts === null || call.breakpoints === undefined || owner === null) return null
  if (!mayRetain(preferences) || attempt.endpoint.pricing?.inputCacheWrite === undefined) return null
  const account = JSON.stringify([
    owner,
    attempt.provider.slug,
    attempt.credential.id,
    attempt.endpoint.upstreamId,
  ])
  const choices = keyed(call.breakpoints(), account)
  const cached = choices.findLast(({ key }) => contexts.find(key) !== null)
  const context = cached ? contexts.find(cached.key) : null
  const claim: Claim = { isSettled: false }
  return {
    call: cached && context ? named(call, cached, context) : call,
    context,
    claim,
    refused() {
      if (context !== null) contexts.refuse(context, account)
    },
    settled(usage) {
      if (context !== null) settleClaim(context, claim, (usage?.writtenApartTokens ?? 0) > 0)
      if (usage === null) return
      const missed = missedOf(choices, cached, usage, contexts)
      for (const { key, isMarked } of choices) if (isMarked) contexts.see(key)
      if (missed) contexts.make({ key: missed.key, account }, () => make(missed.make(CONTEXT_TTL_SECONDS)))
    },
  }
}

/** The longest repeated prefix of which less than half was a cache hit. Undefined while one of them is being cached. */
function missedOf(
  choices: readonly Choice[],
  cached: Choice | undefined,
  usage: Usage,
  contexts: ContextStore,
): Choice | undefined {
  if (choices.some(({ key }) => contexts.isMaking(key))) return undefined
  const read = usage.cacheReadTokens + (usage.writtenApartTokens ?? 0)
  // Requires the provider's count and our estimate, so that a wrong count never creates too many caches.
  return choices.findLast(
    ({ key, share, tokens }) =>
      contexts.wasSeen(key) && 2 * read < share * promptTokens(usage) && tokens >= 2 * (cached?.tokens ?? 0),
  )
}

/** False if the caller requires zero data retention. */
export const mayRetain = ({ zdr, dataCollection }: ProviderPreferences): boolean =>
  zdr !== true && dataCollection !== 'deny'

/** A prefix without its text, which is as long as the prompt and not needed after hashing. */
type Choice = Omit<CacheBreakpoint, 'adds'> & { readonly key: string }

/** Keys each prefix by the hash of its account and complete text. */
function keyed(breakpoints: readonly CacheBreakpoint[], account: string): Choice[] {
  const hash = createHash('sha256').update(account)
  return breakpoints
    .map(({ adds, ...breakpoint }) => ({ ...breakpoint, key: hash.update(adds).copy().digest('base64url') }))
    .filter(({ tokens }) => tokens >= LEAST_TOKENS)
}

const named = (call: DialectCall, { bodyWith }: Choice, { name }: CachedContext): DialectCall => ({
  ...call,
  body: bodyWith(name),
  dropped: call.dropped.filter((dropped) => dropped !== 'cache_control'),
})
