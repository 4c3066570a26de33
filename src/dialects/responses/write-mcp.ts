import type { FormerCall, JsonObject, ServerToolCall } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import { shortName } from '../tool-names.ts'
import { ITEM } from './items.ts'
import {
  createServerToolOutput,
  type Opened,
  type ServerToolOutput,
  type Slot,
  writeAdded,
  writeDone,
} from './write-item.ts'

/** OpenAI's items for MCP servers, which the gateway called itself: `mcp_list_tools` and `mcp_call`. */
export function openMcp(slot: Slot, call: ServerToolCall): Opened<ServerToolOutput> {
  const { mcp, arguments: args, item: listing, approvalRequestId = null } = call
  const type = mcp === undefined ? ITEM.mcpListTools : ITEM.mcpCall
  const place = { item_id: slot.id, output_index: slot.index }
  const report = (step: string, more?: JsonObject): string =>
    slot.events.write(`response.${type}${step}`, { ...place, ...more })
  const json = JSON.stringify(args)
  const named = { id: slot.id, type, server_label: mcp?.label, name: mcp?.tool }
  const shared: JsonObject =
    mcp === undefined
      ? { id: slot.id, type, ...listing, error: null }
      : { ...named, arguments: json, approval_request_id: approvalRequestId, output: null, error: null }
  const unfinished = mcp === undefined ? shared : { ...shared, status: 'incomplete' }
  const item = createServerToolOutput(slot, type, unfinished, ({ status, text }) => {
    if (mcp === undefined) return { text: report('.completed'), item: shared }
    const isDone = status === 'completed'
    const shown = isDone ? { output: text } : { error: text }
    return { text: report(isDone ? '.completed' : '.failed'), item: { ...shared, ...shown, status } }
  })
  const begun =
    mcp === undefined ? { ...shared, tools: [] } : { ...shared, arguments: '', status: 'in_progress' }
  const written =
    mcp === undefined
      ? ''
      : report('_arguments.delta', { delta: json }) + report('_arguments.done', { arguments: json })
  return { text: writeAdded(slot, begun) + report('.in_progress') + written, item }
}

/** The item of a call that waits for the user's approval: complete at once, and it has no events of its own. */
export function writeApprovalRequest(
  slot: Slot,
  { mcp, arguments: args }: ServerToolCall,
): Opened<ServerToolOutput> {
  const type = ITEM.mcpApprovalRequest
  const complete = {
    id: slot.id,
    type,
    server_label: mcp?.label,
    name: mcp?.tool,
    arguments: JSON.stringify(args),
  }
  const none = (): string => ''
  const text = writeAdded(slot, complete) + writeDone(slot, complete)
  return { text, item: { slot, type, complete, close: none, finish: none } }
}

/** `shown`: a list of tools, which the gateway lists again. */
export function formerMcpCallOf(item: JsonObject): FormerCall | 'shown' | null {
  const { type, id, server_label, name, arguments: json, output, error } = item
  if (type === ITEM.mcpListTools) return 'shown'
  if (type !== ITEM.mcpCall || !isString(id) || !isString(json)) return null
  const result = isString(output) ? output : `The call failed: ${isString(error) ? error : ''}`
  return { ...callOf(id, server_label, name), arguments: json, result }
}

/**
 * The call of an `mcp_approval_request`, with what the model reads as its result; `shown`: the answer to one, and a request
 * whose call has an item of its own; null: another item.
 */
export function askedCallOf(
  { type, id, server_label, name, arguments: json }: JsonObject,
  results: ReadonlyMap<string, string>,
): FormerCall | 'shown' | null {
  if (type === ITEM.mcpApprovalResponse) return 'shown'
  if (type !== ITEM.mcpApprovalRequest || !isString(id) || !isString(json)) return null
  const result = results.get(id)
  return result === undefined ? 'shown' : { ...callOf(id, server_label, name), arguments: json, result }
}

/** Named as when the model called it. */
const callOf = (id: string, label: unknown, tool: unknown) => ({
  id,
  name: shortName(`${String(label)}_${String(tool)}`),
})
