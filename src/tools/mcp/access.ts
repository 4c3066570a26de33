import { GatewayError } from '../../core/errors.ts'
import { asList, fieldsOf, isObject, type JsonObject, objectsIn, textOf } from '../../core/json.ts'
import type { McpAccess, McpServer, McpSession, McpTool } from '../../core/mcp.ts'
import { turnOfLoop } from '../../core/turn.ts'
import type { Resolve } from '../../net/guarded.ts'
import type { McpLog, ProcessTimes } from './channel.ts'
import { connect } from './connection.ts'
import { textOfResult } from './messages.ts'
import { createProcess } from './process.ts'
import { type Bounds, type Connection, McpFailure, shown } from './protocol.ts'

interface McpParts extends ProcessTimes {
  readonly servers: readonly McpServer[]
  readonly resolve?: Resolve | undefined
  readonly log?: McpLog | undefined
  /** Of a listing with all its pages, each request of it. */
  readonly listMs?: number
  now(): number
}

const LIST_MS = 10_000
/** The loop's own bound is shorter unless the operator raised it. */
const CALL_MS = 600_000
const KNOWN_MS = 60_000
const MOST_PAGES = 20
/** Before those that the operator allows are chosen. */
const MOST_LISTED = 10_000
const MOST_TOOLS = 128
const MOST_SCHEMA_CHARACTERS = 32 * 1024
const MOST_DESCRIPTION_CHARACTERS = 4_000
/** Above the loop's own bound, which says that it cut. */
const MOST_RESULT_CHARACTERS = 128 * 1024
const RETRY_AFTER_SECONDS = 10
const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/

/** How a server is reached: a session of its own, or the one process of all requests. */
type Connect = (bounds: Bounds) => Promise<Connection>

export function createMcpAccess({
  servers,
  resolve,
  log,
  listMs = LIST_MS,
  now,
  ...times
}: McpParts): McpAccess {
  const processes = new Map(
    servers.flatMap((each) =>
      each.process ? [[each.label, createProcess(each, each.process, now, log, times)]] : [],
    ),
  )
  const connectTo =
    (server: McpServer): Connect =>
    (bounds) =>
      processes.get(server.label)?.connect(bounds) ?? connect(server, resolve, bounds)
  const known = new Map<string, { readonly at: number; readonly tools: Promise<readonly McpTool[]> }>()
  const serverOf = (label: string): McpServer => {
    const server = servers.find((each) => each.label === label)
    if (server === undefined) throw new Error(`no MCP server ${label}`)
    return server
  }
  return {
    servers,
    list(label) {
      const former = known.get(label)
      if (former !== undefined && now() - former.at < KNOWN_MS) return former.tools
      const tools = listed(serverOf(label), connectTo(serverOf(label)), listMs)
      const entry = { at: now(), tools }
      known.set(label, entry)
      tools.catch(() => known.get(label) === entry && known.delete(label))
      return tools
    },
    open: (label) => openSession(serverOf(label), connectTo(serverOf(label))),
    async close() {
      await Promise.all([...processes.values()].map((each) => each.close()))
    },
  }
}

async function listed(server: McpServer, connectTo: Connect, listMs: number): Promise<readonly McpTool[]> {
  const bounds = { timeoutMs: listMs, signal: AbortSignal.timeout(listMs) }
  try {
    const connection = await connectTo(bounds)
    try {
      return checked(await pagesOf(connection, bounds), server)
    } finally {
      connection.close()
    }
  } catch (error) {
    const isSlow = bounds.signal.aborted
    const why =
      error instanceof McpFailure ? error.message : isSlow ? `took more than ${listMs} ms` : 'failed'
    const isBusy = isSlow || (error instanceof McpFailure && error.isBusy)
    throw new GatewayError(isBusy ? 503 : 502, `The MCP server ${server.label} ${why}`, {
      cause: error,
      metadata: { error_type: isBusy ? 'provider_overloaded' : 'provider_unavailable' },
      ...(isBusy && { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } }),
    })
  }
}

