import type { FormerCall, JsonObject, ServerToolCall } from '../../core/events.ts'
import { fieldsOf, isString, objectsIn, textOf } from '../../core/json.ts'
import { shortName } from '../tool-names.ts'
import { OWN_BLOCK } from './fields.ts'
import { addBlock, type BlockState } from './write-state.ts'

/**
 * A call of the gateway's own tools as blocks: `server_tool_use` when it starts, then the block of its result. Searches
 * and fetches have Anthropic's blocks; those of other tools are named alike and hold the text.
 */
export function writeServerTool(call: ServerToolCall, state: BlockState): void {
  const { name, status, arguments: input, mcp } = call
  const id = blockIdOf(call)
  if (mcp !== undefined) addBlock(state, mcpBlockOf(call, mcp, id))
  else if (status === 'in_progress') addBlock(state, { type: 'server_tool_use', id, name, input })
  else addBlock(state, { type: `${name}_tool_result`, tool_use_id: id, content: contentOf(call) })
}

const mcpBlockOf = (
  { status, arguments: input, text }: ServerToolCall,
  { label, tool }: NonNullable<ServerToolCall['mcp']>,
  id: string,
): JsonObject =>
  status === 'in_progress'
    ? { type: 'mcp_tool_use', id, name: tool, server_name: label, input }
    : {
        type: 'mcp_tool_result',
        tool_use_id: id,
        is_error: status === 'failed',
        content: [{ type: 'text', text }],
      }

const blockIdOf = ({ id }: ServerToolCall): string => `${OWN_BLOCK}${id.replace(/[^A-Za-z0-9_]/g, '_')}`

type Source = NonNullable<ServerToolCall['sources']>[number]

function contentOf({ name, status, text, item, sources = [] }: ServerToolCall): unknown {
  if (status === 'failed') return { type: `${name}_tool_result_error`, error_code: 'unavailable' }
  if (name === 'web_search') return sources.map(searchResult)
  if (name !== 'web_fetch') return [{ type: 'text', text }]
  const { url = null, title = null } = item
  const source = { type: 'text', media_type: 'text/plain', data: text }
  const document = { type: 'document', source, title }
  return { type: 'web_fetch_result', url, content: document, retrieved_at: null }
}

const searchResult = ({ url, title, published }: Source): JsonObject => ({
  type: 'web_search_result',
  url,
  title,
  encrypted_content: '',
  page_age: published ?? null,
})

/**
 * The call that a block and the one behind it show; `shown`: a result, which comes with its call; null: a block that is not
 * one of the gateway's tools.
 */
export function formerCallOf(block: JsonObject, next: JsonObject): FormerCall | 'shown' | null {
  const { type, id, name, input, tool_use_id, server_name } = block
  if (isString(tool_use_id) && tool_use_id.startsWith(OWN_BLOCK)) return 'shown'
  if (!CALLS.has(type) || !isString(id) || !isString(name) || !id.startsWith(OWN_BLOCK)) return null
  const result = next['tool_use_id'] === id ? resultIn(next['content']) : 'The result is not known any more'
  const own = isString(server_name) ? shortName(`${server_name}_${name}`) : name
  return { id: id.slice(OWN_BLOCK.length), name: own, arguments: JSON.stringify(fieldsOf(input)), result }
}

const CALLS: ReadonlySet<unknown> = new Set(['server_tool_use', 'mcp_tool_use'])

function resultIn(content: unknown): string {
  if (Array.isArray(content))
    return objectsIn(content)
      .map(({ text, title, url }) => textOf(text) || `${textOf(title)}\n${textOf(url)}`)
      .join('\n\n')
  const { content: document, error_code } = fieldsOf(content)
  if (error_code !== undefined) return 'The call failed'
  return textOf(fieldsOf(fieldsOf(document)['source'])['data'])
}
