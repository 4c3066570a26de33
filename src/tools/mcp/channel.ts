import { type JsonObject, parseObject } from '../../core/json.ts'
import type { McpServer } from '../../core/mcp.ts'
import { createAllowance } from './allowance.ts'
import { LINE_COST, startChild } from './child.ts'
import {
  type Bounds,
  HELLO,
  INITIALIZED,
  isAnswer,
  isQuestion,
  McpFailure,
  refusalOf,
  resultIn,
  shown,
  versionIn,
} from './protocol.ts'

/** Lines of the log, with their fields. */
export interface McpLog {
  info(fields: JsonObject, message: string): void
  warn(fields: JsonObject, message: string): void
}

/** A process that runs, and the requests that wait for it. */
export interface Channel {
  /** Resolves when the process has answered `initialize`. */
  readonly ready: Promise<void>
  ask(method: string, params: JsonObject, bounds: Bounds): Promise<JsonObject>
  /** Ends the process. Every waiting request fails with this reason. */
  kill(why: string): void
  /** Resolves when the process is gone. */
  readonly gone: Promise<unknown>
}

/** The waits of a process that does not answer, for tests. */
export interface ProcessTimes {
  readonly pingMs?: number
  readonly graceMs?: number
}

/** For the first answer, which may wait for the download of a package. */
const HELLO_MS = 60_000
/** A process that does not answer a ping after a request that took too long is ended. */
const PING_MS = 5_000
const MOST_WAITING = 256
const MOST_LINE_CHARACTERS = 1_000
/** In a minute: lines that are logged, what the process may ask, and what it may write without being asked. */
const MOST_LOGGED = 100
const MOST_QUESTIONS = 100
const MOST_UNASKED_BYTES = 16 * 1024 * 1024

interface Waiting {
  readonly resolve: (answer: JsonObject) => void
  readonly reject: (error: unknown) => void
}

/** Starts the process. `ended` is called once. */
export function openChannel(
  server: McpServer,
  parts: NonNullable<McpServer['process']>,
  log: McpLog | undefined,
  ended: (why: string) => void,
  { pingMs = PING_MS, graceMs }: ProcessTimes = {},
): Channel {
  const note = createNotes(server, log)
  const [questions, unasked] = [createAllowance(MOST_QUESTIONS), createAllowance(MOST_UNASKED_BYTES)]
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let over: string | null = null
  const events = {
    line: see,
    errorLine: (text: string) => note('info', text, 'MCP server'),
    bytes(count: number): void {
      if (!unasked.take(count)) child.kill('writes too much without being asked, and was ended')
    },
    ended(why: string): void {
      over = why
      for (const { reject } of waiting.values()) reject(new McpFailure(why, true))
      waiting.clear()
      ended(why)
    },
  }
  const child = startChild(parts, events, graceMs)
  const send = (message: JsonObject): void => child.write({ jsonrpc: '2.0', ...message })

  function see(text: string): void {
    const message = parseObject(text)
    if (message === undefined) note('warn', text, 'an MCP server wrote a line that is not JSON')
    else if (isAnswer(message)) {
      const { id } = message
      const asked = typeof id === 'number' ? waiting.get(id) : undefined
      if (asked === undefined) return
      unasked.take(-text.length - LINE_COST)
      asked.resolve(message)
    } else if (isQuestion(message) && questions.take(1)) send(refusalOf(message))
  }

  async function ask(method: string, params: JsonObject, { signal, timeoutMs }: Bounds): Promise<JsonObject> {
    signal?.throwIfAborted()
    if (over !== null) throw new McpFailure(over, true)
    if (waiting.size >= MOST_WAITING) throw new McpFailure(`has ${MOST_WAITING} requests to answer`, true)
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    waiting.set(id, { resolve, reject })
    const giveUp = (reason: unknown): void => {
      reject(reason)
      send({ method: 'notifications/cancelled', params: { requestId: id } })
      if (method !== 'ping') probe()
    }
    const leave = (): void => giveUp(signal?.reason)
    const timer = setTimeout(() => giveUp(new McpFailure(`took more than ${timeoutMs} ms`, true)), timeoutMs)
    signal?.addEventListener('abort', leave, { once: true })
    try {
      send({ id, method, params })
      return resultIn(await promise, server)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
      waiting.delete(id)
    }
  }

  /** An answer is one, even if it is an error. */
  function probe(): void {
    ask('ping', {}, { timeoutMs: pingMs }).catch((error) => {
      if (error instanceof McpFailure && error.isBusy) child.kill('does not answer any more, and was ended')
    })
  }

  const ready = greet(ask, send, child.kill)
  ready.catch(() => undefined)
  return { ready, ask, kill: child.kill, gone: child.gone }
}

async function greet(
  ask: Channel['ask'],
  send: (message: JsonObject) => void,
  kill: Channel['kill'],
): Promise<void> {
  try {
    versionIn(await ask('initialize', HELLO, { timeoutMs: HELLO_MS }))
    send(INITIALIZED)
  } catch (error) {
    kill(error instanceof McpFailure ? error.message : 'failed to start')
    throw error
  }
}

/** Logs lines that a process wrote; false beyond the bound. */
function createNotes(server: McpServer, log: McpLog | undefined) {
  const [logged, noted] = [createAllowance(MOST_LOGGED), createAllowance(1)]
  const mcp_server = server.label
  return (level: 'info' | 'warn', text: string, message: string): boolean => {
    const isLogged = logged.take(1)
    if (isLogged) log?.[level]({ mcp_server, line: shown(text, server, MOST_LINE_CHARACTERS) }, message)
    else if (noted.take(1))
      log?.warn({ mcp_server }, 'further lines of an MCP server are left out for a minute')
    return isLogged
  }
}
