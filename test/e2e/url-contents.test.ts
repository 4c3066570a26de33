import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../gateway.ts'
import { unary } from '../upstream.ts'

/** Addresses in a request, toward providers that cannot read them: the gateway fetches the content, guarded. */

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const PDF = Buffer.from('%PDF-1.7 a page of tides')

let gateway: Gateway
let sent: { path: string; body: Record<string, unknown> }[] = []
let fetched: string[] = []
let isFirstBroken = false

const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    sent.push({ path: pathname, body: await request.json() })
    if (isFirstBroken && sent.length === 1) return new Response('down', { status: 500 })
    if (pathname.includes('generateContent')) {
      const content = { role: 'model', parts: [{ text: 'A boat.' }] }
      return Response.json({ candidates: [{ content, finishReason: 'STOP', index: 0 }] })
    }
    return unary('A boat.')({ path: pathname, headers: request.headers, body: {} }, request)
  },
})
const files = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const { pathname } = new URL(request.url)
    fetched.push(pathname)
    if (pathname === '/boat.png') return new Response(PNG, { headers: { 'content-type': 'text/plain' } })
    if (pathname === '/tides.pdf') return new Response(PDF)
    if (pathname === '/page')
      return new Response('<html>', { headers: { 'content-type': 'text/html; charset=utf-8' } })
    if (pathname === '/empty.png') return new Response('')
    if (pathname === '/inward') return Response.redirect('http://10.0.0.1/boat.png')
    return new Response('no', { status: 404 })
  },
})
const at = (path: string): string => `http://127.0.0.1:${files.port}${path}`

beforeAll(async () => {
  const entry = (slug: string, dialect: string, more: Record<string, unknown> = {}) => ({
    slug,
    dialect,
    base_url: `http://127.0.0.1:${upstream.port}/v1`,
    api_key: 'secret',
    models: [{ id: 'shared', pricing: { prompt: '0', completion: '0' } }],
    ...more,
  })
  gateway = await startGateway({
    environment: { SLUICE_OUTBOUND_ALLOW: '127.0.0.1' },
    providers: [
      entry('google-like', 'gemini'),
      entry('reads', 'chat'),
      entry('blind', 'chat', { takes_urls: false }),
      entry('reads-all', 'chat', { takes_urls: true }),
    ],
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
  await files.stop(true)
})
beforeEach(() => {
  sent = []
  fetched = []
  isFirstBroken = false
})

const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const file = (url: string) => ({ type: 'file', file: { filename: 'tides.pdf', file_data: url } })

const ask = (provider: string | string[], content: unknown[]) =>
  gateway.call('/chat/completions', {
    model: 'shared',
    messages: [{ role: 'user', content: [{ type: 'text', text: at('/boat.png') }, ...content] }],
    provider: { order: [provider].flat(), allow_fallbacks: Array.isArray(provider) },
  })

const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`
const bodyText = (): string => JSON.stringify(sent.at(-1)?.body)

const whole: [provider: string, content: unknown[], fetched: string[], upstream: string[]][] = [
  [
    'google-like',
    [image(at('/boat.png'))],
    ['/boat.png'],
    [PNG.toString('base64'), '"mimeType":"image/png"'],
  ],
  [
    'google-like',
    [file(at('/tides.pdf'))],
    ['/tides.pdf'],
    [PDF.toString('base64'), '"mimeType":"application/pdf"'],
  ],
  ['reads', [image(at('/boat.png'))], [], [JSON.stringify(image(at('/boat.png')))]],
  ['reads', [file(at('/tides.pdf'))], ['/tides.pdf'], [dataUrl('application/pdf', PDF)]],
  ['blind', [image(at('/boat.png'))], ['/boat.png'], [JSON.stringify(image(dataUrl('image/png', PNG)))]],
  ['reads-all', [file(at('/tides.pdf'))], [], [JSON.stringify(file(at('/tides.pdf')))]],
]

test.each(whole)('%s is sent what it can read (%j)', async (provider, content, addresses, parts) => {
  const response = await ask(provider, content)
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('A boat.')])
  expect(fetched).toEqual(addresses)
  for (const part of parts) expect(bodyText()).toContain(part)
  // Text that happens to be the same address stays text.
  expect(bodyText()).toContain(JSON.stringify(at('/boat.png')))
})

test('one address in several parts, and for several endpoints, is fetched once', async () => {
  isFirstBroken = true
  const response = await ask(['google-like', 'blind'], [image(at('/boat.png')), image(at('/boat.png'))])
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('A boat.')])
  expect(sent.map(({ path }) => path)).toEqual(['/v1/models/shared:generateContent', '/v1/chat/completions'])
  expect(fetched).toEqual(['/boat.png'])
})

const PLACE = 'messages[0].content[1].image_url.url'
const refused: [what: string, content: unknown[], sentence: string][] = [
  ['is not there', [image(at('/nothing'))], `${PLACE}: The URL returned status 404`],
  ['is a page', [image(at('/page'))], `${PLACE}: The content of the URL is text/html, which is no image`],
  ['is empty', [image(at('/empty.png'))], `${PLACE}: The content of the URL is empty`],
  [
    'redirects inward',
    [image(at('/inward'))],
    `${PLACE}: The URL leads to a private, local or reserved address`,
  ],
  [
    'does not answer',
    [image('http://127.0.0.1:1/')],
    `${PLACE}: The URL could not be fetched: no server replied there`,
  ],
  [
    'is a file that is not there',
    [image(dataUrl('image/png', PNG)), file(at('/nothing'))],
    'messages[0].content[2].file.file_data: The URL returned status 404',
  ],
]

test.each(refused)(
  'an address that %s is a 400 that names its place, and nothing is sent',
  async (_, content, sentence) => {
    const response = await ask('google-like', content)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: 400, message: expect.stringContaining(sentence) },
    })
    expect(sent).toEqual([])
  },
)

test('more addresses than one request may name are refused before any is fetched', async () => {
  const content = Array.from({ length: 33 }, (_, index) => image(at(`/boat.png?${index}`)))
  const response = await ask('google-like', content)
  expect(response.status).toBe(400)
  expect(fetched).toEqual([])
})
