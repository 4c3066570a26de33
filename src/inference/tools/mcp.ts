import { badRequest } from '../../core/errors.ts'
import type { FrameBatch, InferenceFrames, JsonObject } from '../../core/events.ts'
import { asList, fieldsOf, isObject, isString, textOf, textsIn } from '../../core/json.ts'
import type { McpAccess, McpSession, McpTool } from '../../core/mcp.ts'
import type { InferenceRequest, Tool } from '../../core/request.ts'
import { shortName } from '../../dialects/tool-names.ts'
import type { ServerTool } from '../../tools/tool.ts'
import { enabledNames } from './mcp-servers.ts'

/** A tool of an MCP server, as a tool of the loop. */
export interface McpFunction {
  readonly tool: ServerTool
  readonly mcp: { readonly label: string; readonly tool: string }
  /** Of the user, before each call. */
  readonly needsApproval: boolean
}

/** The MCP servers of one request. */
export interface McpRequest {
  /** By the entry of the request's tools. */
  readonly functions: ReadonlyMap<Tool, readonly McpFunction[]>
  /** What the caller is shown. */
  readonly listings: readonly JsonObject[]
  /** Ends the sessions. */
  close(): void
}

const MOST_TOOLS = 128
const isMcp = (tool: Tool): tool is Extract<Tool, { type: 'other' }> =>
  tool.type === 'other' && tool.data['type'] === 'mcp'

/** True for a request that names an MCP server, the operator's or another. */
export const hasMcp = ({ tools }: InferenceRequest): boolean => tools.some(isMcp)

/**
 * The tools of the operator's MCP servers that a request names. Null: it names servers of others alone, which a provider of
 * Responses calls itself. Throws a `GatewayError` 400 with the place, and that of a server that cannot list its tools.
 */
export async function mcpRequestOf(request: InferenceRequest, access: McpAccess): Promise<McpRequest | null> {
  const entries = request.tools.filter(isMcp)
  const places = asList(request.body['tools']).flatMap((tool, i) =>
    isObject(tool) && tool['type'] === 'mcp' ? [`tools[${i}]`] : [],
  )
  const isMessages = request.dialect === 'messages'
  const placeOf = (i: number): string => (isMessages ? `mcp_servers[${i}]` : (places[i] ?? 'tools'))
  const labels = entries.map(({ data }, i) => labelOf(data, placeOf(i), request, access))
  if (labels.every((label) => label === null)) return null
  for (const [i, label] of labels.entries()) {
    if (label === null) throw unknownServer(placeOf(i), 'server_label', access)
    if (labels.indexOf(label) < i) throw badRequest(`"${label}" is there twice`, `${placeOf(i)}.server_label`)
    checkFields(entries[i]?.data ?? {}, placeOf(i))
  }
  const chosen = await Promise.all(
    entries.map(async (entry, i) => {
      const label = labels[i] ?? ''
      const { data } = entry
      const all = await access.list(label)
      const tools = isMessages ? enabledIn(all, data, placeOf(i)) : allowedIn(all, data, placeOf(i))
      const needsApproval = approvalRule(all, tools, data, placeOf(i), request)
      // Messages names the server itself.
      return { entry, label, tools, needsApproval, name: isMessages ? textOf(data['name']) : label }
    }),
  )
  if (chosen.reduce((sum, { tools }) => sum + tools.length, 0) > MOST_TOOLS)
    throw badRequest(
      `The MCP servers have more than ${MOST_TOOLS} tools together: choose some in allowed_tools`,
      'tools',
    )
  const sessions: McpSession[] = []
  const functions = new Map<Tool, McpFunction[]>()
  for (const { entry, label, tools, needsApproval, name } of chosen) {
    const session = access.open(label)
    sessions.push(session)
    functions.set(
      entry,
      tools.map((tool) => functionOf(name, tool, session, needsApproval(tool))),
    )
  }
  return {
    functions,
    listings: chosen.map(({ label, tools }) => ({ server_label: label, tools: tools.map(viewTool) })),
    close() {
      for (const session of sessions) session.close()
    },
  }
}

const unknownServer = (place: string, field: string, { servers }: McpAccess) =>
  badRequest(
    servers.length === 0
      ? 'names no MCP server of this gateway: its operator has listed none in mcp_servers of sluice.yaml'
      : `names no MCP server of this gateway. It has ${servers.map(({ label }) => label).join(', ')}`,
    `${place}.${field}`,
  )

/** The operator's server of an entry; null: one that is left to a provider of Responses. */
function labelOf(
  { server_label, server_url, connector_id, tunnel_id }: JsonObject,
  place: string,
  { dialect }: InferenceRequest,
  access: McpAccess,
): string | null {
  const server = access.servers.find(({ label }) => label === server_label)
  const address = isString(server_url) && server_url.length <= 2_000 ? URL.parse(server_url)?.href : undefined
  const hasAddress = server_url !== undefined && server_url !== null
  if (server !== undefined) {
    const other = connector_id ? 'connector_id' : tunnel_id ? 'tunnel_id' : 'server_url'
    if (other === 'server_url' && (!hasAddress || address === server.url)) return server.label
    throw badRequest(
      `is not the address of the MCP server "${server.label}" of this gateway: leave it out`,
      `${place}.${other}`,
    )
  }
  const isOwn = access.servers.some(({ url }) => url === address)
  if (dialect === 'responses' && (hasAddress || connector_id || tunnel_id) && !isOwn) return null
  throw unknownServer(place, 'server_label', access)
}

