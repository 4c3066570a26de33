import { describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { cancellationOf, newCancellation } from '../../src/core/cancellation.ts'
import { createUpstream } from '../../src/net/client.ts'
import { CHUNKED_HEAD, chunk, LAST_CHUNK, reply, type ScriptedServer } from './scripted.ts'
import { failureOf, outcomeOf, PATIENT, post, send } from './send.ts'
import { upstreamForFile } from './servers.ts'

/** What a hang-up may take to reach the provider. */
const CLOSED_WITHIN_MS = 200

const { upstream, serve } = upstreamForFile()

/** Sends a first chunk and is silent from then on. */
const stalling = (): Promise<ScriptedServer> => serve((socket) => socket.write(CHUNKED_HEAD + chunk('hello')))

describe('the request', () => {
  test('is the call, uncompressed answers asked for, and nothing of ours', async () => {
    const server = await serve((socket) => socket.write(reply('{}')))
    await outcomeOf(
      upstream.send(post(`${server.url}/v1/chat/completions?a=b`, '{"é":1}'), {
        group: 'lab',
        maxInFlight: 1,
        timeouts: PATIENT,
        cancellation: newCancellation(),
      }),
    )
    const [head] = server.requests[0]?.split('\r\n\r\n') ?? []
    const lines = head?.toLowerCase().split('\r\n').toSorted()
    expect(lines).toEqual([
      'accept-encoding: identity',
      'accept: */*',
      'authorization: bearer test',
      'connection: keep-alive',
      'content-length: 8',
      'content-type: application/json',
      `host: 127.0.0.1:${server.port}`,
      'post /v1/chat/completions?a=b http/1.1',
      'user-agent: sluice',
    ])
  })

  test('goes over one connection, call after call that was read to its end', async () => {
    const connections = new Set<Socket>()
    const server = await serve((socket) => {
      connections.add(socket)
      socket.write(CHUNKED_HEAD + chunk('hello') + LAST_CHUNK)
    })
    for (let count = 0; count < 5; count += 1) await outcomeOf(send(upstream, server.url))
    expect(server.requests).toHaveLength(5)
    expect(connections.size).toBe(1)
  })
})

describe('a hang-up', () => {
  test('before the headers', async () => {
    const controller = new AbortController()
    const reason = new Error('gone')
    const arrived = Promise.withResolvers<void>()
    const server = await serve(() => arrived.resolve())
    const failure = failureOf(send(upstream, server.url, { cancellation: cancellationOf(controller.signal) }))
    await arrived.promise
    const startedAt = performance.now()
    controller.abort(reason)
    expect(await failure).toBe(reason)
    expect((await server.closed()) - startedAt).toBeLessThan(CLOSED_WITHIN_MS)
  })

  test('before anything is sent takes no place and no connection', async () => {
    const server = await stalling()
    const reason = new Error('gone')
    expect(
      await failureOf(
        send(upstream, server.url, { cancellation: cancellationOf(AbortSignal.abort(reason)) }),
      ),
    ).toBe(reason)
    expect(server.requests).toEqual([])
  })

  test('after the headers, before the body is read', async () => {
    const controller = new AbortController()
    const server = await stalling()
    const answer = await send(upstream, server.url, { cancellation: cancellationOf(controller.signal) })
    const startedAt = performance.now()
    controller.abort(new Error('gone'))
    expect((await server.closed()) - startedAt).toBeLessThan(CLOSED_WITHIN_MS)
    expect(upstream.inFlight()).toBe(0)
    expect(await failureOf(answer.text())).toMatchObject({ message: 'gone' })
  })

  test('while the body is awaited', async () => {
    const controller = new AbortController()
    const reason = new Error('gone')
    const server = await stalling()
    const answer = await send(upstream, server.url, { cancellation: cancellationOf(controller.signal) })
    const bytes = answer.bytes[Symbol.asyncIterator]()
    await bytes.next()
    const next = failureOf(bytes.next())
    const startedAt = performance.now()
    controller.abort(reason)
    expect(await next).toBe(reason)
    expect((await server.closed()) - startedAt).toBeLessThan(CLOSED_WITHIN_MS)
  })

  test('while text is awaited', async () => {
    const controller = new AbortController()
    const reason = new Error('gone')
    const server = await stalling()
    const answer = await send(upstream, server.url, { cancellation: cancellationOf(controller.signal) })
    const failure = failureOf(answer.text())
    controller.abort(reason)
    expect(await failure).toBe(reason)
    await server.closed()
  })

  test('by leaving the loop', async () => {
    const server = await stalling()
    const answer = await send(upstream, server.url)
    let startedAt = 0
    for await (const bytes of answer.bytes) {
      expect(new TextDecoder().decode(bytes)).toBe('hello')
      startedAt = performance.now()
      break
    }
    expect((await server.closed()) - startedAt).toBeLessThan(CLOSED_WITHIN_MS)
  })

  test('by throwing in the loop', async () => {
    const server = await stalling()
    const answer = await send(upstream, server.url)
    const reading = async (): Promise<void> => {
      for await (const _ of answer.bytes) throw new Error('unreadable')
    }
    expect(await failureOf(reading())).toMatchObject({ message: 'unreadable' })
    await server.closed()
  })

  test('after the end does nothing', async () => {
    const controller = new AbortController()
    const server = await serve((socket) => socket.write(reply('hello')))
    const outcome = await outcomeOf(
      send(upstream, server.url, { cancellation: cancellationOf(controller.signal) }),
    )
    controller.abort()
    expect(outcome).toEqual({ status: 200, text: 'hello', error: null })
    expect((await outcomeOf(send(upstream, server.url))).text).toBe('hello')
  })
})

describe('a body', () => {
  test('is pulled: a consumer that stops stops the provider', async () => {
    const total = 64 * 1024 * 1024
    const block = Buffer.alloc(64 * 1024, 'x')
    let sent = 0
    const server = await serve((socket) => {
      const pump = (): void => {
        while (sent < total) {
          sent += block.length
          if (!socket.write(block)) return void socket.once('drain', pump)
        }
      }
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`)
      pump()
    })
    const answer = await send(upstream, server.url)
    const bytes = answer.bytes[Symbol.asyncIterator]()
    let received = 0
    while (received < 1024 * 1024) received += (await bytes.next()).value?.byteLength ?? 0
    // Other calls to the same process go their way meanwhile, which gives a pump that is not held the time to run.
    const other = await serve((socket) => socket.write(reply('hello')))
    for (let count = 0; count < 200; count += 1) await outcomeOf(send(upstream, other.url))
    expect(sent).toBeLessThan(total / 2)
    for (let next = await bytes.next(); !next.done; next = await bytes.next())
      received += next.value.byteLength
    expect(received).toBe(total)
  })

  test('arrives unchanged, whatever its cut', async () => {
    const sent = crypto.getRandomValues(new Uint8Array(60_000))
    const server = await serve((socket) => {
      socket.write(CHUNKED_HEAD)
      for (let at = 0, size = 1; at < sent.length; at += size, size = (size * 7) % 997 || 1) {
        const part = sent.subarray(at, at + size)
        socket.write(`${part.length.toString(16)}\r\n`)
        socket.write(part)
        socket.write('\r\n')
      }
      socket.write(LAST_CHUNK)
    })
    const parts: Uint8Array[] = []
    for await (const bytes of (await send(upstream, server.url)).bytes) parts.push(bytes)
    expect(Buffer.concat(parts).equals(Buffer.from(sent))).toBe(true)
  })

  test('as text joins characters that were cut', async () => {
    const text = '{"a":"é—𝄞"}'
    const server = await serve((socket) => {
      socket.write(CHUNKED_HEAD)
      for (const byte of Buffer.from(text)) {
        socket.write('1\r\n')
        socket.write(Buffer.from([byte]))
        socket.write('\r\n')
      }
      socket.write(LAST_CHUNK)
    })
    expect(await (await send(upstream, server.url)).text()).toBe(text)
  })

  const TOO_LARGE: [name: string, head: string][] = [
    ['with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n'],
    ['in chunks', CHUNKED_HEAD + chunk('x'.repeat(60)) + chunk('x'.repeat(60))],
  ]
  test.each(TOO_LARGE)('as text has a limit; length %s', async (_name, head) => {
    const server = await serve((socket) => socket.write(head))
    const answer = await send(upstream, server.url)
    expect(await failureOf(answer.text(100))).toMatchObject({ kind: 'malformed' })
    await server.closed()
  })

  test('as text of exactly the limit is read', async () => {
    const server = await serve((socket) => socket.write(reply('x'.repeat(100))))
    expect(await (await send(upstream, server.url)).text(100)).toBe('x'.repeat(100))
  })

  test('is bounded by what it is unpacked to', async () => {
    const packed = gzipSync(Buffer.alloc(100_000, 97))
    const server = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`)
      socket.write(packed)
    })
    expect(await failureOf((await send(upstream, server.url)).text(1_000))).toMatchObject({
      kind: 'malformed',
    })
  })

  test('is bounded by its bytes if it has a length and comes in chunks', async () => {
    const server = await serve((socket) => {
      const head = CHUNKED_HEAD.replace('\r\n\r\n', '\r\ncontent-length: 5\r\n\r\n')
      socket.write(head + chunk('x'.repeat(5_000)) + LAST_CHUNK)
    })
    expect(await failureOf((await send(upstream, server.url)).text(1_000))).toMatchObject({
      kind: 'malformed',
    })
  })

  test('is read once', async () => {
    const server = await serve((socket) => socket.write(reply('hello')))
    const answer = await send(upstream, server.url)
    expect(await answer.text()).toBe('hello')
    expect(await failureOf(answer.text())).toBeInstanceOf(TypeError)
  })
})

test('close cuts what is open and sends nothing more', async () => {
  const client = createUpstream()
  const server = await stalling()
  const waiting = outcomeOf(send(client, server.url))
  const reply = await send(client, server.url)
  client.close()
  expect((await waiting).error).toMatchObject({ kind: 'connect', reason: 'the gateway is stopping' })
  expect(await failureOf(reply.text())).toMatchObject({ kind: 'connect' })
  expect(await failureOf(send(client, server.url))).toMatchObject({ kind: 'connect' })
  expect(client.inFlight()).toBe(0)
})
