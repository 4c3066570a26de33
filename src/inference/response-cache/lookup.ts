import type { Attempt } from '../../core/attempt.ts'
import { GatewayError } from '../../core/errors.ts'
import type { TraceContext } from '../../core/trace-context.ts'
import { accountOf, type Plan, plan } from '../routing/plan.ts'
import type { PlanInput } from '../routing/plan-input.ts'
import type { CacheOptions } from './cache-options.ts'
import { cacheKey } from './key.ts'
import type { CachedReply, ResponseCache } from './store.ts'

/** The result of a cache lookup. */
export interface Lookup {
  /** Null: a miss. */
  readonly hit: Hit | null
  /** The headers to add to the reply. */
  readonly headers: Readonly<Record<string, string>>
  /** The maximum size of a cached reply. */
  readonly mostBytes: number
  /** For later requests. The generation is on the ledger. */
  keep(source: CacheSource, attempt: Attempt, bytes: Uint8Array, costNanoUsd: number): void
}

/** The generation that made a reply. */
interface CacheSource {
  readonly id: string
  readonly opening: { readonly incoming: { readonly trace: Pick<TraceContext, 'traceId'> } }
}

interface Hit {
  readonly answer: CachedReply
  /** The account that produced the reply, with its current settings. */
  readonly attempt: Attempt
  /** A plan with only this attempt. */
  readonly plan: Plan
}

/**
 * Looks up a cached reply to the same request. A caller gets it only if its plan contains the account that produced it:
 * guardrails, preferences and prices still apply. Cache hits are served even while the provider is down.
 */
export function lookUp(options: CacheOptions, cache: ResponseCache, input: PlanInput): Lookup {
  const { request, caller, now } = input
  const key = cacheKey(request, caller)
  if (options.isRefreshed) cache.drop(key)
  const answer = cache.find(key)
  const hit = answer === undefined ? null : hitOf(answer, input)
  return {
    hit,
    headers: hit ? hitHeaders(hit.answer, now) : missHeaders(options.ttlSeconds),
    mostBytes: cache.mostBytes,
    keep({ id, opening }, attempt, bytes, costNanoUsd) {
      const { traceId } = opening.incoming.trace
      const answer = { sourceId: id, traceId, account: accountOf(attempt), bytes, costNanoUsd }
      cache.keep(key, answer, options.ttlSeconds)
    },
  }
}

function hitOf(answer: CachedReply, input: PlanInput): Hit | null {
  try {
    const planned = plan({ ...input, cooldownOf: () => null })
    const attempt = planned.attempts.find((each) => accountOf(each) === answer.account)
    return attempt ? { answer, attempt, plan: { ...planned, attempts: [attempt] } } : null
  } catch (error) {
    // A miss: the request is planned again, which throws the error.
    if (error instanceof GatewayError) return null
    throw error
  }
}

type ReplyHeaders = Readonly<Record<string, string>>

const missHeaders = (ttlSeconds: number): ReplyHeaders =>
  underBothNames({ status: 'MISS', ttl: String(ttlSeconds) })

/** `ttl`: the remaining seconds. */
const hitHeaders = ({ sourceId, cachedAt, expiresAt }: CachedReply, now: number): ReplyHeaders =>
  underBothNames({
    status: 'HIT',
    age: String(Math.max(0, Math.floor((now - cachedAt) / 1000))),
    ttl: String(Math.max(0, Math.ceil((expiresAt - now) / 1000))),
    'source-id': sourceId,
  })

/** Both header prefixes: the documented one and OpenRouter's. */
const underBothNames = (fields: ReplyHeaders): ReplyHeaders =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => [
      [`x-service-cache-${name}`, value],
      [`x-openrouter-cache-${name}`, value],
    ]),
  )
