import type { Caller } from '../../core/caller.ts'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { asList, defined, fieldsOf, isObject, isString, objectsIn, restOf } from '../../core/json.ts'
import type {
  FunctionTool,
  InferenceRequest,
  Message,
  RoutedRequest,
  Tool,
  ToolChoice,
} from '../../core/request.ts'
import type { ToolAccess } from '../../core/tool-access.ts'
import type { WebAccess } from '../../core/web-access.ts'
import { isNativeSearch } from '../../dialects/native-search.ts'
import { shortName } from '../../dialects/tool-names.ts'
import { serverTools } from '../../tools/index.ts'
import type { ServerTool } from '../../tools/tool.ts'
import { checkAllowed, PREFIX, typeOf } from './allowed.ts'
import { type ApprovedCall, approvalsOf } from './approvals.ts'
import { withFormerCalls } from './former-calls.ts'
import { functionNamed, type McpFunction, type McpRequest, mcpChoice } from './mcp.ts'
import { type StopRule, stopRuleOf } from './stop.ts'

/** A server tool of one request. */
export interface RequestedTool {
  readonly tool: ServerTool
  /** As the request has it in `tools`. */
  readonly type: string
  readonly parameters: JsonObject
  /** Of the parameters in the request. */
  readonly path: string
  readonly mcp?: McpFunction['mcp']
  /** Of the user, before each call. */
  readonly needsApproval?: boolean
}

/** A request with server tools, in the form that its first step is made with. */
export interface ToolRequest {
  /** With a function in place of each server tool. */
  readonly request: InferenceRequest
  /** By the name of the function. */
  readonly byFunction: ReadonlyMap<string, RequestedTool>
  readonly stop: StopRule
  readonly mcp: McpRequest | null
  /** Made before the first step. */
  readonly approved: readonly ApprovedCall[]
  /** The conversation with the results of these calls, by the ids of their requests. */
  answered(results: ReadonlyMap<string, string>): Message[]
}

/** OpenAI's names of its search. */
const SHORTHANDS: ReadonlySet<unknown> = new Set([
  'web_search',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'web_search_2025_08_26',
])
/** Tools that run programs for a model, by their names in every dialect. */
const PROGRAMS =
  /^(?:openrouter:|sluice:)?(?:code_interpreter|code_execution|bash|shell|apply_patch|computer|computer_use|text_editor)(?:_preview|_call)?(?:_\d{4}_?\d{2}_?\d{2})?$/

/**
 * The tools that the gateway runs for this request; null without any. Throws a `GatewayError`: 403 for a tool that the
 * workspace or a guardrail has disabled, 400 for one that the gateway does not know or whose parameters are wrong.
 */
export function toolRequestOf(
  request: InferenceRequest,
  caller: Caller,
  access: ToolAccess,
  mcp: McpRequest | null,
): ToolRequest | null {
  if (request.tools.every(isFunction)) return null
  checkAllowed(request.tools, caller)
  const toolOf = finderOf(request, access)
  // A request with a tool that another gateway runs goes there whole.
  if (
    (mcp === null && !request.tools.some((tool) => toolOf(tool) !== null)) ||
    request.tools.some((tool) => PREFIX.test(typeOf(tool)) && toolOf(tool) === null)
  )
    return null
  if ((request.choiceCount ?? 1) > 1) throw badRequest('must be 1 for a request with server tools', 'n')
  const taken = new Set(request.tools.flatMap((tool) => (tool.type === 'function' ? [tool.name] : [])))
  const byFunction = new Map<string, RequestedTool>()
  const byType = new Map<string, string>()
  const tools = request.tools.flatMap((tool): Tool[] => {
    const functions = mcp?.functions.get(tool)
    if (functions !== undefined) return functions.map((each) => added(each, taken, byFunction, access))
    const found = toolOf(tool)
    if (found === null || tool.type === 'function') return [tool]
    const { type, parameters, path } = entryOf(tool.data, request)
    const name = freeName(found.name, taken)
    if ([...byFunction.values()].some((other) => other.tool === found))
      throw badRequest(`"${found.name}" is there twice: name each server tool once`, path)
    byFunction.set(name, { tool: found, type, parameters, path })
    byType.set(type, name)
    if (isString(tool.data['name'])) byType.set(tool.data['name'], name)
    return [{ type: 'function', name, ...found.describe(parameters, path, access) } satisfies FunctionTool]
  })
  const { serverTool: _, ...rest } = request
  const toolChoice = chosen(request.toolChoice, byType, byFunction, mcp)
  const { approved, results } = approvalsOf(request, (label, name) => functionNamed(label, name, byFunction))
  return {
    request: {
      ...rest,
      messages: withFormerCalls(request.messages, results),
      tools,
      ...(toolChoice && { toolChoice }),
      // A server that is not the operator's is called by the provider.
      ...(tools.some((tool) => typeOf(tool) === 'mcp') && { serverTool: 'mcp' }),
      rewritten: true,
      isLoop: true,
    },
    byFunction,
    stop: stopRuleOf(request.body),
    mcp,
    approved,
    answered: (made) => withFormerCalls(request.messages, new Map([...results, ...made])),
  }
}

