import { afterEach, describe, expect, test } from 'bun:test'
import { ingresses } from '../../../src/dialects/index.ts'
import { authenticate } from '../../../src/http/caller.ts'
import { checkUrls } from '../../../src/inference/request/user-names.ts'
import { parseOutboundAllow } from '../../../src/net/address.ts'
import { createNames } from '../../../src/net/names.ts'
import { gatewayOfFile } from '../../file-setup.ts'
import { API_KEY } from '../../gateway.ts'
import { incomingOf } from '../../incoming.ts'
import { startUpstream } from '../../upstream.ts'
import { CALLS, chat } from './places.ts'

/** Names that lead to private machines reach no provider that would connect to them from the operator's network. */

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'me.example.com': ['127.0.0.1'],
  '169.254.169.254.nip.example.com': ['169.254.169.254'],
  'ten.example.com': ['10.1.2.3'],
  'six.example.com': ['fd00::1'],
  'both.example.com': ['93.184.215.14', '192.168.0.1'],
  'public.example.com': ['93.184.215.14'],
  'vllm.example.com': ['10.9.9.9'],
  'models.example.com': ['93.184.215.15'],
}
const asked: string[] = []
const resolve = async (host: string): Promise<readonly string[]> => {
  asked.push(host)
  const addresses = ADDRESSES[host]
  if (addresses === undefined) throw new Error('ENOTFOUND')
  return addresses
}

const upstream = startUpstream()
const entry = (slug: string, dialect: string, more: Record<string, unknown> = {}, at = upstream.baseUrl) => ({
  slug,
  dialect,
  base_url: at,
  api_key: 'secret',
  takes_urls: true,
  models: [{ id: slug, pricing: { prompt: '0', completion: '0' }, ...more }],
})
const gateway = await gatewayOfFile(
  {
    resolve,
    environment: { OPENAI_API_KEY: 'sk-a-vendor-that-is-never-called' },
    providers: [
      entry('talk', 'chat'),
      entry('answers', 'responses'),
      entry('claude', 'messages'),
      entry('vectors', 'chat', { architecture: { output_modalities: ['embeddings'] } }),
      entry('inside', 'chat', {}, 'http://vllm.example.com:8000/v1'),
      entry('outside', 'chat', {}, 'https://models.example.com/v1'),
    ],
  },
  upstream,
)

afterEach(() => {
  upstream.seen.length = 0
  asked.length = 0
})

const PRIVATE_HOSTS = Object.keys(ADDRESSES).slice(0, 5)

describe.each(CALLS)('%s', (_, path, field, body) => {
  test('a name with a private address is refused, with the place', async () => {
    for (const host of PRIVATE_HOSTS) {
      const response = await gateway.call(`/${path}`, body(`https://${host}./a.png`))
      const { error } = await response.json()
      expect([host, response.status, error.message]).toEqual([
        host,
        400,
        expect.stringContaining(`${field}: The URL leads to a private`),
      ])
    }
    expect(upstream.seen).toEqual([])
  })

  test('a public name passes, and one that does not resolve', async () => {
    for (const host of ['public.example.com', 'nowhere.example.com']) {
      const text = await (await gateway.call(`/${path}`, body(`https://${host}/a.png`))).text()
      expect(text).not.toContain('private')
      expect([host, upstream.seen.length]).toEqual([host, 1])
      upstream.seen.length = 0
    }
  })
})

const audio = (url: string, model = 'talk') => ({
  ...chat([{ type: 'audio_url', audio_url: { url } }]),
  model,
})

test('a name without a scheme in a field for addresses is resolved too', async () => {
  expect((await gateway.call('/chat/completions', audio('//ten.example.com/x'))).status).toBe(400)
})

test('each name of a request is looked up once, and not again for a while', async () => {
  const url = 'https://once.example.com/a.png'
  const content = Array.from({ length: 40 }, () => ({ type: 'image_url', image_url: { url } }))
  for (let turn = 0; turn < 3; turn++) await gateway.call('/chat/completions', chat(content))
  expect(asked).toEqual(['once.example.com'])
})

test('more than 32 names are refused, and none of them is looked up', async () => {
  const content = Array.from({ length: 33 }, (_, index) => ({
    type: 'image_url',
    image_url: { url: `https://h${index}.example.com/` },
  }))
  const response = await gateway.call('/chat/completions', chat(content))
  expect([response.status, (await response.json()).error.message]).toEqual([
    400,
    expect.stringContaining('more than 32 hosts'),
  ])
  expect(asked).toEqual([])
})

/** What the check waits for, of a request that is sent nowhere. */
function checking(body: Record<string, unknown>, allow: string[] = []): Promise<void> | undefined {
  const snapshot = gateway.deps.snapshot.current()
  const headers = { authorization: `Bearer ${API_KEY}` }
  const caller = authenticate(
    incomingOf(new Request('http://localhost/', { headers })),
    snapshot,
    'inference',
    Date.now(),
  )
  const deps = { outboundAllow: parseOutboundAllow(allow), names: createNames({ resolve }) }
  return checkUrls(ingresses.chat.parse(body, new Headers()), caller, snapshot, deps)
}

test('nothing is resolved, and nothing waited for, without a name or with a public provider', () => {
  expect(checking(audio('https://ten.example.com/a.wav', 'openai/gpt-4o'))).toBeUndefined()
  expect(checking(audio('https://ten.example.com/a.wav', 'sluice/demo'))).toBeUndefined()
  expect(checking(chat('see https://ten.example.com/'))).toBeUndefined()
  expect(checking(audio('https://93.184.215.14/a.wav'))).toBeUndefined()
  expect(checking(audio('https://ten.example.com/a.wav'), ['ten.example.com'])).toBeUndefined()
  expect(asked).toEqual([])
})

test('a fallback on the own network counts', async () => {
  const body = {
    ...audio('https://ten.example.com/a.wav'),
    models: ['openai/gpt-4o', 'talk'],
    model: undefined,
  }
  await expect(checking(body) ?? Promise.resolve()).rejects.toThrow('private')
})

test('a provider whose name resolves to the own network counts, and a public one does not', async () => {
  await expect(
    checking(audio('https://ten.example.com/a.wav', 'inside')) ?? Promise.resolve(),
  ).rejects.toThrow('private')
  await checking(audio('https://ten.example.com/a.wav', 'outside'))
})

test('an excepted network may be named', async () => {
  await checking(audio('https://ten.example.com/a.wav'), ['10.0.0.0/8'])
  expect(asked).toEqual(['ten.example.com'])
})
