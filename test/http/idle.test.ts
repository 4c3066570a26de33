import { afterAll, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { labOf } from '../file-setup.ts'
import { API_KEY, startGateway } from '../gateway.ts'
import { startUpstream, streamed, unary } from '../upstream.ts'

/** How long the connection of a request may be silent: without a bound while its provider works, with one afterwards. */

const upstream = startUpstream()
const price = { prompt: '0.000001', completion: '0.000002' }
const gateway = await startGateway({
  providers: [
    labOf(
      upstream,
      ['whole', 'stream', 'sound', 'vector', 'fails'].map((id) => ({
        id,
        pricing: price,
        architecture: { output_modalities: ['text', 'speech', 'embeddings'] },
      })),
    ),
  ],
})
const app = createApp(gateway.deps)
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const BYTES = new Uint8Array(40_000)
upstream.on('whole', unary('x'.repeat(40_000)))
upstream.on('stream', streamed(['Hello']))
upstream.on('sound', () => new Response(BYTES, { headers: { 'content-type': 'audio/mpeg' } }))
upstream.on('vector', () =>
  Response.json({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [1] }],
    usage: { prompt_tokens: 1, total_tokens: 1 },
  }),
)
upstream.on('fails', () => Response.json({ error: { message: 'no' } }, { status: 400 }))

const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
})
const LIFTED = 0
const BOUNDED = 120

const rows: [name: string, path: string, body: object, seconds: number[]][] = [
  ['a complete reply', '/chat/completions', chat('whole'), [LIFTED, BOUNDED]],
  ['a stream', '/chat/completions', chat('stream', { stream: true }), [LIFTED, BOUNDED]],
  ['an error of a provider', '/chat/completions', chat('fails'), [LIFTED, BOUNDED]],
  ['embeddings', '/embeddings', { model: 'vector', input: 'Hi' }, [LIFTED, BOUNDED]],
  ['a refused request', '/chat/completions', {}, []],
]

/** The path of a request, called with a connection that notes its timeouts. */
async function secondsOf(path: string, body: object): Promise<number[]> {
  const seconds: number[] = []
  const request = new Request(`http://localhost/api/v1${path}`, {
    method: 'POST',
    headers: { host: 'localhost', authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const response = await app(request, {
    timeout: (_, timeout) => void seconds.push(timeout),
    requestIP: () => ({ address: '127.0.0.1' }),
  })
  await response.bytes()
  return seconds
}

test.each(rows)('%s', async (_, path, body, seconds) => {
  expect(await secondsOf(path, body)).toEqual(seconds)
})

test('speech has no keep-alives: no bound until its last byte', async () => {
  const seconds = await secondsOf('/audio/speech', { model: 'sound', input: 'Hi', voice: 'a' })
  expect(seconds.slice(0, 3)).toEqual([LIFTED, BOUNDED, LIFTED])
  expect(seconds.at(-1)).toBe(BOUNDED)
})
