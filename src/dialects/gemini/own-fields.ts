import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { GATEWAY_FIELDS } from '../gateway-fields.ts'

/** Fields that speak to the gateway alone, and those that stand in the path of a call: never in a body that is sent. */
export const NOT_SENT: ReadonlySet<string> = new Set([...GATEWAY_FIELDS, 'model', 'stream', 'user'])

/** What the caller asked the gateway itself for, and nothing here does. */
export function unservedOf({ plugins }: JsonObject): string[] {
  const names: string[] = []
  for (const plugin of Array.isArray(plugins) ? plugins : []) {
    if (isObject(plugin) && plugin.enabled !== false) names.push(`plugins.${String(plugin.id)}`)
  }
  return names
}
