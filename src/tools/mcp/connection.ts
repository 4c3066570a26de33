import { UpstreamError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import type { McpServer } from '../../core/mcp.ts'
import { hostOf } from '../../net/address.ts'
import { type GuardedReply, guardedFetch, type Resolve } from '../../net/guarded.ts'
import { createMessageReader, messagesIn } from './messages.ts'
import {
  type Bounds,
  type Connection,
  HELLO,
  INITIALIZED,
  isAnswer,
  isQuestion,
  LIMIT_BYTES,
  McpFailure,
  refusalOf,
  resultIn,
  versionIn,
} from './protocol.ts'

const SESSION_ID = /^[\x21-\x7e]{1,512}$/
/** What a server may ask while it answers one request. */
const MOST_QUESTIONS = 8

interface State {
  readonly server: McpServer
  readonly resolve: Resolve | undefined
  session: string | null
  version: string | null
  lastId: number
}

/** Initializes a session of streamable HTTP. */
export async function connect(
  server: McpServer,
  resolve: Resolve | undefined,
  bounds: Bounds,
): Promise<Connection> {
  const state: State = { server, resolve, session: null, version: null, lastId: 0 }
  const { result, reply } = await request(state, 'initialize', HELLO, bounds)
  const session = reply.headers.get('mcp-session-id')
  if (session !== null && !SESSION_ID.test(session)) throw new McpFailure('sent a bad session id', false)
  state.version = versionIn(result)
  state.session = session
  await post(state, INITIALIZED, bounds)
  return {
    ask: async (method, params, each) => (await request(state, method, params, each)).result,
    close() {
      if (state.session !== null)
        send(state, 'DELETE', undefined, { timeoutMs: 5_000 }).catch(() => undefined)
      state.session = null
    },
  }
}

async function request(state: State, method: string, params: JsonObject, bounds: Bounds) {
  const id = ++state.lastId
  const answers: JsonObject[] = []
  let questions = 0
  const see = (message: JsonObject): void => {
    if (message['id'] === id && isAnswer(message)) answers.push(message)
    else if (isQuestion(message) && ++questions <= MOST_QUESTIONS) refuse(state, message)
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
  return { result: resultIn(answer, state.server), reply }
}

function refuse(state: State, question: JsonObject): void {
  post(state, refusalOf(question), { timeoutMs: 5_000 }).catch(() => undefined)
}

async function post(
  state: State,
  message: JsonObject,
  bounds: Bounds,
  until?: (bytes: Uint8Array) => boolean,
): Promise<GuardedReply> {
  const reply = await send(state, 'POST', JSON.stringify({ jsonrpc: '2.0', ...message }), bounds, until)
  if (reply.status >= 200 && reply.status < 300) return reply
  const isExpired = reply.status === 404 && state.session !== null
  throw new McpFailure(...sentenceOf(reply.status), undefined, isExpired)
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
