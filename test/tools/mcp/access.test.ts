import { afterAll, describe, expect, test } from 'bun:test'
import type { McpServer } from '../../../src/core/mcp.ts'
import { createMcpAccess } from '../../../src/tools/mcp/access.ts'
import { SECRET, startMcpServer } from './server.ts'

const real = startMcpServer()
const json = startMcpServer({ isJson: true })
const started: { stop(force?: boolean): unknown }[] = [real, json]
afterAll(() => {
  for (const server of started) server.stop(true)
})

const never = new AbortController().signal

const accessTo = (url: string, more: Partial<McpServer> & { listMs?: number; now?: () => number } = {}) => {
  const { listMs, now = () => 0, ...fields } = more
  const server = { label: 'things', url, headers: { authorization: SECRET }, allowedTools: null, ...fields }
  return createMcpAccess({ servers: [server], now, ...(listMs !== undefined && { listMs }) })
}

function serve(fetch: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch })
  started.push(server)
  return `http://127.0.0.1:${server.port}/mcp`
}

const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'x', version: '1' } }

/** A server of few words: the result of each method. */
const serverOf = (results: Record<string, unknown>) =>
  serve(async (request) => {
    if (request.method === 'DELETE') return new Response(null, { status: 204 })
    const { id, method } = Object(await request.json())
    if (id === undefined) return new Response(null, { status: 202 })
    return Response.json({ jsonrpc: '2.0', id, result: { initialize: HELLO, ...results }[String(method)] })
  })

const listing = (tools: unknown[]) => serverOf({ 'tools/list': { tools } })
const tool = (name: string, inputSchema: unknown = { type: 'object' }) => ({ name, inputSchema })

/** What the caller reads and what the log does. */
const failureOf = (promise: Promise<unknown>): Promise<{ message: string; status?: number }> =>
  promise.then(
    () => {
      throw new Error('it did not fail')
    },
    (error) => error,
  )

describe.each([
  ['events', real.url],
  ['JSON', json.url],
])('a server that answers with %s', (_, url) => {
  test('lists its tools and runs them', async () => {
    const access = accessTo(url)
    const tools = await access.list('things')
    expect(tools.map(({ name }) => name)).toContain('add')
    expect(tools[0]).toMatchObject({
      name: 'add',
      description: 'Adds two numbers',
      inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
      annotations: { readOnlyHint: true },
    })
    const session = access.open('things')
    expect(await session.call('add', { a: 2, b: 3 }, never)).toBe('5')
    session.close()
  })
})

