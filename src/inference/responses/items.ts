import type { JsonObject } from '../../core/events.ts'
import { isObject, restOf } from '../../core/json.ts'

/** Prefixes of generated item ids; `item` for any other type. */
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

/** True for `{type: 'item_reference', id}`; some clients omit the type. */
export const isReference = (item: JsonObject): item is JsonObject & { id: string } =>
  typeof item['id'] === 'string' &&
  (item['type'] === 'item_reference' ||
    ((item['type'] === undefined || item['type'] === null) && item['role'] === undefined))

/** The output items of a Response object. */
export const outputItems = ({ output }: JsonObject): JsonObject[] =>
  Array.isArray(output) ? output.filter(isObject) : []

export const idOf = (item: JsonObject): string | null =>
  typeof item['id'] === 'string' && item['id'] !== '' ? item['id'] : null

/** The approval that a call of an MCP server had; null for any other item. */
export const approvalOf = ({ type, approval_request_id: id }: JsonObject): string | null =>
  type === 'mcp_call' && typeof id === 'string' ? id : null

/**
 * An input item in the form that callers see, with a type and an id. An id that the caller did not send is derived from
 * the item's position, so that it is neither stored nor sent to a provider.
 */
export function shownItem(item: JsonObject, responseId: string, index: number): JsonObject & { id: string } {
  const type = typeof item['type'] === 'string' ? item['type'] : 'message'
  const digits = responseId.slice(responseId.indexOf('_') + 1)
  const id = idOf(item) ?? `${PREFIXES[type] ?? 'item'}_${digits}${index.toString(16).padStart(4, '0')}`
  return { ...item, type, id, ...(type === 'message' ? { content: shownContent(item) } : {}) }
}

/** A message's content as a list of parts. */
function shownContent({ role, content }: JsonObject): unknown {
  if (typeof content !== 'string') return content ?? []
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [] }]
    : [{ type: 'input_text', text: content }]
}

const LOGPROBS = new Set(['logprobs'])

/**
 * Removes log probabilities: they are not input, and are the largest part of a reply that has them. They are not read
 * either, because a long list is parsed from its text when it is.
 */
export function withoutLogprobs(item: JsonObject): JsonObject {
  const { content } = item
  if (!Array.isArray(content)) return item
  return {
    ...item,
    content: content.map((part: unknown) => {
      if (!isObject(part)) return part
      return restOf(part, LOGPROBS) ?? {}
    }),
  }
}
