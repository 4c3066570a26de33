import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { type Traits, traitsOf, versionOf } from '../claude.ts'
import type { Drop } from '../dropped.ts'

type Family = 'Claude' | 'Nova' | 'Nova 2' | 'gpt-oss' | 'DeepSeek' | 'Llama' | 'other'

/** What a model at Bedrock supports: models differ although the API is one. */
export interface Abilities extends Caching {
  readonly family: Family
  readonly claude: Traits
  /** Cache points among the tools. */
  readonly cachesTools: boolean
  /** Results of tools may be marked as failed. */
  readonly takesStatus: boolean
  /** Whether some tool, or this one, can be forced. */
  readonly forces: boolean
  /** `outputConfig.textFormat`, and `strict` on tools. */
  readonly takesSchema: boolean
}

/** The first match counts. An id may have a region prefix, or be the resource name of a profile. */
const FAMILIES: readonly (readonly [Family, RegExp])[] = [
  ['Claude', /claude/i],
  ['Nova 2', /nova-2/i],
  ['Nova', /nova-/i],
  ['gpt-oss', /gpt-oss/i],
  ['DeepSeek', /deepseek/i],
  ['Llama', /llama/i],
]

/**
 * By AWS's name of the model. An application inference profile has none; it is known by the model that it is configured
 * as. From the user guide's tables of supported models (2026).
 */
export function abilitiesOf(attempt: Attempt): Abilities {
  const { endpoint, model } = attempt
  const name = familyOf(endpoint.upstreamId) === 'other' ? model.id : endpoint.upstreamId
  const family = familyOf(name)
  const isClaude = family === 'Claude'
  // A name without a version is a current model.
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

/** The cache points that a model supports. */
interface Caching {
  readonly caches: boolean
  /** Cache points may last an hour. */
  readonly cachesAnHour: boolean
}

/**
 * A `cache_control` marker becomes a cache point, a block right after the marked one. The default lifetime is five minutes.
 * If the model lacks cache points, or this lifetime, the marker or its `ttl` is dropped by name.
 */
export function cachePointFor(
  extra: JsonObject | undefined,
  { caches, cachesAnHour }: Caching,
  drop: Drop,
): JsonObject[] {
  const marker = extra?.['cache_control']
  if (!isObject(marker)) return []
  if (!caches) {
    drop('cache_control')
    return []
  }
  const isLong = marker['ttl'] === '1h'
  if (isLong && !cachesAnHour) drop('cache_control.ttl')
  return [{ cachePoint: { type: 'default', ...(isLong && cachesAnHour ? { ttl: '1h' } : {}) } }]
}
