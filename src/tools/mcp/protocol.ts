import { fieldsOf, isObject, type JsonObject, textOf } from '../../core/json.ts'
import type { McpServer } from '../../core/mcp.ts'
import { version as own } from '../../version.ts'

/** https://modelcontextprotocol.io/specification/2025-06-18/basic, read in November 2026. */
const PROTOCOL = '2025-06-18'
const SPOKEN: ReadonlySet<unknown> = new Set(['2025-11-25', PROTOCOL, '2025-03-26'])
const NOT_OFFERED = { code: -32_601, message: 'This client has no sampling, elicitation and roots' }

/** Parsed on the thread of all requests. */
export const LIMIT_BYTES = 2 * 1024 * 1024

/** Without any of the client's features, so the server can ask for nothing. */
export const HELLO = {
  protocolVersion: PROTOCOL,
  capabilities: {},
  clientInfo: { name: 'sluice', version: own },
}
export const INITIALIZED = { method: 'notifications/initialized' }

export interface Bounds {
  readonly signal?: AbortSignal
  readonly timeoutMs: number
}

/** A connection with a server. */
export interface Connection {
  /** The result of a request. Throws an `Error` whose message names no secrets. */
  ask(method: string, params: JsonObject, bounds: Bounds): Promise<JsonObject>
  /** True once the process behind it has ended. */
  isOver?(): boolean
  /** Ends the session, if it has one of its own, without waiting for it. */
  close(): void
}

/** A failure of the server, in words for everybody. */
export class McpFailure extends Error {
  constructor(
    message: string,
    readonly isBusy: boolean,
    cause?: unknown,
    /** The server has forgotten the session. */
    readonly isExpired = false,
  ) {
    super(message, { cause })
  }
}

/** The protocol version in a server's answer to `initialize`. Throws an `McpFailure` for an unknown one. */
export function versionIn({ protocolVersion }: JsonObject): string {
  if (SPOKEN.has(protocolVersion)) return textOf(protocolVersion)
  throw new McpFailure(`speaks none of the protocol's versions ${[...SPOKEN].join(', ')}`, false)
}

/** The result of an answer. */
export function resultIn({ error, result }: JsonObject, server: McpServer): JsonObject {
  if (!isObject(error)) return { ...fieldsOf(result) }
  const { code, message } = error
  throw new McpFailure(`answered with error ${Number(code)}: ${shown(textOf(message), server)}`, false)
}

export const isAnswer = (message: JsonObject): boolean => 'result' in message || 'error' in message
export const isQuestion = (message: JsonObject): boolean =>
  typeof message['method'] === 'string' && 'id' in message

/** Servers may ask a client for completions of its model (sampling) and for the user's input (elicitation). The gateway answers neither. */
export const refusalOf = ({ id, method }: JsonObject): JsonObject =>
  method === 'ping' ? { id, result: {} } : { id, error: NOT_OFFERED }

const MOST_SHOWN = 500

/** A server may repeat what it was sent. */
export function shown(text: string, { headers, process }: McpServer, most = MOST_SHOWN): string {
  const values = [...Object.values(headers), ...(process?.secrets ?? [])]
  const secrets = values.flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)])
  return secrets
    .filter((secret) => secret.length >= 4)
    .reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text)
    .slice(0, most)
}
