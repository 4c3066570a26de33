/** Real MCP servers on loopback: the protocol's official TypeScript SDK over streamable HTTP. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { z } from 'zod'

export const SECRET = 'Bearer mcp-secret-4711'

interface Options {
  /** Answers with JSON instead of a stream of events. */
  readonly isJson?: boolean
}

/** One server, which accepts only `SECRET`. */
export function startMcpServer({ isJson = false }: Options = {}) {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const seen: { method: string; session: string | null; rpc: string }[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      if (request.headers.get('authorization') !== SECRET)
        return new Response(`who is ${request.headers.get('authorization')}?`, { status: 401 })
      const session = request.headers.get('mcp-session-id')
      const text = await request.clone().text()
      seen.push({ method: request.method, session, rpc: text === '' ? '' : String(JSON.parse(text).method) })
      const known = session === null ? undefined : sessions.get(session)
      if (session !== null && known === undefined) return new Response('Session not found', { status: 404 })
      const transport = known ?? (await newSession(sessions, isJson))
      return transport.handleRequest(request)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    seen,
    /** As a server that was started again. */
    forget: () => sessions.clear(),
    stop: () => server.stop(true),
  }
}

async function newSession(
  sessions: Map<string, WebStandardStreamableHTTPServerTransport>,
  enableJsonResponse: boolean,
) {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    enableJsonResponse,
    onsessioninitialized: (id) => {
      sessions.set(id, transport)
    },
  })
  await toolServer().connect(transport)
  return transport
}

export function toolServer(): McpServer {
  const server = new McpServer({ name: 'things', version: '1.0.0' }, { capabilities: {} })
  let count = 0
  const text = (words: string, isError = false) => ({
    content: [{ type: 'text' as const, text: words }],
    isError,
  })
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers',
      inputSchema: { a: z.number(), b: z.number() },
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => text(String(a + b)),
  )
  server.registerTool('count', { description: 'Counts its calls' }, () => text(`call ${++count}`))
  server.registerTool('fail', { description: 'Fails' }, () => text(`no, ${SECRET}`, true))
  server.registerTool('huge', { description: 'Says a lot' }, () => text('x'.repeat(3_000_000)))
  server.registerTool('long', { description: 'Says much' }, () => text('x'.repeat(100_000)))
  server.registerTool('sample', { description: 'Asks the model of the client' }, async ({ requestId }) => {
    const asked = await server.server
      .createMessage(
        { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 9 },
        { relatedRequestId: requestId },
      )
      .then(() => 'it answered')
      .catch((error: unknown) => String(error))
    return text(asked)
  })
  server.registerTool('elicit', { description: 'Asks the user of the client' }, async ({ requestId }) => {
    const asked = await server.server
      .elicitInput(
        { message: 'Your password?', requestedSchema: { type: 'object', properties: {} } },
        { relatedRequestId: requestId },
      )
      .then(() => 'it answered')
      .catch((error: unknown) => String(error))
    return text(asked)
  })
  return server
}
