import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { unary } from '../upstream.ts'

/** Files that were uploaded before, named by their ids in requests of each dialect. */

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const PDF = Buffer.from('%PDF-1.7 a page of tides')
let gateway: Gateway
let sent: string[] = []
let png = ''
let pdf = ''
let text = ''

const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    sent.push(await request.text())
    if (pathname.endsWith('/messages')) {
      return Response.json({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'A boat.' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 3, output_tokens: 2 },
      })
    }
    return unary('A boat.')({ path: pathname, headers: request.headers, body: {} }, request)
  },
})

async function upload(bytes: Buffer<ArrayBuffer>, name: string): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([bytes]), name)
  const response = await gateway.call('/files', form)
  const { id } = objectOf(await response.json())
  return String(id)
}

beforeAll(async () => {
  const entry = (slug: string, dialect: string) => ({
    slug,
    dialect,
    base_url: `http://127.0.0.1:${upstream.port}/v1`,
    api_key: 'secret',
    models: [{ id: `of-${slug}`, pricing: { prompt: '0', completion: '0' } }],
  })
  gateway = await startGateway({ providers: [entry('lab', 'chat'), entry('claude', 'messages')] })
  png = await upload(PNG, 'boat.png')
  pdf = await upload(PDF, 'tides.pdf')
  text = await upload(Buffer.from('Tides are slow.'), 'tides.txt')
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})
beforeEach(() => {
  sent = []
})

const pdfUrl = `data:application/pdf;base64,${PDF.toString('base64')}`
const pngUrl = `data:image/png;base64,${PNG.toString('base64')}`
const user = (content: unknown[]) => [{ role: 'user', content }]

type Row = [what: string, path: string, body: () => object, upstream: string[]]
const rows: Row[] = [
  [
    'a file of chat',
    '/chat/completions',
    () => ({ model: 'of-lab', messages: user([{ type: 'file', file: { file_id: pdf } }]) }),
    [JSON.stringify({ filename: 'tides.pdf', file_data: pdfUrl })],
  ],
  [
    'a file of chat, for a provider of another dialect',
    '/chat/completions',
    () => ({
      model: 'of-claude',
      messages: user([{ type: 'file', file: { file_id: pdf, filename: 'mine.pdf' } }]),
    }),
    [PDF.toString('base64'), '"title":"mine.pdf"'],
  ],
  [
    'a file and an image of Responses',
    '/responses',
    () => ({
      model: 'of-lab',
      input: user([
        { type: 'input_file', file_id: pdf },
        { type: 'input_image', detail: 'auto', file_id: png },
      ]),
    }),
    [pdfUrl, pngUrl],
  ],
  [
    'documents and an image of Messages',
    '/messages',
    () => ({
      model: 'of-claude',
      max_tokens: 64,
      messages: user([
        { type: 'document', source: { type: 'file', file_id: pdf } },
        { type: 'document', source: { type: 'file', file_id: text } },
        { type: 'image', source: { type: 'file', file_id: png } },
      ]),
    }),
    [
      JSON.stringify({ type: 'base64', media_type: 'application/pdf', data: PDF.toString('base64') }),
      JSON.stringify({ type: 'text', media_type: 'text/plain', data: 'Tides are slow.' }),
      JSON.stringify({ type: 'base64', media_type: 'image/png', data: PNG.toString('base64') }),
    ],
  ],
]

test.each(rows)('%s goes along with its content', async (_, path, body, parts) => {
  const response = await gateway.call(path, body())
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('A boat.')])
  for (const part of parts) expect(sent[0]).toContain(part)
  expect(sent[0]).not.toContain('file_id')
})

test("a provider's own id goes to it as it is", async () => {
  const messages = user([{ type: 'file', file: { file_id: 'file-abc123' } }])
  expect((await gateway.call('/chat/completions', { model: 'of-lab', messages })).status).toBe(200)
  expect(sent[0]).toContain('"file_id":"file-abc123"')
})

test('a file that is not there is a 404 that names its place, and nothing is sent', async () => {
  const missing = `file_${'0'.repeat(32)}`
  const messages = user([
    { type: 'text', text: 'Hi' },
    { type: 'file', file: { file_id: missing } },
  ])
  const response = await gateway.call('/chat/completions', { model: 'of-lab', messages })
  expect([response.status, await response.text()]).toEqual([
    404,
    expect.stringContaining('messages[0].content[1].file.file_id'),
  ])
  expect(sent).toEqual([])
})
