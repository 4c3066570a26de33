import type { Caller } from '../../core/caller.ts'
import { retainsNothing } from '../../core/guardrail.ts'

/** What a request, or its workspace for it, wants of the cache. */
export interface CacheOptions {
  /** How long the answer is kept, should it be a new one. */
  readonly ttlSeconds: number
  /** What is kept is forgotten first: the answer is a new one. */
  readonly isRefreshed: boolean
}

const DEFAULT_TTL_SECONDS = 300
const MOST_TTL_SECONDS = 86_400

/**
 * Undefined: the request does not use the cache. Its header overrides the setting of the workspace. A key whose guardrails
 * require zero data retention never uses the cache.
 */
export function cacheOptionsOf(headers: Headers, { key, workspace }: Caller): CacheOptions | undefined {
  const value = headerOf(headers, SWITCH)?.trim().toLowerCase()
  const usual = workspace.responseCache
  if (value !== 'true' && (value === 'false' || !usual?.isOn)) return undefined
  if (retainsNothing(key)) return undefined
  return {
    ttlSeconds: secondsOf(headerOf(headers, TTL)) ?? usual?.ttlSeconds ?? DEFAULT_TTL_SECONDS,
    isRefreshed: headerOf(headers, CLEAR)?.trim().toLowerCase() === 'true',
  }
}

type Names = readonly [own: string, ofRealClients: string]
const SWITCH: Names = ['x-service-cache', 'x-openrouter-cache']
const TTL: Names = ['x-service-cache-ttl', 'x-openrouter-cache-ttl']
const CLEAR: Names = ['x-service-cache-clear', 'x-openrouter-cache-clear']

const headerOf = (headers: Headers, [own, other]: Names): string | null =>
  headers.get(own) ?? headers.get(other)

/** As the real service reads it: text without leading digits is ignored, a value out of range becomes the bound. */
function secondsOf(text: string | null): number | undefined {
  const digits = /^\s*(\d+)/.exec(text ?? '')?.[1]
  return digits === undefined ? undefined : Math.min(MOST_TTL_SECONDS, Math.max(1, Number(digits)))
}