/** What the tools of a request check before it begins; null: nothing. Rejects with the caller's error. */
export function checksOf({ byFunction }: ToolRequest, access: ToolAccess): Promise<unknown> | null {
  const checks = [...byFunction.values()].flatMap(({ tool, parameters, path }) =>
    tool.check === undefined ? [] : [tool.check(parameters, path, access)],
  )
  return checks.length === 0 ? null : Promise.all(checks)
}

/** The sentence about a tool that the gateway does not run and the endpoint's provider does not either. */
export function notRun(first: string, { body }: RoutedRequest): string {
  const types = objectsIn(body['tools']).map((tool) => String(tool['type']))
  const type = types.find((each) => PREFIX.test(each) && named(each.replace(PREFIX, '')) === null) ?? first
  const shown = JSON.stringify(type.slice(0, 60))
  if (type === 'mcp')
    return `${shown} names a server that the operator has not listed in mcp_servers: only providers of the same API call it`
  return PROGRAMS.test(type)
    ? `${shown} runs programs of a model, and this gateway runs none: use a provider that has the tool itself, or a function that your program runs`
    : `${shown} is not a tool that this gateway runs. It runs ${serverTools.map(({ name }) => `openrouter:${name}`).join(', ')}`
}

const isFunction = ({ type }: Tool): boolean => type === 'function'

/** Finds the gateway's tool of an entry; null: the entry is another kind of tool. */
const finderOf =
  (request: InferenceRequest, access: ToolAccess) =>
  (tool: Tool): ServerTool | null => {
    const { web } = access
    const type = typeOf(tool)
    if (isNativeSearch(tool)) return meansOurs(request, access) ? named('web_search') : null
    if (SHORTHANDS.has(type) && tool.type === 'other')
      return meansOwnSearch(tool.data, request, web) ? named('web_search') : null
    if (type === FILE_SEARCH && tool.type === 'other')
      return namesOwnFiles(tool.data) ? named(FILE_SEARCH) : null
    return PREFIX.test(type) ? named(type.replace(PREFIX, '')) : null
  }

/** OpenAI's name of its search. It is the gateway's if it names files of the gateway where OpenAI has vector stores. */
const FILE_SEARCH = 'file_search'
const namesOwnFiles = ({ vector_store_ids, file_ids }: JsonObject): boolean =>
  [...asList(vector_store_ids), ...asList(file_ids)].some(
    (id) => isString(id) && /^file_[0-9a-f]{32}$/.test(id),
  )

const named = (name: string): ServerTool | null => serverTools.find((each) => each.name === name) ?? null

/** Anthropic's search is the gateway's where no provider of the models has it, if the gateway has an engine. */
const meansOurs = ({ dialect, models }: InferenceRequest, { web, searchesItself }: ToolAccess): boolean =>
  dialect === 'messages' && !searchesItself(models) && hasEngine(web)

