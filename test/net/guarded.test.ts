import { afterEach, describe, expect, test } from 'bun:test'
import { GatewayError, UpstreamError } from '../../src/core/errors.ts'
import { parseOutboundAllow } from '../../src/net/address.ts'
import { type GuardedOptions, guardedFetch, type Resolve } from '../../src/net/guarded.ts'
import { CHUNKED_HEAD, chunk, LAST_CHUNK, reply, type ScriptedServer, scriptedServer } from './scripted.ts'
import { failureOf } from './send.ts'

const servers: ScriptedServer[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.stop()
})

async function serve(...args: Parameters<typeof scriptedServer>): Promise<ScriptedServer> {
  const server = await scriptedServer(...args)
  servers.push(server)
  return server
}

/** Answers each name with the next of its lists of addresses, and counts. */
function resolver(answers: Record<string, string[][]>): { resolve: Resolve; asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async resolve(host) {
      const nth = asked.filter((name) => name === host).length
      asked.push(host)
      return answers[host]?.[nth] ?? []
    },
  }
}

const FRIEND = parseOutboundAllow(['friend.example'])
const LOOPBACK = parseOutboundAllow(['127.0.0.1'])
const BASE: GuardedOptions = { limitBytes: 1_000_000, timeoutMs: 5000 }

const text = (body: Uint8Array): string => new TextDecoder().decode(body)

