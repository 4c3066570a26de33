import { describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { UpstreamError } from '../../src/core/errors.ts'
import type { Timeouts } from '../../src/core/snapshot.ts'
import { createUpstream } from '../../src/net/client.ts'
import { CHUNKED_HEAD, chunk, LAST_CHUNK } from './scripted.ts'
import { failureOf, outcomeOf, PATIENT, send } from './send.ts'
import { upstreamForFile } from './servers.ts'

const { upstream, serve } = upstreamForFile()

describe('clocks', () => {
  const SHORT: Timeouts = { firstByteMs: 60, betweenBytesMs: 10_000, totalMs: 20_000 }

  const BEFORE_FIRST_BYTE: [name: string, bytes: string][] = [
    ['silence', ''],
    ['part of a status line', 'HTTP/1.'],
    ['part of the headers', 'HTTP/1.1 200 OK\r\ncontent-type: text/ev'],
    ['headers without a body', CHUNKED_HEAD],
  ]
  test.each(BEFORE_FIRST_BYTE)('first byte: %s', async (_name, bytes) => {
    const server = await serve((socket) => socket.write(bytes))
    const outcome = await outcomeOf(send(upstream, server.url, { timeouts: SHORT }))
    expect(outcome.error).toMatchObject({ kind: 'timeout', reason: 'no first byte came within 60 ms' })
    await server.closed()
  })

  test('first byte: garbage for a status line is cut, at the latest by the clock', async () => {
    const server = await serve((socket) => socket.write('HELLO THERE\r\n\r\n'))
    const failure = await failureOf(send(upstream, server.url, { timeouts: SHORT }))
    expect(failure).toBeInstanceOf(UpstreamError)
    expect(['connect', 'timeout']).toContain(failure instanceof UpstreamError ? failure.kind : '')
  })

  test('first byte: read as text', async () => {
    const server = await serve((socket) => socket.write(CHUNKED_HEAD))
    const answer = await send(upstream, server.url, { timeouts: { ...SHORT, firstByteMs: 400 } })
    expect(await failureOf(answer.text())).toMatchObject({ kind: 'timeout' })
    await server.closed()
  })

  const SHORT_BODIES: [name: string, bytes: string][] = [
    ['nothing of it', ''],
    ['a part of it', 'hel'],
  ]
  test.each(SHORT_BODIES)(
    'between bytes: a short body that is announced, of which comes %s',
    async (_, bytes) => {
      const server = await serve((socket) =>
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n${bytes}`),
      )
      const timeouts = { ...SHORT, firstByteMs: 10_000, betweenBytesMs: 60 }
      const answer = await send(upstream, server.url, { timeouts })
      const reason = 'the reply stalled for 60 ms'
      expect(await failureOf(answer.text())).toMatchObject({ kind: 'timeout', reason })
      await server.closed()
    },
  )

  test('first byte: a short body may come later than that', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel')
      setTimeout(() => socket.write('lo'), 500)
    })
    const answer = await send(upstream, server.url, { timeouts: { ...SHORT, firstByteMs: 400 } })
    expect(await answer.text()).toBe('hello')
  })

  test('first byte: an answer without a reader releases its place', async () => {
    const server = await serve((socket) => socket.write(CHUNKED_HEAD + chunk('hello')))
    const answer = await send(upstream, server.url, { timeouts: { ...SHORT, firstByteMs: 400 } })
    while (upstream.inFlight() > 0) await Bun.sleep(5)
    await server.closed()
    expect(await failureOf(answer.text())).toMatchObject({ kind: 'timeout' })
  })

  test('between bytes: a stall', async () => {
    const server = await serve((socket) => socket.write(CHUNKED_HEAD + chunk('hello')))
    const outcome = await outcomeOf(
      send(upstream, server.url, { timeouts: { ...PATIENT, betweenBytesMs: 60 } }),
    )
    expect(outcome).toMatchObject({
      text: 'hello',
      error: { kind: 'timeout', reason: 'the reply stalled for 60 ms' },
    })
    await server.closed()
  })

  test('total: a drip that never ends', async () => {
    const server = await serve((socket) => {
      socket.write(CHUNKED_HEAD)
      const drip = setInterval(() => socket.write(chunk('x')), 5)
      socket.on('close', () => clearInterval(drip))
    })
    const outcome = await outcomeOf(send(upstream, server.url, { timeouts: { ...PATIENT, totalMs: 120 } }))
    expect(outcome.error).toMatchObject({ kind: 'timeout', reason: 'the reply had not ended after 120 ms' })
    await server.closed()
  })
})

describe('clocks, by a clock that the test moves', () => {
  const TIMEOUTS: Timeouts = { firstByteMs: 100_000, betweenBytesMs: 1000, totalMs: 1_000_000 }

  /** A client, and a way to let time pass until its clocks have looked at all open calls. */
  async function movedClient() {
    let time = 0
    const client = createUpstream({ now: () => time })
    const silent = await serve(() => undefined)
    const pass = async (ms: number): Promise<void> => {
      const timeouts = { firstByteMs: ms, betweenBytesMs: 50, totalMs: 1_000_000 }
      const sentinel = failureOf(send(client, silent.url, { group: 'sentinel', timeouts }))
      time += ms
      expect(await sentinel).toMatchObject({ kind: 'timeout' })
    }
    return { client, pass }
  }

  test('a drip that keeps its pace is not cut', async () => {
    const { client, pass } = await movedClient()
    const connected = Promise.withResolvers<Socket>()
    const server = await serve((socket) => {
      socket.write(CHUNKED_HEAD + chunk('0'))
      connected.resolve(socket)
    })
    const reply = await send(client, server.url, { timeouts: TIMEOUTS })
    const bytes = reply.bytes[Symbol.asyncIterator]()
    await bytes.next()
    const socket = await connected.promise
    for (let count = 1; count <= 4; count += 1) {
      const next = bytes.next()
      await pass(900)
      socket.write(chunk(String(count)))
      expect(await next).toEqual({ done: false, value: Buffer.from(String(count)) })
    }
    const stalled = failureOf(bytes.next())
    await pass(1000)
    expect(await stalled).toMatchObject({ kind: 'timeout', reason: 'the reply stalled for 1000 ms' })
    client.close()
  })

  test('a consumer that takes its time is not a stall', async () => {
    const { client, pass } = await movedClient()
    const server = await serve((socket) => socket.write(CHUNKED_HEAD + chunk('a') + chunk('b') + LAST_CHUNK))
    const reply = await send(client, server.url, { timeouts: TIMEOUTS })
    let text = ''
    for await (const bytes of reply.bytes) {
      text += new TextDecoder().decode(bytes)
      await pass(5000)
    }
    expect(text).toBe('ab')
    client.close()
  })

  test('the total timeout ends a reply whose consumer never continues', async () => {
    const { client, pass } = await movedClient()
    const server = await serve((socket) => socket.write(CHUNKED_HEAD + chunk('a')))
    const reply = await send(client, server.url, { timeouts: TIMEOUTS })
    const bytes = reply.bytes[Symbol.asyncIterator]()
    await bytes.next()
    await pass(1_000_000)
    await server.closed()
    expect(await failureOf(bytes.next())).toMatchObject({ kind: 'timeout' })
    expect(client.inFlight()).toBe(0)
  })
})
