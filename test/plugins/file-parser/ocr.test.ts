import { beforeEach, describe, expect, test } from 'bun:test'
import { objectsIn } from '../../../src/core/json.ts'
import { gatewayOfFile } from '../../file-setup.ts'
import { dataUrl, scannedPdf } from '../../tools/documents/files.ts'
import { startUpstream, unary } from '../../upstream.ts'

/** Scanned files, read by Mistral's `/ocr`, by a model that sees, or shown to one. */

const upstream = startUpstream()
const modelOf = (id: string, inputs: readonly string[], output = 'text', pricing: object = TOKENS) => ({
  id,
  pricing,
  architecture: { input_modalities: inputs, output_modalities: [output] },
})
const TOKENS = { prompt: '0.000001', completion: '0.000002' }
const PROVIDERS = [
  {
    slug: 'lab',
    name: 'Lab',
    dialect: 'chat',
    base_url: upstream.baseUrl,
    models: [
      modelOf('plain', ['text']),
      modelOf('eyes', ['text', 'image']),
      modelOf('pages', ['file'], 'ocr', { prompt: '0', completion: '0', request: '0.002' }),
    ],
  },
]
const gatewayWith = (model?: string) =>
  gatewayOfFile(
    { providers: PROVIDERS, ...(model && { environment: { SLUICE_OCR_MODEL: model } }) },
    upstream,
  )
const byPages = await gatewayWith('pages')
const byEyes = await gatewayWith('eyes')
const unset = await gatewayWith()

const SCAN = { rows: ['########', '#......#', '########'] }
const PDF = scannedPdf([SCAN, 'The text of page two', { ...SCAN, bits: true }])
const HASH = new Bun.CryptoHasher('sha256').update(PDF).digest('hex')
const OCR = { plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }] }
const markdown = (...texts: string[]) => ({
  pages: texts.map((text, index) => ({ index, markdown: text, images: [], dimensions: null })),
  model: 'mistral-ocr-2512',
  usage_info: { pages_processed: texts.length, doc_size_bytes: PDF.byteLength },
})

beforeEach(() => {
  upstream.seen.length = 0
  upstream.on('plain', unary('Understood'))
  upstream.on('eyes', unary('A page in Markdown'))
  upstream.on('pages', () => Response.json(markdown('# One', 'Two', 'Three')))
})

async function ask(
  gateway: typeof byPages,
  more: Record<string, unknown> = {},
  before: object[] = [],
  data = dataUrl('application/pdf', PDF),
) {
  const content = [
    { type: 'text', text: 'Well?' },
    { type: 'file', file: { filename: 'scan.pdf', file_data: data } },
  ]
  const messages = [...before, { role: 'user', content }]
  const response = await gateway.call('/chat/completions', { model: 'plain', messages, ...more })
  const body = await response.json()
  return { status: response.status, body, sent: JSON.stringify(upstream.seen.at(-1)?.body['messages']) }
}
const paths = () => upstream.seen.map(({ path }) => path)
const rowsOf = (gateway: typeof byPages, from: number) => gateway.generations().slice(from)