async function pagesOf(connection: Connection, bounds: Bounds): Promise<JsonObject[]> {
  const tools: JsonObject[] = []
  let cursor = ''
  for (let page = 0; page < MOST_PAGES; page++) {
    const result = await connection.ask('tools/list', cursor === '' ? {} : { cursor }, bounds)
    await turnOfLoop()
    const listed = asList(result['tools'])
    if (tools.length + listed.length > MOST_LISTED)
      throw new McpFailure(`lists more than ${MOST_LISTED} tools`, false)
    tools.push(...objectsIn(listed))
    cursor = textOf(result['nextCursor'])
    if (cursor === '') return tools
  }
  throw new McpFailure(`has its tools on more than ${MOST_PAGES} pages`, false)
}

function checked(tools: readonly JsonObject[], server: McpServer): readonly McpTool[] {
  const { allowedTools } = server
  const allowed = tools.filter(({ name }) => allowedTools === null || allowedTools.includes(textOf(name)))
  if (allowed.length > MOST_TOOLS)
    throw new McpFailure(
      `has more than ${MOST_TOOLS} tools: the operator can choose some in allowed_tools`,
      false,
    )
  const names = new Set<string>()
  return allowed.map(({ name, description, inputSchema, annotations }) => {
    const shownName = textOf(name)
    if (!TOOL_NAME.test(shownName) || names.has(shownName))
      throw new McpFailure('lists a tool with a bad name, or twice the same', false)
    names.add(shownName)
    if (!isObject(inputSchema) || inputSchema['type'] !== 'object')
      throw new McpFailure(`lists the tool ${shownName} without a schema of an object`, false)
    if (JSON.stringify(inputSchema).length > MOST_SCHEMA_CHARACTERS)
      throw new McpFailure(
        `lists the tool ${shownName} with a schema of more than ${MOST_SCHEMA_CHARACTERS} characters`,
        false,
      )
    return {
      name: shownName,
      description: shown(textOf(description), server, MOST_DESCRIPTION_CHARACTERS),
      inputSchema,
      annotations: { ...fieldsOf(annotations) },
    }
  })
}

/** One session for the calls of one request, so a server can remember what it did for this request and for no other. */
function openSession(server: McpServer, connectTo: Connect): McpSession {
  let connecting: Promise<Connection> | null = null
  let isClosed = false
  const connected = (signal: AbortSignal): Promise<Connection> => {
    signal.throwIfAborted()
    connecting ??= connectTo({ timeoutMs: LIST_MS }).catch((error) => {
      connecting = null
      throw error
    })
    return connecting
  }
  const end = (): void => {
    connecting?.then((connection) => connection.close()).catch(() => undefined)
    connecting = null
  }
  return {
    async call(name, args, signal) {
      if (isClosed) throw new Error('the request is over')
      let used: typeof connecting = null
      let isOver = (): boolean => false
      const ask = async (): Promise<JsonObject> => {
        used = connected(signal)
        const connection = await used
        isOver = () => connection.isOver?.() === true
        if (!isClosed)
          return connection.ask('tools/call', { name, arguments: args }, { signal, timeoutMs: CALL_MS })
        connection.close()
        throw new Error('the request is over')
      }
      const result = await ask().catch((error: unknown) => {
        const isExpired = error instanceof McpFailure && error.isExpired
        // Another call may have connected again already.
        if (connecting === used && (isExpired || isOver())) connecting = null
        if (!isExpired) throw error
        // The server did not run the call.
        return ask()
      })
      // The result may have been long to parse.
      await turnOfLoop()
      const text = shown(textOfResult(result, MOST_RESULT_CHARACTERS), server, MOST_RESULT_CHARACTERS)
      if (result['isError'] === true) throw new Error(text)
      return text
    },
    close() {
      isClosed = true
      end()
    },
  }
}
