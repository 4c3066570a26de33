import { describe, expect, test } from 'bun:test'
import { gatewayOfFile, lastRowOf } from '../file-setup.ts'
import { CHUNKED_HEAD, chunk as httpChunk, scriptedServer } from '../net/scripted.ts'
import { SELF_SIGNED } from '../net/self-signed.ts'
import { chunk, startUpstream, streamed, unary } from '../upstream.ts'

/** Providers that cannot be reached, speak no HTTP or break the connection before the first content. */

const role = httpChunk(chunk({ role: 'assistant', content: '' }))
const closedPort = async (): Promise<string> => {
  const server = await scriptedServer(() => undefined)
  server.stop()
  return server.url
}
const selfSigned = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  tls: SELF_SIGNED,
  fetch: () => new Response('no'),
})
const plain = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('no') })
const scripts = {
  'closes the connection': await scriptedServer((socket) => socket.destroy()),
  'resets the connection': await scriptedServer((socket) => socket.resetAndDestroy()),
  'resets it within the head': await scriptedServer((socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-ty', () => setImmediate(() => socket.resetAndDestroy())),
  ),
  'resets it after the role': await scriptedServer((socket) =>
    socket.write(CHUNKED_HEAD + role, () => setImmediate(() => socket.resetAndDestroy())),
  ),
  'speaks another protocol': await scriptedServer((socket) =>
    socket.end('SSH-2.0-OpenSSH_9.9 and no HTTP\r\n\r\n'),
  ),
}
const ADDRESSES: Readonly<Record<string, string>> = {
  'has a name that does not resolve': 'http://no-such-provider.invalid',
  'refuses the connection': await closedPort(),
  'has a self-signed certificate': `https://127.0.0.1:${selfSigned.port}`,
  'speaks no TLS': `https://127.0.0.1:${plain.port}`,
  ...Object.fromEntries(Object.entries(scripts).map(([name, { url }]) => [name, url])),
}
const NAMES = Object.keys(ADDRESSES)

const healthy = startUpstream()
const modelOf = (index: number, stream: boolean): string => `model-${index}-${stream ? 'stream' : 'complete'}`
const pricing = { prompt: '0.000001', completion: '0.000002' }
const models = NAMES.flatMap((_, index) => [modelOf(index, true), modelOf(index, false)])
const gateway = await gatewayOfFile(
  {
    providers: [
      ...NAMES.map((name, index) => ({
        slug: `broken-${index}`,
        name: 'Broken',
        dialect: 'chat',
        base_url: `${ADDRESSES[name]}/v1`,
        models: [`alone-${index}`, modelOf(index, true), modelOf(index, false)].map((id) => ({
          id,
          pricing,
        })),
      })),
      {
        slug: 'healthy',
        dialect: 'chat',
        base_url: healthy.baseUrl,
        models: models.map((id) => ({ id, pricing })),
      },
    ],
  },
  healthy,
  {
    async stop() {
      for (const server of Object.values(scripts)) server.stop()
      await Promise.all([selfSigned.stop(true), plain.stop(true)])
    },
  },
)
gateway.deps.run.wait = async () => undefined
const lastGeneration = lastRowOf(gateway)

const ask = (model: string, stream: boolean, index: number) =>
  gateway.call('/chat/completions', {
    model,
    stream,
    messages: [{ role: 'user', content: 'Hello' }],
    provider: { order: [`broken-${index}`, 'healthy'] },
  })

for (const stream of [false, true]) {
  describe(`the next provider gives ${stream ? 'one clean stream' : 'one answer'}, charged once, if the first`, () => {
    test.each(NAMES.map((name, index) => [name, index] as const))('%s', async (_, index) => {
      const model = modelOf(index, stream)
      healthy.on(model, stream ? streamed(['all ', 'of it']) : unary('all of it'))
      const rows = gateway.generations().length
      const response = await ask(model, stream, index)
      const text = await response.text()
      expect([response.status, text]).toEqual([200, expect.stringContaining('of it')])
      expect(text).not.toContain('"error":{')
      expect(gateway.generations().length).toBe(rows + 1)
      expect(lastGeneration()).toMatchObject({ provider_slug: 'healthy', cost_nano_usd: 20_000 })
    })
  })
}

describe('without another provider the caller gets a 502 that says no address, and is charged nothing, if the only one', () => {
  test.each(NAMES.map((name, index) => [name, index] as const))('%s', async (name, index) => {
    const response = await ask(`alone-${index}`, true, index)
    const text = await response.text()
    expect([response.status, text]).toEqual([502, expect.stringContaining('Broken')])
    expect(text).not.toContain(new URL(ADDRESSES[name] ?? '').host)
    expect(lastGeneration()).toMatchObject({ finish_reason: 'error', cost_nano_usd: 0 })
  })
})