function checkFields({ headers, authorization, defer_loading }: JsonObject, place: string) {
  for (const [name, value] of Object.entries({ headers, authorization }))
    if (value !== undefined && value !== null)
      throw badRequest(
        'is not available for an MCP server of this gateway: its operator has set its headers',
        `${place}.${name}`,
      )
  if (defer_loading === true)
    throw badRequest('is not available for an MCP server of this gateway', `${place}.defer_loading`)
}

/** Which of the tools run only after an approval: all but those of `never`, as in OpenAI's API. Only Responses can ask. */
function approvalRule(
  all: readonly McpTool[],
  tools: readonly McpTool[],
  { require_approval }: JsonObject,
  place: string,
  { dialect }: InferenceRequest,
): (tool: McpTool) => boolean {
  const path = `${place}.require_approval`
  const rule = require_approval ?? 'always'
  if (rule === 'never') return () => false
  const isRule = isObject(rule) && Object.keys(rule).every((key) => key === 'always' || key === 'never')
  if (rule !== 'always' && !isRule)
    throw badRequest('must be "always", "never", or an object with filters always and never', path)
  const { always, never } = fieldsOf(rule)
  const named = (filter: unknown, key: string) => (filter ? matching(all, filter, `${path}.${key}`) : [])
  const [asked, free] = [named(always, 'always'), named(never, 'never')]
  const needsApproval = (tool: McpTool): boolean => asked.includes(tool) || !free.includes(tool)
  if (dialect !== 'responses' && tools.some(needsApproval))
    throw badRequest(
      'must be "never": only Responses can ask for an approval, which is the default, before a call',
      path,
    )
  return needsApproval
}

const allowedIn = (all: readonly McpTool[], { allowed_tools }: JsonObject, place: string) =>
  matching(all, allowed_tools, `${place}.allowed_tools`)

function enabledIn(all: readonly McpTool[], { allowed_tools, toolset }: JsonObject, place: string) {
  const names = isObject(toolset)
    ? enabledNames(
        toolset,
        all.map(({ name }) => name),
      )
    : allowed_tools
  return matching(all, names, `${place}.tool_configuration.allowed_tools`)
}

function matching(tools: readonly McpTool[], wanted: unknown, path: string): readonly McpTool[] {
  if (wanted === undefined || wanted === null) return tools
  const filter = Array.isArray(wanted) ? { tool_names: wanted } : fieldsOf(wanted)
  const { tool_names, read_only } = filter
  if (!isFilter(wanted) || !isNames(tool_names))
    throw badRequest('must be a list of names of tools, or an object with tool_names and read_only', path)
  const names = new Set(textsIn(tool_names))
  const missing = [...names].find((name) => tools.every((tool) => tool.name !== name))
  if (missing !== undefined)
    throw badRequest(
      `names ${JSON.stringify(missing.slice(0, 60))}, which the server does not have. It has ${tools
        .slice(0, 20)
        .map(({ name }) => name)
        .join(', ')}`,
      path,
    )
  return tools.filter(
    ({ name, annotations }) =>
      (tool_names === undefined || tool_names === null || names.has(name)) &&
      (typeof read_only !== 'boolean' || (annotations['readOnlyHint'] === true) === read_only),
  )
}

const isFilter = (allowed: unknown): boolean => Array.isArray(allowed) || isObject(allowed)
const isNames = (names: unknown): boolean =>
  names === undefined ||
  names === null ||
  (Array.isArray(names) && names.length <= 1_000 && names.every(isString))

function functionOf(
  label: string,
  { name, description, inputSchema }: McpTool,
  session: McpSession,
  needsApproval: boolean,
): McpFunction {
  const tool: ServerTool = {
    name: shortName(`${label}_${name}`),
    describe: () => ({ description, parameters: inputSchema }),
    run: async (args, { signal }) => ({ text: await session.call(name, args, signal) }),
  }
  return { tool, mcp: { label, tool: name }, needsApproval }
}

const viewTool = ({ name, description, inputSchema, annotations }: McpTool): JsonObject => ({
  name,
  description,
  input_schema: inputSchema,
  annotations,
})

type ByFunction = ReadonlyMap<string, { readonly mcp?: McpFunction['mcp'] }>

/** The name of the function for a tool of a server. */
export function functionNamed(label: unknown, name: unknown, byFunction: ByFunction): string | undefined {
  for (const [own, { mcp }] of byFunction) if (mcp?.label === label && mcp?.tool === name) return own
  return undefined
}

/** A choice of one tool of a server is a choice of its function. */
export function mcpChoice({ server_label, name }: JsonObject, byFunction: ByFunction): string {
  const own = functionNamed(server_label, name, byFunction)
  if (own !== undefined) return own
  throw badRequest('must name a tool that an MCP server of the request has', 'tool_choice.name')
}

/** The frames of a loop, at whose end the sessions end. Responses shows the tools of each server before it calls one. */
export function withMcp(
  frames: InferenceFrames,
  mcp: McpRequest | null,
  { dialect }: InferenceRequest,
): InferenceFrames {
  return mcp === null ? frames : listedFirst(frames, mcp, dialect === 'responses')
}

async function* listedFirst(
  frames: InferenceFrames,
  mcp: McpRequest,
  isShown: boolean,
): AsyncGenerator<FrameBatch> {
  try {
    if (isShown) for (const item of mcp.listings) yield [{ events: listingEvents(item) }]
    yield* frames
  } finally {
    mcp.close()
  }
}

const LISTING = 'mcp_list_tools'
const listingEvents = (item: JsonObject) =>
  (['in_progress', 'completed'] as const).map((status) => ({
    type: 'server-tool' as const,
    call: { id: '', name: LISTING, type: LISTING, arguments: {}, text: '', item, status },
  }))
