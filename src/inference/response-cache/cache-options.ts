import type { Caller } from '../../core/caller.ts'
import { retainsNothing } from '../../core/guardrail.ts'

/** The cache options of a request, or its workspace's defaults. */
export interface CacheOptions {
  /** How long a new reply is cached. */
  readonly ttlSeconds: number
  /** Drops a cached reply first, so that the provider is called. */
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
  const workspaceDefault = workspace.responseCache
  if (value !== 'true' && (value === 'false' || !workspaceDefault?.isOn)) return undefined
  if (retainsNothing(key)) return undefined
  return {
    ttlSeconds: secondsOf(headerOf(headers, TTL)) ?? workspaceDefault?.ttlSeconds ?? DEFAULT_TTL_SECONDS,
    isRefreshed: headerOf(headers, CLEAR)?.trim().toLowerCase() === 'true',
  }
}

type Names = readonly [own: string, ofRealClients: string]
const SWITCH: Names = ['x-service-cache', 'x-openrouter-cache']
const TTL: Names = ['x-service-cache-ttl', 'x-openrouter-cache-ttl']
const CLEAR: Names = ['x-service-cache-clear', 'x-openrouter-cache-clear']

const headerOf = (headers: Headers, [own, other]: Names): string | null =>
  headers.get(own) ?? headers.get(other)

/** As OpenRouter reads it: text without leading digits is ignored, values out of range are clamped. */
function secondsOf(text: string | null): number | undefined {
  const digits = /^\s*(\d+)/.exec(text ?? '')?.[1]
  return digits === undefined ? undefined : Math.min(MOST_TTL_SECONDS, Math.max(1, Number(digits)))
}
