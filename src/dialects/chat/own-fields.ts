import type { JsonObject } from '../../core/events.ts'
import { GATEWAY_FIELDS } from '../gateway-fields.ts'
import { chatBody } from './schema.ts'

/** Fields that the neutral request holds, or that each egress carries or drops by name itself. */
const READ: ReadonlySet<string> = new Set([...Object.keys(chatBody.properties), ...GATEWAY_FIELDS])

/** Fields of a chat body that only chat completions can carry. Null, false and an empty list ask for nothing. */
export function ownFieldsOf(body: JsonObject): string[] | undefined {
  let names: string[] | undefined
  for (const name in body) {
    if (READ.has(name) || asksNothing(body[name])) continue
    names ??= []
    names.push(name)
  }
  return names
}

const asksNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0)