describe('a session', () => {
  test('is that of one request, and ends with it', async () => {
    const access = accessTo(real.url)
    const [one, other] = [access.open('things'), access.open('things')]
    expect(await one.call('count', {}, never)).toBe('call 1')
    expect(await one.call('count', {}, never)).toBe('call 2')
    expect(await other.call('count', {}, never)).toBe('call 1')
    one.close()
    await expect(one.call('count', {}, never)).rejects.toThrow('the request is over')
    other.close()
  })

  test('that the server has forgotten is begun again, once, and by all calls together', async () => {
    const session = accessTo(real.url).open('things')
    await session.call('count', {}, never)
    real.forget()
    real.seen.length = 0
    const both = await Promise.all([session.call('count', {}, never), session.call('count', {}, never)])
    expect(both.toSorted()).toEqual(['call 1', 'call 2'])
    expect(real.seen.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(1)
    session.close()
    let hellos = 0
    const url = serve(async (request) => {
      if (request.method === 'DELETE') return new Response(null, { status: 204 })
      const { id, method } = Object(await request.json())
      if (method === 'initialize') hellos += 1
      if (method === 'tools/call') return new Response('', { status: 404 })
      if (id === undefined) return new Response(null, { status: 202 })
      return Response.json({ id, result: HELLO }, { headers: { 'mcp-session-id': 'one' } })
    })
    await expect(accessTo(url).open('things').call('add', {}, never)).rejects.toThrow('answered 404')
    expect(hellos).toBe(2)
  })

  test('refuses sampling and elicitation, and the call goes on', async () => {
    const session = accessTo(real.url).open('things')
    for (const name of ['sample', 'elicit']) {
      const answer = await session.call(name, {}, never)
      expect(answer).not.toContain('it answered')
      expect(answer.toLowerCase()).toContain('elicitation')
    }
    session.close()
  })

  test('ends a call when its signal aborts', async () => {
    const controller = new AbortController()
    const url = serve(async (request) => {
      const { id, method } = Object(await request.json())
      if (method === 'initialize') return Response.json({ jsonrpc: '2.0', id, result: HELLO })
      if (id === undefined) return new Response(null, { status: 202 })
      controller.abort(new Error('over'))
      return new Promise<Response>(() => undefined)
    })
    await expect(accessTo(url).open('things').call('add', {}, controller.signal)).rejects.toThrow('over')
  })

  test('ends with the answer, although the server leaves its stream open', async () => {
    const url = serve(async (request) => {
      if (request.method === 'DELETE') return new Response(null, { status: 204 })
      const { id } = Object(await request.json())
      if (id === undefined) return new Response(null, { status: 202 })
      const result = id === 1 ? HELLO : { content: [{ type: 'text', text: 'there' }] }
      const event = `event: message\r\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\r\n\r\n`
      const body = new ReadableStream({ start: (controller) => controller.enqueue(event) })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    })
    const session = accessTo(url).open('things')
    expect(await session.call('add', {}, never)).toBe('there')
  })
})

describe('a failed call', () => {
  test('has the words of the server without the secret that it repeats', async () => {
    const session = accessTo(real.url).open('things')
    const { message } = await failureOf(session.call('fail', {}, never))
    expect(message).toBe('no, [hidden]')
    session.close()
  })

  test('is one whose result is larger than 2 MB', async () => {
    const session = accessTo(real.url).open('things')
    const { message } = await failureOf(session.call('huge', {}, never))
    expect(message).toBe('failed: the reply is larger than 2097152 bytes')
    session.close()
  })
})

describe('a listing', () => {
  test('is known for a minute, and for nothing after a failure', async () => {
    let [time, asked, isBroken] = [0, 0, true]
    const url = serve(async (request) => {
      if (request.method === 'DELETE') return new Response(null, { status: 204 })
      const { id, method } = Object(await request.json())
      if (isBroken) return new Response('broken', { status: 500 })
      if (method === 'tools/list') asked += 1
      const result = method === 'initialize' ? HELLO : { tools: [tool('one')] }
      return id === undefined ? new Response(null, { status: 202 }) : Response.json({ id, result })
    })
    const access = accessTo(url, { now: () => time })
    expect(await failureOf(access.list('things'))).toMatchObject({
      status: 503,
      message: 'The MCP server things answered 500',
    })
    isBroken = false
    await access.list('things')
    await access.list('things')
    expect(asked).toBe(1)
    time = 60_001
    await access.list('things')
    expect(asked).toBe(2)
  })

  test('has the tools that the operator allows', async () => {
    const access = accessTo(real.url, { allowedTools: ['count', 'absent'] })
    expect((await access.list('things')).map(({ name }) => name)).toEqual(['count'])
  })

  test.each([
    [
      'a secret that is refused',
      () => accessTo(real.url, { headers: { authorization: 'Bearer wrong-one' } }),
      502,
      'answered 401: the operator should check its headers',
    ],
    ['a dead server', () => accessTo('http://127.0.0.1:1/mcp'), 503, 'failed: '],
    [
      'a server that does not answer',
      () =>
        accessTo(
          serve(() => new Promise(() => undefined)),
          { listMs: 50 },
        ),
      503,
      'took more than 50 ms',
    ],
    [
      'a page of the web',
      () => accessTo(serve(() => new Response('<html>'))),
      502,
      'gave no answer of the protocol',
    ],
    [
      'a redirect to another server',
      () => accessTo(serve(() => Response.redirect(real.url, 307))),
      502,
      'answered 307: redirects are not followed',
    ],
    [
      'another version',
      () => accessTo(serverOf({ initialize: { ...HELLO, protocolVersion: '1.0' } })),
      502,
      "none of the protocol's versions",
    ],
    [
      '129 tools',
      () => accessTo(listing(Array.from({ length: 129 }, (_, i) => tool(`t${i}`)))),
      502,
      'more than 128 tools',
    ],
    [
      'a huge schema',
      () => accessTo(listing([tool('t', { type: 'object', title: 'x'.repeat(40_000) })])),
      502,
      'a schema of more than 32768 characters',
    ],
    ['no schema', () => accessTo(listing([{ name: 't' }])), 502, 'without a schema of an object'],
    ['the same name twice', () => accessTo(listing([tool('t'), tool('t')])), 502, 'twice the same'],
    [
      'pages without an end',
      () => accessTo(serverOf({ 'tools/list': { tools: [], nextCursor: 'more' } })),
      502,
      'more than 20 pages',
    ],
  ])('fails with %s, named without secrets', async (_, access, status, sentence) => {
    const failure = await failureOf(access().list('things'))
    expect(failure.status).toBe(status)
    expect(failure.message).toStartWith('The MCP server things ')
    expect(failure.message).toContain(sentence)
    expect(Bun.inspect(failure)).not.toMatch(/secret-4711|wrong-one/)
  })
})
