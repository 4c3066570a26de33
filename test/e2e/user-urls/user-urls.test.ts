import { beforeEach, describe, expect, test } from 'bun:test'
import { gatewayOfFile } from '../../file-setup.ts'
import { startGateway } from '../../gateway.ts'
import { startUpstream } from '../../upstream.ts'
import { CALLS, chat } from './places.ts'
import { PRIVATE, WORDS } from './words.ts'

/** Addresses of private machines reach no provider, wherever in a request they stand and however they are written. */

const upstream = startUpstream()
const entry = (slug: string, dialect: string, more: Record<string, unknown> = {}) => ({
  slug,
  dialect,
  base_url: upstream.baseUrl,
  api_key: 'secret',
  takes_urls: true,
  models: [{ id: slug, pricing: { prompt: '0', completion: '0' }, ...more }],
})
const gateway = await gatewayOfFile(
  {
    providers: [
      entry('talk', 'chat'),
      entry('answers', 'responses'),
      entry('claude', 'messages'),
      entry('vectors', 'chat', { architecture: { output_modalities: ['embeddings'] } }),
    ],
  },
  upstream,
)

beforeEach(() => {
  upstream.seen.length = 0
})

const SPELLINGS = [
  'http://127.0.0.1:11434/api/tags',
  ' http://127.0.0.1/',
  '\thttp://127.0.0.1/',
  '\u0000http://127.0.0.1/',
  '\u00a0http://127.0.0.1/',
  '\u200bhttp://127.0.0.1/',
  '\ufeffhttp://127.0.0.1/',
  'ht\ntp://127.0.0.1/',
  `h${'\t'.repeat(2000)}ttp://127.0.0.1/`,
  'http:/127.0.0.1/',
  'http:127.0.0.1',
  'http:\\\\127.0.0.1\\',
  'http:///127.0.0.1/',
  'HTTP://LOCALHOST/',
  'ｈttp://127.0.0.1/',
  'http：//127.0.0.1/',
  'http://127。0。0。1/',
  'http://１２７.0.0.1/',
  'http://0x7f000001/',
  'http://010.0.0.1/',
  'http://[::ffff:127.0.0.1]/',
  'http://example.com@127.0.0.1/',
  'http://example.com\\@127.0.0.1/',
  'http://ollama:11434/',
  'http://printer.lan/',
  '<URL:http://127.0.0.1/>',
  'url:http://127.0.0.1/',
  'file:///etc/passwd',
  'ftp://10.0.0.1/x',
  'gopher://127.0.0.1:6379/_x',
]

describe.each(CALLS)('%s', (_, path, field, body) => {
  test('every spelling of a private address is refused, with the place', async () => {
    for (const url of SPELLINGS) {
      const response = await gateway.call(`/${path}`, body(url))
      const text = await response.text()
      expect({ url, status: response.status, names: text.includes(field) }).toEqual({
        url,
        status: 400,
        names: true,
      })
    }
    expect(upstream.seen).toEqual([])
  })
})

test('an address without a scheme leads to no file of the provider and to no private host', async () => {
  for (const url of [
    '/etc/passwd',
    '~/.ssh/id',
    '../secret.key',
    '//localhost/x',
    '//127.0.0.1/x',
    '\\\\10.0.0.1\\x',
  ])
    expect([
      url,
      (await gateway.call('/chat/completions', chat([{ type: 'audio_url', audio_url: { url } }]))).status,
    ]).toEqual([url, 400])
})

test.each(WORDS)('%s may name any address', async (_, path, body) => {
  const text = await (await gateway.call(`/${path}`, body)).text()
  // The scripted provider knows no model: the request has passed.
  expect(text).toContain('no such model')
  expect(upstream.seen.length).toBeGreaterThan(0)
})

test('excepted hosts are reached', async () => {
  const other = await startGateway({
    environment: { SLUICE_OUTBOUND_ALLOW: '127.0.0.1,whisper' },
    providers: [
      {
        slug: 'talk',
        dialect: 'chat',
        base_url: upstream.baseUrl,
        api_key: 'secret',
        models: [{ id: 'talk', pricing: { prompt: '0', completion: '0' } }],
      },
    ],
  })
  for (const url of [PRIVATE, 'http://whisper:9000/a.wav']) {
    const response = await other.call('/chat/completions', chat([{ type: 'audio_url', audio_url: { url } }]))
    expect(await response.text()).toContain('no such model')
  }
  await other.stop()
})
