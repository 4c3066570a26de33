import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { API_KEY, type Gateway, startGateway } from '../../gateway.ts'
import { chunk, type ScriptedServer, scriptedServer } from '../../net/scripted.ts'
import { speech } from './setup.ts'

/** Speech that breaks off, at the provider or at the caller. */

describe('interrupted speech', () => {
  let rough: Gateway
  let server: ScriptedServer
  let sockets: Socket[] = []
  beforeEach(async () => {
    sockets = []
    server = await scriptedServer((socket) => {
      sockets.push(socket)
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ntransfer-encoding: chunked\r\n\r\n')
      socket.write(chunk('0123456789') + chunk('0123456789'))
    })
    rough = await startGateway({
      listens: true,
      providers: [
        {
          slug: 'lab',
          base_url: `${server.url}/v1`,
          models: [{ id: 'tts-1', ...speech, pricing: { prompt: '0.000015', completion: '0' } }],
        },
      ],
    })
  })
  afterEach(async () => {
    server.stop()
    await rough.stop()
  })
  const begin = async (signal: AbortSignal) => {
    const reply = await fetch(`${rough.url}/api/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'tts-1', input: 'Hello' }),
      signal,
    })
    expect(reply.status).toBe(200)
    const reader = reply.body?.getReader()
    await reader?.read()
    return reader
  }

  test('never looks finished if the provider breaks off, and is settled once', async () => {
    const reader = await begin(new AbortController().signal)
    sockets[0]?.destroy()
    const end = async () => {
      for (;;) if ((await reader?.read())?.done) return 'finished'
    }
    expect(await end().catch(() => 'broken')).toBe('broken')
    expect(rough.generations()).toMatchObject([
      { api_type: 'tts', cancelled: 0, finish_reason: 'error', cost_nano_usd: 75_000 },
    ])
    expect(rough.deps.run.running.count()).toBe(0)
  })

  test('is charged and settled once if the client disconnects, and the provider’s connection closes', async () => {
    const abort = new AbortController()
    await begin(abort.signal)
    abort.abort()
    await server.closed()
    await rough.deps.run.running.drain(2_000)
    expect(rough.generations()).toMatchObject([
      { api_type: 'tts', cancelled: 1, finish_reason: 'error', cost_nano_usd: 75_000 },
    ])
    expect(rough.deps.run.running.count()).toBe(0)
    expect(rough.deps.ledger.heldNanoUsd()).toBe(0)
  })
})
