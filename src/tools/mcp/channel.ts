import { type JsonObject, parseObject } from '../../core/json.ts'
import type { McpServer } from '../../core/mcp.ts'
import { startChild } from './child.ts'
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
}

/** For the first answer, which may wait for the download of a package. */
const HELLO_MS = 60_000
/** A process that does not answer a ping after a request that took too long is ended. */
const PING_MS = 5_000
const MOST_WAITING = 256
const MOST_LINE_CHARACTERS = 1_000

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
): Channel {
  const waiting = new Map<number, Waiting>()
  const mcp_server = server.label
  let lastId = 0
  let over: string | null = null
  const child = startChild(parts, {
    line: see,
    errorLine: (text) =>
      log?.info({ mcp_server, line: shown(text, server, MOST_LINE_CHARACTERS) }, 'MCP server'),
    ended(why) {
      over = why
      for (const { reject } of waiting.values()) reject(new McpFailure(why, true))
      waiting.clear()
      ended(why)
    },
  })
  const send = (message: JsonObject): void => child.write({ jsonrpc: '2.0', ...message })

  function see(text: string): void {
    const message = parseObject(text)
    if (message === undefined) {
      const line = shown(text, server, MOST_LINE_CHARACTERS)
      log?.warn({ mcp_server, line }, 'an MCP server wrote a line that is not JSON')
    } else if (isAnswer(message)) waiting.get(Number(message['id']))?.resolve(message)
    else if (isQuestion(message)) send(refusalOf(message))
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
    ask('ping', {}, { timeoutMs: PING_MS }).catch((error) => {
      if (error instanceof McpFailure && error.isBusy) child.kill('does not answer any more, and was ended')
    })
  }

  async function greet(): Promise<void> {
    try {
      versionIn(await ask('initialize', HELLO, { timeoutMs: HELLO_MS }))
      send(INITIALIZED)
    } catch (error) {
      child.kill(error instanceof McpFailure ? error.message : 'failed to start')
      throw error
    }
  }

  const ready = greet()
  ready.catch(() => undefined)
  return { ready, ask, kill: child.kill }
}
