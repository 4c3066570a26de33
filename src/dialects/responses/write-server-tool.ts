import type { FormerCall, JsonObject, ServerToolCall } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import { ITEM } from './items.ts'
import { type Opened, type ServerToolOutput, type Slot, writeAdded, writeDone } from './write-item.ts'
import { formerMcpCallOf, openMcp } from './write-mcp.ts'

/** OpenAI's shorthands have OpenAI's item, which its clients know; all others are named as in OpenRouter's API. */
export function itemTypeOf({ type, name, mcp }: ServerToolCall): string {
  if (mcp !== undefined) return ITEM.mcpCall
  if (type === ITEM.mcpListTools) return type
  return type.startsWith('web_search') ? ITEM.webSearchCall : `openrouter:${name}`
}

/** The events of OpenAI's item between `output_item.added` and `output_item.done`. */
const SEARCH = 'response.web_search_call'

export function openServerTool(slot: Slot, call: ServerToolCall): Opened<ServerToolOutput> {
  const type = itemTypeOf(call)
  if (type === ITEM.mcpCall || type === ITEM.mcpListTools) return openMcp(slot, call)
  const place = { item_id: slot.id, output_index: slot.index }
  const report = (stage: string): string =>
    type === ITEM.webSearchCall ? slot.events.write(`${SEARCH}.${stage}`, place) : ''
  const { id: call_id, arguments: args } = call
  const shared = { id: slot.id, type, call_id, arguments: JSON.stringify(args), ...argumentsOf(call, type) }
  let complete: JsonObject | null = null
  const done = (item: JsonObject): string => {
    complete = item
    return writeDone(slot, item)
  }
  const item: ServerToolOutput = {
    slot,
    type,
    get complete() {
      return complete
    },
    // It stays open until its result is there.
    mayGoOn: () => complete === null,
    close: () => (complete === null ? done({ ...shared, status: 'incomplete' }) : ''),
    finish({ status, item: fields, text }) {
      if (complete !== null) return ''
      const isDone = status === 'completed'
      // The items of OpenRouter's API have no status for a failure.
      const failed = type === ITEM.webSearchCall ? 'failed' : 'incomplete'
      const shown = isDone ? fields : { error: text }
      return (
        report('completed') +
        done({ ...shared, ...shown, output: text, status: isDone ? 'completed' : failed })
      )
    },
  }
  const begun = { ...shared, status: 'in_progress' }
  return { text: writeAdded(slot, begun) + report('in_progress') + report('searching'), item }
}

function argumentsOf({ arguments: args }: ServerToolCall, type: string): JsonObject {
  if (type !== ITEM.webSearchCall && type !== 'openrouter:web_search') return {}
  return { action: { type: 'search', query: String(args['query'] ?? '') } }
}

/** The call that an item of `input` shows; null: it is not one of the gateway's tools. */
export function formerCallOf(item: JsonObject): FormerCall | 'shown' | null {
  const mcp = formerMcpCallOf(item)
  if (mcp !== null) return mcp
  const { type, call_id: id, arguments: json, output: result } = item
  if (!isString(type) || !isString(id) || !isString(json) || !isString(result)) return null
  const name = type === ITEM.webSearchCall ? 'web_search' : type.replace(/^openrouter:/, '')
  return name === type ? null : { id, name, arguments: json, result }
}
