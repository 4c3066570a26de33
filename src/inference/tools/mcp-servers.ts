import type { Caller } from '../../core/caller.ts'
import { badRequest } from '../../core/errors.ts'
import { asList, fieldsOf, isObject, isString, type JsonObject, objectsIn, restOf } from '../../core/json.ts'
import type { McpAccess } from '../../core/mcp.ts'
import type { InferenceRequest, Tool } from '../../core/request.ts'
import { checkAllowed, typeOf } from './allowed.ts'

/**
 * Anthropic's `mcp_servers` and `mcp_toolset` (betas mcp-client-2025-04-04 and 2025-11-20) that name servers of the operator,
 * as tools of the type `mcp`. Servers of others are left to a provider of Messages, which calls them itself. Throws a
 * `GatewayError` 400 with the place, and 403 for a caller that may not use MCP.
 */
export function withMcpServers(
  request: InferenceRequest,
  caller: Caller,
  { servers: known }: Pick<McpAccess, 'servers'>,
): InferenceRequest {
  const listed = request.dialect === 'messages' ? objectsIn(request.body['mcp_servers']) : []
  if (listed.length === 0) return request
  checkAllowed([MCP], caller)
  const labels = listed.map((server, i) => labelOf(server, `mcp_servers[${i}]`, known))
  if (labels.every((label) => label === null)) return request
  refuseListings(request.body)
  const toolsets = toolsetsOf(request, listed)
  const entries = listed.map((server, i): Tool => {
    const place = `mcp_servers[${i}]`
    const label = labels[i]
    if (label === null || label === undefined)
      throw badRequest(
        'is not an MCP server of this gateway, but others in mcp_servers are: a request cannot have both',
        `${place}.url`,
      )
    return { type: 'other', data: { ...entryOf(server, toolsets, place), server_label: label } }
  })
  const { serverTool: _, ...rest } = request
  return {
    ...rest,
    body: restOf(request.body, SERVERS) ?? {},
    tools: [...request.tools.filter((tool) => typeOf(tool) !== TOOLSET), ...entries],
  }
}

const TOOLSET = 'mcp_toolset'
const MCP: Tool = { type: 'other', data: { type: 'mcp' } }
const SERVERS = new Set(['mcp_servers'])

/** Anthropic's form of a listing that is sent back in place of a new one. */
function refuseListings({ messages }: JsonObject): void {
  for (const [i, message] of asList(messages).entries())
    for (const [at, block] of asList(fieldsOf(message)['content']).entries())
      if (fieldsOf(block)['type'] === 'mcp_tool_listing')
        throw badRequest(
          'is a listing of tools, and this gateway lists those of its MCP servers itself: leave the block out',
          `messages[${i}].content[${at}]`,
        )
}

/** The label of the operator's server with this `url`, or with this `name` if there is no `url`; null: it has none. */
function labelOf({ name, url }: JsonObject, place: string, servers: McpAccess['servers']): string | null {
  const href = isString(url) && url.length <= 2_000 ? URL.parse(url)?.href : undefined
  const server = servers.find((each) => (url ? each.url === href : each.label === name))
  if (server !== undefined) return server.label
  if (!url) throw badRequest('names no MCP server of this gateway', `${place}.name`)
  return null
}

function entryOf(server: JsonObject, toolsets: ReadonlyMap<unknown, JsonObject>, place: string): JsonObject {
  const { name, authorization_token, tool_configuration } = server
  if (!isString(name) || name === '') throw badRequest('must be a name', `${place}.name`)
  if (authorization_token !== undefined && authorization_token !== null)
    throw badRequest(
      'is not available for an MCP server of this gateway: its operator has set its headers',
      `${place}.authorization_token`,
    )
  const { enabled, allowed_tools } = fieldsOf(tool_configuration)
  const toolset = toolsets.get(name)
  if (toolset !== undefined && tool_configuration)
    throw badRequest('is the older form of an mcp_toolset: send one of them', `${place}.tool_configuration`)
  return {
    type: 'mcp',
    name,
    require_approval: 'never',
    allowed_tools: enabled === false ? [] : allowed_tools,
    toolset,
  }
}

/** By the names of their servers. */
function toolsetsOf({ body }: InferenceRequest, servers: readonly JsonObject[]): Map<unknown, JsonObject> {
  const toolsets = new Map<unknown, JsonObject>()
  for (const [i, { type, mcp_server_name: name, ...toolset }] of objectsIn(body['tools']).entries()) {
    if (type !== TOOLSET) continue
    const place = `tools[${i}].mcp_server_name`
    if (servers.every((server) => server['name'] !== name))
      throw badRequest('must be the name of one of mcp_servers', place)
    if (toolsets.has(name)) throw badRequest('is there twice: a server has one mcp_toolset', place)
    const configs = Object.values(fieldsOf(toolset['configs']))
    if ([toolset['default_config'], ...configs].some((config) => fieldsOf(config)['defer_loading'] === true))
      throw badRequest('defers loading, which this gateway does not', `tools[${i}]`)
    if (toolset['tools'])
      throw badRequest('is not available: this gateway lists the tools itself', `tools[${i}].tools`)
    toolsets.set(name, toolset)
  }
  return toolsets
}

/** The server's tools that a toolset enables. */
export function enabledNames(
  { default_config, configs }: JsonObject,
  names: readonly string[],
): readonly string[] {
  const byName = fieldsOf(configs)
  const missing = Object.keys(byName).find((name) => !names.includes(name))
  if (missing !== undefined)
    throw badRequest(
      `names ${JSON.stringify(missing.slice(0, 60))}, which the server does not have. It has ${names.slice(0, 20).join(', ')}`,
      'tools.configs',
    )
  const isOn = (config: unknown): boolean | undefined => {
    const { enabled } = isObject(config) ? config : {}
    return typeof enabled === 'boolean' ? enabled : undefined
  }
  return names.filter((name) => isOn(byName[name]) ?? isOn(default_config) ?? true)
}