describe('mistral-ocr by a model of pages', () => {
  test('reads all pages in one call, which is a step with the price of its pages', async () => {
    const before = byPages.generations().length
    const { status, body, sent } = await ask(byPages, OCR)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(paths()).toEqual(['/v1/ocr', '/v1/chat/completions'])
    expect(upstream.seen[0]?.body).toEqual({
      model: 'pages',
      document: {
        type: 'document_url',
        document_url: dataUrl('application/pdf', PDF),
        document_name: 'scan.pdf',
      },
      pages: [0, 1, 2],
      include_image_base64: false,
    })
    expect(sent).toContain('[Page 1]\\n# One\\n\\n[Page 2]\\nTwo\\n\\n[Page 3]\\nThree')
    const rows = rowsOf(byPages, before)
    const step = rows.find(({ api_type }) => api_type === 'ocr')
    expect(step).toMatchObject({ model: 'pages', cost_nano_usd: 6_000_000, provider_slug: 'lab' })
    expect(step?.['parent_id']).toBe(body.id)
    expect(body.usage.cost).toBeCloseTo(0.006 + 10 * 0.000001 + 5 * 0.000002, 9)
  })

  const encoded = Buffer.from(PDF).toString('base64')
  test.each([
    [
      '/responses',
      {
        model: 'plain',
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_file', filename: 'scan.pdf', file_data: dataUrl('application/pdf', PDF) },
            ],
          },
        ],
      },
    ],
    [
      '/messages',
      {
        model: 'plain',
        max_tokens: 50,
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'document',
                source: { type: 'base64', media_type: 'application/pdf', data: encoded },
              },
            ],
          },
        ],
      },
    ],
    [
      '/models/plain:generateContent',
      {
        contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'application/pdf', data: encoded } }] }],
      },
    ],
  ])('reads the files of callers of %s', async (path, body) => {
    const response = await byPages.call(path, { ...body, ...OCR })
    expect(response.status, await response.text()).toBe(200)
    expect(paths()).toEqual(['/v1/ocr', '/v1/chat/completions'])
    expect(JSON.stringify(upstream.seen.at(-1)?.body)).toContain('[Page 1]\\n# One')
  })

  test('its text comes back as an annotation, and sent back saves the call', async () => {
    const { body } = await ask(byPages, OCR)
    const { annotations } = body.choices[0].message
    const text = '[Page 1]\n# One\n\n[Page 2]\nTwo\n\n[Page 3]\nThree'
    expect(annotations).toEqual([
      { type: 'file', file: { hash: HASH, name: 'scan.pdf', content: [{ type: 'text', text }] } },
    ])
    upstream.seen.length = 0
    const turn = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Ho', annotations },
    ]
    expect((await ask(byPages, OCR, turn)).sent).toContain('# One')
    expect(paths()).toEqual(['/v1/chat/completions'])
  })

  test('a limit that the pages do not fit refuses them before the call', async () => {
    const { key } = await byPages.makeKey({ limit: 0.005 })
    const response = await byPages.call(
      '/chat/completions',
      {
        model: 'plain',
        ...OCR,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'file', file: { filename: 'a.pdf', file_data: dataUrl('application/pdf', PDF) } },
            ],
          },
        ],
      },
      { authorization: `Bearer ${key}` },
    )
    expect(response.status).toBe(402)
    expect(upstream.seen).toEqual([])
  })

  test.each([
    [() => Response.json({ nothing: true }), 502, 'Lab answered with something that is no completion'],
    [() => new Response('<html>', { status: 200 }), 502, ''],
    [() => Response.json({ message: 'no' }, { status: 500 }), 502, ''],
    [
      () => Response.json(markdown('', ' ', '')),
      400,
      'The file "scan.pdf" cannot be read: pages recognized no text',
    ],
  ])('an unreadable reply is an error, and no model is called: %#', async (answer, status, sentence) => {
    upstream.on('pages', answer)
    const { body, ...reply } = await ask(byPages, OCR)
    expect(reply.status, JSON.stringify(body)).toBe(status)
    expect(JSON.stringify(body)).toContain(JSON.stringify(sentence).slice(1, -1))
    expect(paths()).not.toContain('/v1/chat/completions')
  })
})

test('mistral-ocr by a model that sees: each scan is a step, other pages keep their text', async () => {
  const before = byEyes.generations().length
  const { status, body, sent } = await ask(byEyes, OCR)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(sent).toContain(
    '[Page 1]\\nA page in Markdown\\n\\n[Page 2]\\nThe text of page two\\n\\n[Page 3]\\nA page in Markdown',
  )
  const steps = rowsOf(byEyes, before).filter(({ parent_id }) => parent_id === body.id)
  expect(steps.map(({ model }) => model)).toEqual(['eyes', 'eyes'])
  const [first] = objectsIn(upstream.seen[0]?.body['messages']).slice(-1)
  expect(JSON.stringify(first)).toContain('data:image/png;base64,')
})

test('without a model the engine is a 400 that names the settings', async () => {
  const { status, body } = await ask(unset, OCR)
  expect(status).toBe(400)
  expect(body.error.message).toStartWith(
    'plugins.file-parser.pdf.engine: "mistral-ocr" is not configured at this gateway: no provider serves mistralai/mistral-ocr-latest',
  )
  expect(body.error.message).toContain('MISTRAL_API_KEY, or SLUICE_OCR_MODEL')
})

describe('a scanned PDF that is read here', () => {
  const READ = { plugins: [{ id: 'file-parser', pdf: { engine: 'pdf-text' } }] }

  test('is shown to a model that sees, with the text of the other pages', async () => {
    const { status, body, sent } = await ask(unset, { model: 'eyes', ...READ })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(sent).toContain('[Page 1]\\n[A scan: image 1]\\n\\n[Page 2]\\nThe text of page two')
    expect(sent.match(/data:image\/png;base64,/g)).toHaveLength(2)
    expect(sent).not.toContain('data:application/pdf')
    expect(body.choices[0].message.annotations).toBeUndefined()
  })

  test('is refused for a model that reads text alone, if no page has text', async () => {
    const blank = dataUrl('application/pdf', scannedPdf([SCAN]))
    const { status, body } = await ask(unset, READ, [], blank)
    expect(status).toBe(400)
    expect(body.error.message).toContain('its pages are images')
    expect(upstream.seen).toEqual([])
  })
})
