import type { FormerCall, JsonObject, ServerToolCall } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import { ITEM } from './items.ts'
import {
  createServerToolOutput,
  type Opened,
  type ServerToolOutput,
  type Slot,
  writeAdded,
} from './write-item.ts'
import { formerMcpCallOf, openMcp, writeApprovalRequest } from './write-mcp.ts'

/** OpenAI's shorthands have OpenAI's item, which its clients know, and so have images and searches of files; all others are named as in OpenRouter's API. */
export function itemTypeOf({ type, name, mcp, needsApproval }: ServerToolCall): string {
  if (needsApproval) return ITEM.mcpApprovalRequest
  if (mcp !== undefined) return ITEM.mcpCall
  if (type === ITEM.mcpListTools) return type
  if (name === 'image_generation') return ITEM.imageGenerationCall
  if (name === 'file_search') return ITEM.fileSearchCall
  return type.startsWith('web_search') ? ITEM.webSearchCall : `openrouter:${name}`
}

/** OpenAI's items: the event between their beginning and their end. */
export const STAGES: ReadonlyMap<string, string> = new Map([
  [ITEM.webSearchCall, 'searching'],
  [ITEM.fileSearchCall, 'searching'],
  [ITEM.imageGenerationCall, 'generating'],
])

export function openServerTool(slot: Slot, call: ServerToolCall): Opened<ServerToolOutput> {
  const type = itemTypeOf(call)
  if (type === ITEM.mcpApprovalRequest) return writeApprovalRequest(slot, call)
  if (type === ITEM.mcpCall || type === ITEM.mcpListTools) return openMcp(slot, call)
  const place = { item_id: slot.id, output_index: slot.index }
  const stage = STAGES.get(type)
  const report = (name: string): string =>
    stage === undefined ? '' : slot.events.write(`response.${type}.${name}`, place)
  const { id: call_id, arguments: args } = call
  const shared = { id: slot.id, type, call_id, arguments: JSON.stringify(args), ...argumentsOf(call, type) }
  // The items of OpenRouter's API have no status for a failure.
  const failed = stage === undefined ? 'incomplete' : 'failed'
  const item = createServerToolOutput(
    slot,
    type,
    { ...shared, status: 'incomplete' },
    ({ status, item: fields, text: output }) => {
      const isDone = status === 'completed'
      const shown = isDone ? fields : { error: output }
      return {
        text: report('completed'),
        item: { ...shared, ...shown, output, status: isDone ? 'completed' : failed },
      }
    },
  )
  const begun = { ...shared, status: 'in_progress' }
  return { text: writeAdded(slot, begun) + report('in_progress') + report(stage ?? ''), item }
}

/** Clients get the results of a search in files if `include` asks for them. */
export const withoutResults = (call: ServerToolCall): ServerToolCall =>
  itemTypeOf(call) === ITEM.fileSearchCall ? { ...call, item: { ...call.item, results: null } } : call

function argumentsOf({ arguments: args }: ServerToolCall, type: string): JsonObject {
  if (type === ITEM.imageGenerationCall) return { prompt: args['prompt'], result: null }
  if (type === ITEM.fileSearchCall) return { queries: [String(args['query'] ?? '')], results: null }
  if (type !== ITEM.webSearchCall && type !== 'openrouter:web_search') return {}
  return { action: { type: 'search', query: String(args['query'] ?? '') } }
}

/** OpenAI's items, by the tools that they are of. */
const NAMES: ReadonlyMap<string, string> = new Map([
  [ITEM.webSearchCall, 'web_search'],
  [ITEM.fileSearchCall, 'file_search'],
  [ITEM.imageGenerationCall, 'image_generation'],
])

/** The call that an item of `input` shows; null: it is not one of the gateway's tools. */
export function formerCallOf(item: JsonObject): FormerCall | 'shown' | null {
  const mcp = formerMcpCallOf(item)
  if (mcp !== null) return mcp
  const { type, call_id: id, arguments: json, output: result } = item
  if (!isString(type) || !isString(id) || !isString(json) || !isString(result)) return null
  const name = NAMES.get(type) ?? type.replace(/^openrouter:/, '')
  return name === type ? null : { id, name, arguments: json, result }
}
