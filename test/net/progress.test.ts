import { afterEach, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import type { Timeouts } from '../../src/core/snapshot.ts'
import { createUpstream } from '../../src/net/client.ts'
import { createProgress } from '../../src/net/exchange.ts'
import { CHUNKED_HEAD, chunk, type ScriptedServer, scriptedServer } from './scripted.ts'
import { failureOf, PATIENT, send } from './send.ts'

/** What counts as progress of an answer, and how much of an error is waited for. */

const upstream = createUpstream()
const servers: ScriptedServer[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.stop()
  expect(upstream.inFlight()).toBe(0)
})

async function serve(script: (socket: Socket) => void): Promise<ScriptedServer> {
  const server = await scriptedServer(script)
  servers.push(server)
  return server
}

/** Sends a piece every few milliseconds for ever. */
const dripping = (piece: string) => (socket: Socket) => {
  socket.write(CHUNKED_HEAD)
  const drip = setInterval(() => socket.write(chunk(piece)), 10)
  socket.on('close', () => clearInterval(drip))
}

const TIMEOUTS: Timeouts = { firstByteMs: 100, betweenBytesMs: 60, totalMs: 1_000 }

test('before the first content, bytes give no more time', () => {
  const progress = createProgress(TIMEOUTS, 0)
  expect(progress.waitUntil(0)).toBe(100)
  progress.receive(20, 50)
  expect(progress.waitUntil(50)).toBe(100)
  expect(progress.reason()).toBe('no content came within 100 ms')
})

test('silence is over sooner than pings are', () => {
  const progress = createProgress(TIMEOUTS, 0)
  progress.advance()
  expect(progress.waitUntil(10)).toBe(70)
  progress.receive(5, 60)
  // 50 of 100 ms are used up.
  expect(progress.waitUntil(60)).toBe(110)
  progress.receive(5, 100)
  expect(progress.waitUntil(100)).toBe(110)
  expect(progress.reason()).toBe('nothing but pings came for 100 ms')
  progress.advance()
  expect(progress.waitUntil(100)).toBe(160)
  expect(progress.reason()).toBeUndefined()
})

test('the time in which the consumer has the turn does not count', () => {
  const progress = createProgress(TIMEOUTS, 0)
  progress.advance()
  progress.waitUntil(0)
  progress.receive(5, 30)
  expect(progress.waitUntil(100_000)).toBe(100_060)
})

test('a megabyte is progress: an image comes as one event', () => {
  const progress = createProgress(TIMEOUTS, 0)
  progress.waitUntil(0)
  progress.receive(1024 * 1024, 90)
  expect(progress.waitUntil(90)).toBe(190)
})

test('a body of JSON that drips is cut', async () => {
  for (const piece of ['x', '\n']) {
    const server = await serve(dripping(piece))
    const answer = await send(upstream, server.url, {
      timeouts: { ...PATIENT, firstByteMs: 300, betweenBytesMs: 200 },
    })
    const reply = failureOf(answer.text())
    expect(await reply).toMatchObject({ kind: 'timeout' })
    await server.closed()
  }
})

test('the first bytes of an error that drips for ever', async () => {
  const server = await serve(dripping('no '))
  const answer = await send(upstream, server.url, { timeouts: PATIENT })
  expect(await answer.beginning(64 * 1024, 300)).toStartWith('no no ')
  await server.closed()
})

test('the first bytes of an error that is larger than any reason', async () => {
  const server = await serve((socket) => socket.write(CHUNKED_HEAD + chunk('x'.repeat(200_000))))
  const answer = await send(upstream, server.url, { timeouts: PATIENT })
  expect((await answer.beginning(64 * 1024, 10_000)).length).toBe(64 * 1024)
  await server.closed()
})

test('the first bytes of an error that breaks off', async () => {
  const server = await serve((socket) => {
    socket.write(CHUNKED_HEAD + chunk('half of it'))
    setTimeout(() => socket.destroy(), 50)
  })
  const answer = await send(upstream, server.url, { timeouts: PATIENT })
  expect(await answer.beginning(64 * 1024, 10_000)).toBe('half of it')
})