/**
 * A shorthand names the search of the gateway if it names one of its engines; without an engine in chat completions, whose
 * providers hardly have a search of their own, if the gateway has any. Everywhere else it is the provider's tool.
 */
function meansOwnSearch(
  { engine = 'auto', web_search }: JsonObject,
  { dialect }: InferenceRequest,
  web: WebAccess,
) {
  if (engine === 'native') return false
  if (engine !== 'auto') return true
  return dialect === 'chat' && web_search === undefined && hasEngine(web)
}

function hasEngine(web: WebAccess): boolean {
  try {
    return web.prepareSearch({}, 'tools').engine !== ''
  } catch {
    return false
  }
}

const NAMED = new Set(['type', 'parameters', 'cache_control'])

/** Anthropic's tools have a date, and a name beside it. */
const isDated = (type: string): boolean => /_\d{8}$/.test(type)
const NAMED_DATED = new Set([...NAMED, 'name'])
const renamed = ({ blocked_domains, ...parameters }: JsonObject): JsonObject =>
  defined({ ...parameters, excluded_domains: blocked_domains ?? undefined })

/** The parameters are a field of their own, or stand beside the type. */
export function entryOf(data: JsonObject, { body }: InferenceRequest) {
  const type = String(data['type'])
  const at = asList(body['tools']).findIndex((tool) => isObject(tool) && tool['type'] === type)
  const isNested = isObject(data['parameters'])
  const rest = restOf(data, isDated(type) ? NAMED_DATED : NAMED) ?? {}
  return {
    type,
    parameters: isNested
      ? { ...fieldsOf(data['parameters']) }
      : withFilters(isDated(type) ? renamed(rest) : rest),
    path: `tools[${at}]${isNested ? '.parameters' : ''}`,
  }
}

/** OpenAI nests the domains of a search. */
function withFilters({ filters, ...parameters }: JsonObject): JsonObject {
  if (!isObject(filters)) return defined({ ...parameters, filters })
  if (isString(filters['type'])) return { ...parameters, filters }
  const { allowed_domains, blocked_domains, excluded_domains = blocked_domains } = filters
  return defined({ ...parameters, allowed_domains, excluded_domains })
}

/** The caller may have a function of the same name. */
function freeName(name: string, taken: Set<string>): string {
  let free = name
  for (let i = 1; taken.has(free); i++) free = `${name.slice(0, 60)}_${i}`
  taken.add(free)
  return free
}

/** A tool of an MCP server as a function, under a name of its own. */
function added(
  { tool, mcp, needsApproval }: McpFunction,
  taken: Set<string>,
  byFunction: Map<string, RequestedTool>,
  access: ToolAccess,
): FunctionTool {
  const name = freeName(tool.name, taken)
  byFunction.set(name, { tool, type: 'mcp', parameters: {}, path: '', mcp, needsApproval })
  return { type: 'function', name, ...tool.describe({}, '', access) }
}

function chosen(
  choice: ToolChoice | undefined,
  byType: ReadonlyMap<string, string>,
  byFunction: ReadonlyMap<string, RequestedTool>,
  mcp: McpRequest | null,
): ToolChoice | undefined {
  if (typeof choice !== 'object' || choice.type !== 'other') return choice
  if (mcp !== null && choice.data['type'] === 'mcp')
    return { type: 'function', name: mcpChoice(choice.data, byFunction) }
  // A choice of Messages has the name that Anthropic's own tools have beside their type.
  const { type, name: own } = choice.data
  const isNamed = type === 'tool' && isString(own)
  // Anthropic names a tool of an MCP server with its server too, as the functions are.
  if (mcp !== null && isNamed && byFunction.has(shortName(own)))
    return { type: 'function', name: shortName(own) }
  const name = byType.get(String(isNamed ? own : type))
  return name === undefined ? choice : { type: 'function', name }
}
