import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { type Traits, traitsOf, versionOf } from '../claude.ts'
import type { Drop } from '../dropped.ts'

type Family = 'Claude' | 'Nova' | 'Nova 2' | 'gpt-oss' | 'DeepSeek' | 'Llama' | 'other'

/** What a model at Bedrock takes: one API for all, and yet not the same for all. */
export interface Abilities extends Caching {
  readonly family: Family
  readonly claude: Traits
  /** The same among the tools. */
  readonly cachesTools: boolean
  /** Results of tools may be marked as failed. */
  readonly takesStatus: boolean
  /** Whether some tool, or this one, can be forced. */
  readonly forces: boolean
  /** `outputConfig.textFormat`, and `strict` on tools. */
  readonly takesSchema: boolean
}

/** In this order: the first that fits. An id may have a region in front, or be the resource name of a profile. */
const FAMILIES: readonly (readonly [Family, RegExp])[] = [
  ['Claude', /claude/i],
  ['Nova 2', /nova-2/i],
  ['Nova', /nova-/i],
  ['gpt-oss', /gpt-oss/i],
  ['DeepSeek', /deepseek/i],
  ['Llama', /llama/i],
]

/**
 * By the name that AWS gives the model; an application's own profile has none, and is known by the model that it is
 * configured as. From the user guide's tables of supported models (2026).
 */
export function abilitiesOf(attempt: Attempt): Abilities {
  const { endpoint, model } = attempt
  const name = familyOf(endpoint.upstreamId) === 'other' ? model.id : endpoint.upstreamId
  const family = familyOf(name)
  const isClaude = family === 'Claude'
  // A name that tells no version is one of today.
  const version = versionOf(name) ?? 9
  const claude = traitsOf({ ...attempt, endpoint: { ...endpoint, upstreamId: name } })
  const isNova = family === 'Nova' || family === 'Nova 2'
  return {
    family,
    claude,
    caches: isNova || (isClaude && version >= 3.05),
    cachesAnHour: isClaude && version >= 4.05,
    cachesTools: isClaude,
    takesStatus: isClaude || isNova,
    forces: family !== 'Llama',
    takesSchema: claude.takesSchema,
  }
}

const familyOf = (name: string): Family => FAMILIES.find(([, pattern]) => pattern.test(name))?.[0] ?? 'other'

/** What caching points a model has. */
interface Caching {
  readonly caches: boolean
  /** A point may hold for an hour. */
  readonly cachesAnHour: boolean
}

/**
 * A caching mark is a block of its own behind what it marks. Five minutes are the usual time. Where the model has no
 * such points, or none of this time, the mark or its time is named.
 */
export function cachePointFor(
  extra: JsonObject | undefined,
  { caches, cachesAnHour }: Caching,
  drop: Drop,
): JsonObject[] {
  const mark = extra?.['cache_control']
  if (!isObject(mark)) return []
  if (!caches) {
    drop('cache_control')
    return []
  }
  const isLong = mark['ttl'] === '1h'
  if (isLong && !cachesAnHour) drop('cache_control.ttl')
  return [{ cachePoint: { type: 'default', ...(isLong && cachesAnHour ? { ttl: '1h' } : {}) } }]
}
