import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { GATEWAY_FIELDS } from '../gateway-fields.ts'

/**
 * Fields that speak to the gateway alone: never sent to a provider. `fallbacks` is one of them where it lists
 * models; Anthropic's own word `default` goes through.
 */
export const NOT_SENT: ReadonlySet<string> = new Set([...GATEWAY_FIELDS, 'fallbacks', 'user'])

/** What the caller asked the gateway itself for, and nothing here does. */
export function unservedOf({ plugins }: JsonObject): string[] {
  const names: string[] = []
  for (const plugin of Array.isArray(plugins) ? plugins : []) {
    if (isObject(plugin) && plugin.enabled !== false) names.push(`plugins.${String(plugin.id)}`)
  }
  return names
}
