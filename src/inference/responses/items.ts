import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'

/** Prefixes of the ids that we give to items without one; any other type is `item`. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
}

/** The `input` of a request as items: a string is a user's message. Null: neither a text nor a list of objects. */
export function inputItems(input: unknown): JsonObject[] | null {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  if (input === undefined || input === null) return []
  return Array.isArray(input) && input.every(isObject) ? input : null
}

/** `{type: 'item_reference', id}`; clients leave the type out too. */
export const isReference = (item: JsonObject): item is JsonObject & { id: string } =>
  typeof item['id'] === 'string' &&
  (item['type'] === 'item_reference' ||
    ((item['type'] === undefined || item['type'] === null) && item['role'] === undefined))

/** The output items of a Response object. */
export const outputItems = ({ output }: JsonObject): JsonObject[] =>
  Array.isArray(output) ? output.filter(isObject) : []

export const idOf = (item: JsonObject): string | null =>
  typeof item['id'] === 'string' && item['id'] !== '' ? item['id'] : null

/**
 * An item of a response's own input as it is shown and found: with a type, and with an id. One that came without is
 * named after its place, so that it needs no room and is never sent to a provider.
 */
export function shownItem(item: JsonObject, responseId: string, index: number): JsonObject & { id: string } {
  const type = typeof item['type'] === 'string' ? item['type'] : 'message'
  const digits = responseId.slice(responseId.indexOf('_') + 1)
  const id = idOf(item) ?? `${PREFIXES[type] ?? 'item'}_${digits}${index.toString(16).padStart(4, '0')}`
  return { ...item, type, id, ...(type === 'message' ? { content: shownContent(item) } : {}) }
}

/** Lists show a message's content as parts, however it was sent. */
function shownContent({ role, content }: JsonObject): unknown {
  if (typeof content !== 'string') return content ?? []
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [] }]
    : [{ type: 'input_text', text: content }]
}
