import { UpstreamError } from '../../core/errors.ts'
import { fieldsOf, isObject, type JsonObject, textOf } from '../../core/json.ts'
import type { McpServer } from '../../core/mcp.ts'
import { hostOf } from '../../net/address.ts'
import { type GuardedReply, guardedFetch, type Resolve } from '../../net/guarded.ts'
import { version as own } from '../../version.ts'
import { createMessageReader, messagesIn } from './messages.ts'

/** https://modelcontextprotocol.io/specification/2025-06-18/basic/transports, read in November 2026. */
const PROTOCOL = '2025-06-18'
const SPOKEN: ReadonlySet<unknown> = new Set(['2025-11-25', PROTOCOL, '2025-03-26'])
/** Parsed on the thread of all requests. */
const LIMIT_BYTES = 2 * 1024 * 1024
const SESSION_ID = /^[\x21-\x7e]{1,512}$/
/** What a server may ask while it answers one request. */
const MOST_QUESTIONS = 8
const NOT_OFFERED = { code: -32_601, message: 'This client has no sampling, elicitation and roots' }

export interface Bounds {
  readonly signal?: AbortSignal
  readonly timeoutMs: number
}

/** One session with a server. */
export interface Connection {
  /** The result of a request. Throws an `Error` whose message names no secrets. */
  ask(method: string, params: JsonObject, bounds: Bounds): Promise<JsonObject>
  /** Ends the session, without waiting for it. */
  close(): void
}

/** A failure of the server, in words for everybody. */
export class McpFailure extends Error {
  constructor(
    message: string,
    readonly isBusy: boolean,
    cause?: unknown,
  ) {
    super(message, { cause })
  }
}

interface State {
  readonly server: McpServer
  readonly resolve: Resolve | undefined
  session: string | null
  version: string | null
  lastId: number
}

/** Initializes a session: streamable HTTP, without any of the client's features, so the server can ask for nothing. */
export async function connect(
  server: McpServer,
  resolve: Resolve | undefined,
  bounds: Bounds,
): Promise<Connection> {
  const state: State = { server, resolve, session: null, version: null, lastId: 0 }
  const { result, reply } = await request(state, 'initialize', HELLO, bounds)
  const session = reply.headers.get('mcp-session-id')
  if (session !== null && !SESSION_ID.test(session)) throw new McpFailure('sent a bad session id', false)
  if (!SPOKEN.has(result['protocolVersion']))
    throw new McpFailure(`speaks none of the protocol's versions ${[...SPOKEN].join(', ')}`, false)
  state.session = session
  state.version = textOf(result['protocolVersion'])
  await post(state, { method: 'notifications/initialized' }, bounds)
  return {
    ask: async (method, params, each) => (await request(state, method, params, each)).result,
    close() {
      if (state.session !== null)
        send(state, 'DELETE', undefined, { timeoutMs: 5_000 }).catch(() => undefined)
      state.session = null
    },
  }
}

const HELLO = {
  protocolVersion: PROTOCOL,
  capabilities: {},
  clientInfo: { name: 'sluice', version: own },
}

async function request(state: State, method: string, params: JsonObject, bounds: Bounds) {
  const id = ++state.lastId
  const answers: JsonObject[] = []
  let questions = 0
  const see = (message: JsonObject): void => {
    if (message['id'] === id && ('result' in message || 'error' in message)) answers.push(message)
    else if (typeof message['method'] === 'string' && 'id' in message && ++questions <= MOST_QUESTIONS)
      refuse(state, message)
  }
  const read = createMessageReader()
  const reply = await post(state, { id, method, params }, bounds, (bytes) => {
    read(bytes).forEach(see)
    return answers.length > 0 || questions > MOST_QUESTIONS
  })
  // The last event may lack its blank line.
  if (answers.length === 0) read(new TextEncoder().encode('\n\n')).forEach(see)
  if (answers.length === 0) messagesIn(reply.body).forEach(see)
  const [answer] = answers
  if (answer === undefined) throw new McpFailure('gave no answer of the protocol', false)
  if (isObject(answer['error'])) {
    const { code, message } = answer['error']
    throw new McpFailure(
      `answered with error ${Number(code)}: ${shown(textOf(message), state.server)}`,
      false,
    )
  }
  return { result: { ...fieldsOf(answer['result']) }, reply }
}

/** Servers may ask a client for completions of its model (sampling) and for the user's input (elicitation). The gateway answers neither. */
function refuse(state: State, { id, method }: JsonObject): void {
  const answer = method === 'ping' ? { id, result: {} } : { id, error: NOT_OFFERED }
  post(state, answer, { timeoutMs: 5_000 }).catch(() => undefined)
}

async function post(
  state: State,
  message: JsonObject,
  bounds: Bounds,
  until?: (bytes: Uint8Array) => boolean,
): Promise<GuardedReply> {
  const reply = await send(state, 'POST', JSON.stringify({ jsonrpc: '2.0', ...message }), bounds, until)
  if (reply.status >= 200 && reply.status < 300) return reply
  throw new McpFailure(...sentenceOf(reply.status))
}

const sentenceOf = (status: number): [string, boolean] => {
  if (status === 401 || status === 403)
    return [`answered ${status}: the operator should check its headers in mcp_servers`, false]
  if (status >= 300 && status < 400) return [`answered ${status}: redirects are not followed`, false]
  return [`answered ${status}`, status === 429 || status >= 500]
}

async function send(
  { server, resolve, session, version }: State,
  method: 'POST' | 'DELETE',
  body: string | undefined,
  { signal, timeoutMs }: Bounds,
  until?: (bytes: Uint8Array) => boolean,
): Promise<GuardedReply> {
  try {
    return await guardedFetch(server.url, {
      method,
      headers: {
        ...server.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session !== null && { 'mcp-session-id': session }),
        ...(version !== null && { 'mcp-protocol-version': version }),
      },
      ...(body !== undefined && { body }),
      ...(until && { until }),
      limitBytes: LIMIT_BYTES,
      timeoutMs,
      // The headers would go to another address.
      maxRedirects: 0,
      // The operator wrote this address: it may be private.
      allow: { hosts: new Set([hostOf(new URL(server.url))]), networks: [] },
      ...(signal && { signal }),
      ...(resolve && { resolve }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    if (error instanceof UpstreamError)
      throw new McpFailure(`failed: ${error.reason}`, error.kind !== 'malformed', error)
    throw error
  }
}

const MOST_SHOWN = 500

/** A server may repeat what it was sent. */
export function shown(text: string, { headers }: McpServer, most = MOST_SHOWN): string {
  const secrets = Object.values(headers).flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)])
  return secrets
    .filter((secret) => secret.length >= 4)
    .reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text)
    .slice(0, most)
}