describe('what the name resolves to', () => {
  test('is resolved once, and the connection goes to the checked address', async () => {
    const server = await serve((socket) => socket.end(reply('hello')))
    // The second answer is what a rebinding resolver would give to a second question.
    const { resolve, asked } = resolver({ 'rebinding.example': [['127.0.0.1'], ['10.0.0.1']] })
    const answer = await guardedFetch(`http://rebinding.example:${server.port}/a?b=c`, {
      ...BASE,
      allow: LOOPBACK,
      resolve,
    })
    expect(text(answer.body)).toBe('hello')
    expect(asked).toEqual(['rebinding.example'])
    expect(server.requests[0]).toStartWith('GET /a?b=c HTTP/1.1\r\n')
    expect(server.requests[0]?.toLowerCase()).toContain(`host: rebinding.example:${server.port}\r\n`)
  })

  test('a name that turned private refuses, and the listener there hears nothing', async () => {
    const canary = await serve((socket) => socket.end(reply('secret')))
    const { resolve } = resolver({ 'rebinding.example': [['127.0.0.1']] })
    const failure = await failureOf(
      guardedFetch(`http://rebinding.example:${canary.port}/`, { ...BASE, resolve }),
    )
    expect(failure).toMatchObject({ status: 400 })
    expect(canary.requests).toEqual([])
  })

  const MIXED: string[][] = [
    ['8.8.8.8', '10.0.0.1'],
    ['10.0.0.1', '8.8.8.8'],
    ['8.8.8.8', '::1'],
    ['2606:4700:4700::1111', 'fe80::1%eth0'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::a00:1'],
    ['169.254.169.254'],
    ['not an address'],
  ]
  test.each(MIXED)('one address that is not public refuses the name: %p %p', async (...addresses) => {
    const list = addresses.filter((address) => typeof address === 'string')
    const { resolve } = resolver({ 'mixed.example': [list] })
    const failure = await failureOf(
      guardedFetch('http://mixed.example:9/', { ...BASE, resolve, path: 'url' }),
    )
    expect(failure).toBeInstanceOf(GatewayError)
    expect(String(failure)).toContain('url: The URL leads to a private')
    for (const address of list) expect(String(failure)).not.toContain(address)
  })

  test('nothing is a failure to connect', async () => {
    const { resolve } = resolver({})
    const failure = await failureOf(guardedFetch('http://nowhere.example/', { ...BASE, resolve }))
    expect(failure).toMatchObject({ kind: 'connect', code: 'ENOTFOUND' })
  })

  test('is the system’s answer unless a resolver is given', async () => {
    const server = await serve((socket) => socket.end(reply('hello')))
    const refused = await failureOf(guardedFetch(`http://localhost:${server.port}/`, BASE))
    expect(refused).toMatchObject({ status: 400 })
    expect(server.requests).toEqual([])
    const allow = parseOutboundAllow(['localhost'])
    const allowed = await guardedFetch(`http://localhost:${server.port}/`, { ...BASE, allow })
    expect(text(allowed.body)).toBe('hello')
  })

  test('is tried address by address', async () => {
    const server = await serve((socket) => socket.end(reply('hello')))
    const { resolve } = resolver({ 'friend.example': [['::1', '127.0.0.1']] })
    const answer = await guardedFetch(`http://friend.example:${server.port}/`, {
      ...BASE,
      allow: FRIEND,
      resolve,
    })
    expect(text(answer.body)).toBe('hello')
  })
})

describe('redirects', () => {
  const PRIVATE_TARGETS = [
    (port: number) => `http://127.0.0.1:${port}/`,
    (port: number) => `http://localhost:${port}/`,
    (port: number) => `http://2130706433:${port}/`,
    (port: number) => `http://[::ffff:127.0.0.1]:${port}/`,
    (port: number) => `//127.0.0.1:${port}/`,
    (port: number) => `http://user@friend.example:${port}/`,
    (port: number) => `http://turned.example:${port}/`,
    () => 'file:///etc/hostname',
    () => 'ftp://friend.example/',
    () => 'http://[',
  ]
  test.each(PRIVATE_TARGETS)('never lead to a private address (%#)', async (target) => {
    const canary = await serve((socket) => socket.end(reply('secret')))
    const first = await serve((socket) =>
      socket.end(reply('', '302 Found', `location: ${target(canary.port)}\r\n`)),
    )
    const { resolve } = resolver({
      'friend.example': [['127.0.0.1'], ['127.0.0.1']],
      'turned.example': [['127.0.0.1']],
    })
    const failure = await failureOf(
      guardedFetch(`http://friend.example:${first.port}/`, { ...BASE, allow: FRIEND, resolve }),
    )
    expect(failure).toMatchObject({ status: 400 })
    expect(canary.requests).toEqual([])
    expect(first.requests).toHaveLength(1)
  })

  test('each hop is resolved and checked anew', async () => {
    const server = await serve((socket) =>
      socket.end(reply('', '307 Temporary Redirect', 'location: /next\r\n')),
    )
    const { resolve, asked } = resolver({ 'turning.example': [['127.0.0.1'], ['192.168.0.1']] })
    const failure = await failureOf(
      guardedFetch(`http://turning.example:${server.port}/`, { ...BASE, allow: LOOPBACK, resolve }),
    )
    expect(failure).toMatchObject({ status: 400 })
    expect(asked).toEqual(['turning.example', 'turning.example'])
    expect(server.requests).toHaveLength(1)
  })

  test('are followed by GET, and another origin does not see the headers', async () => {
    const second = await serve((socket) => socket.end(reply('there')))
    const first = await serve((socket, index) =>
      socket.end(
        index === 0
          ? reply('', '301 Moved Permanently', 'location: /b\r\n')
          : reply('', '308 Permanent Redirect', `location: http://127.0.0.1:${second.port}/c\r\n`),
      ),
    )
    const answer = await guardedFetch(`${first.url}/a`, {
      ...BASE,
      allow: LOOPBACK,
      headers: { authorization: 'Bearer secret', 'x-api-key': 'secret' },
    })
    expect(answer).toMatchObject({ status: 200, url: `${second.url}/c` })
    expect(first.requests.map((request) => request.includes('Bearer secret'))).toEqual([true, true])
    expect(second.requests[0]).not.toContain('secret')
  })

  test('end after five', async () => {
    const server = await serve((socket) => socket.end(reply('', '302 Found', 'location: /again\r\n')))
    const failure = await failureOf(guardedFetch(server.url, { ...BASE, allow: LOOPBACK }))
    expect(String(failure)).toContain('redirects more than 5 times')
    expect(server.requests).toHaveLength(6)
  })

  test('are the answer for POST, and with maxRedirects 0', async () => {
    const server = await serve((socket) =>
      socket.end(reply('', '302 Found', 'location: http://10.0.0.1/\r\n')),
    )
    const posted = await guardedFetch(server.url, {
      ...BASE,
      allow: LOOPBACK,
      method: 'POST',
      body: '{"é":1}',
    })
    expect(posted.status).toBe(302)
    expect(server.requests[0]?.toLowerCase()).toContain('content-length: 8\r\n')
    const got = await guardedFetch(server.url, { ...BASE, allow: LOOPBACK, maxRedirects: 0 })
    expect(got.status).toBe(302)
    expect(server.requests).toHaveLength(2)
  })
})

describe('bounds', () => {
  test('a body is read up to its limit, and the connection is closed beyond it', async () => {
    const server = await serve((socket, index) => {
      if (index === 0) return socket.end(reply('x'.repeat(100)))
      if (index === 1) return socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 101\r\n\r\n`)
      socket.write(CHUNKED_HEAD + chunk('x'.repeat(60)) + chunk('x'.repeat(60)))
    })
    const options = { ...BASE, allow: LOOPBACK, limitBytes: 100 }
    expect((await guardedFetch(server.url, options)).body.byteLength).toBe(100)
    for (const connection of [1, 2]) {
      const failure = await failureOf(guardedFetch(server.url, options))
      expect(failure).toMatchObject({ kind: 'malformed' })
      await server.closed(connection)
    }
  })

  const SILENCES: [name: string, bytes: string][] = [
    ['before the status line', ''],
    ['in the headers', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['in the body', CHUNKED_HEAD + chunk('a')],
  ]
  test.each(SILENCES)('silence %s ends in a timeout', async (_name, bytes) => {
    const server = await serve((socket) => socket.write(bytes))
    const failure = await failureOf(guardedFetch(server.url, { ...BASE, allow: LOOPBACK, timeoutMs: 200 }))
    expect(failure).toMatchObject({ kind: 'timeout' })
    await server.closed()
  })

  test('a resolver that never answers ends in a timeout', async () => {
    const failure = await failureOf(
      guardedFetch('http://slow.example/', {
        ...BASE,
        timeoutMs: 50,
        resolve: () => new Promise(() => undefined),
      }),
    )
    expect(failure).toMatchObject({ kind: 'timeout' })
  })

  test('an abort is rethrown as its reason and closes the connection', async () => {
    const controller = new AbortController()
    const reason = new Error('no longer wanted')
    const server = await serve((socket) => {
      socket.write(CHUNKED_HEAD + chunk('a'))
      controller.abort(reason)
    })
    const failure = await failureOf(
      guardedFetch(server.url, { ...BASE, allow: LOOPBACK, signal: controller.signal }),
    )
    expect(failure).toBe(reason)
    await server.closed()
  })

  const BROKEN: [name: string, bytes: string][] = [
    ['no answer', ''],
    ['garbage', 'HELLO\r\n\r\n'],
    ['a short body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
    ['a cut chunk', CHUNKED_HEAD + chunk('abc')],
  ]
  test.each(BROKEN)('%s is a failure to connect', async (_name, bytes) => {
    const server = await serve((socket) => socket.end(bytes))
    const failure = await failureOf(guardedFetch(server.url, { ...BASE, allow: LOOPBACK }))
    expect(failure).toBeInstanceOf(UpstreamError)
    expect(failure).toMatchObject({ kind: 'connect' })
  })

  test('a compressed body is refused', async () => {
    const server = await serve((socket) => socket.end(reply('x', '200 OK', 'content-encoding: gzip\r\n')))
    const failure = await failureOf(guardedFetch(server.url, { ...BASE, allow: LOOPBACK }))
    expect(failure).toMatchObject({ kind: 'malformed' })
    expect(server.requests[0]?.toLowerCase()).toContain('accept-encoding: identity\r\n')
  })

  test('statuses and repeated headers arrive as they were sent', async () => {
    const server = await serve((socket) =>
      socket.end(
        `HTTP/1.1 404 Not Found\r\nx-a: 1\r\nx-a: 2\r\ntransfer-encoding: chunked\r\n\r\n${chunk('no')}${LAST_CHUNK}`,
      ),
    )
    const answer = await guardedFetch(server.url, { ...BASE, allow: LOOPBACK })
    expect(answer.status).toBe(404)
    expect(answer.headers.get('x-a')).toBe('1, 2')
    expect(text(answer.body)).toBe('no')
  })
})
