import { beforeEach, describe, expect, test } from 'bun:test'
import { gatewayOfFile } from '../../file-setup.ts'
import { dataUrl, pdfOf } from '../../tools/documents/files.ts'
import { startUpstream, streamed, unary } from '../../upstream.ts'
import { jsonIn } from '../callers.ts'

const upstream = startUpstream()
const modelOf = (id: string, ...inputs: string[]) => ({
  id,
  pricing: { prompt: '0.000001', completion: '0.000002' },
  ...(inputs.length === 0 ? {} : { architecture: { input_modalities: inputs, output_modalities: ['text'] } }),
})
const gateway = await gatewayOfFile(
  {
    providers: [
      {
        slug: 'lab',
        dialect: 'chat',
        base_url: upstream.baseUrl,
        models: [modelOf('plain', 'text'), modelOf('reads', 'text', 'file'), modelOf('unknown')],
      },
    ],
  },
  upstream,
)

const PDF = pdfOf(['The answer is 42'])
const file = (filename: string, data: string) => ({ type: 'file', file: { filename, file_data: data } })
const pdf = file('a.pdf', dataUrl('application/pdf', PDF))

async function ask(model: string, part: object, more: Record<string, unknown> = {}, before: object[] = []) {
  upstream.on(model, ({ body }, request) =>
    (body['stream'] === true ? streamed(['o', 'k']) : unary('ok'))(
      { body, path: '', headers: request.headers },
      request,
    ),
  )
  const messages = [...before, { role: 'user', content: [{ type: 'text', text: 'Well?' }, part] }]
  const response = await gateway.call('/chat/completions', { model, messages, ...more })
  const raw = await response.text()
  return { status: response.status, raw, sent: JSON.stringify(upstream.seen.at(-1)?.body['messages']) }
}
const parser = (options: Record<string, unknown> = {}) => ({ plugins: [{ id: 'file-parser', ...options }] })

beforeEach(() => {
  upstream.seen.length = 0
})

describe('a PDF', () => {
  test('stays as it is for a model that reads files or may read them', async () => {
    for (const model of ['reads', 'unknown'])
      for (const more of [{}, parser()])
        expect((await ask(model, pdf, more)).sent).toContain('data:application/pdf')
  })

  test('is read for such a model if the caller asks for it, by each name of the engine', async () => {
    for (const engine of ['pdf-text', 'cloudflare-ai']) {
      const { sent } = await ask('reads', pdf, parser({ pdf: { engine } }))
      expect(sent).toContain('The answer is 42')
      expect(sent).not.toContain('data:application/pdf')
    }
  })

  test('is not read if the plugin is disabled or native: the model does not take it', async () => {
    for (const options of [{ enabled: false }, { pdf: { engine: 'native' } }]) {
      const { status, raw } = await ask('plain', pdf, parser(options))
      expect({ status, raw }).toMatchObject({ status: 404, raw: expect.stringContaining('takes files') })
    }
  })

  test('that cannot be read is a 400 that names it, and no provider is called', async () => {
    const secret = file('secret.pdf', dataUrl('application/pdf', pdfOf(['x'], '/Encrypt 9 0 R')))
    const { status, raw } = await ask('plain', secret)
    expect(status).toBe(400)
    expect(JSON.parse(raw).error.message).toBe(
      'The file "secret.pdf" cannot be read: it is encrypted. Send a copy without a password',
    )
    expect(upstream.seen).toEqual([])
  })
})

describe('the annotations of a reply', () => {
  const hash = new Bun.CryptoHasher('sha256').update(PDF).digest('hex')
  const annotation = {
    type: 'file',
    file: { hash, name: 'a.pdf', content: [{ type: 'text', text: '[Page 1]\nThe answer is 42' }] },
  }

  test('have the text, once, streamed or not', async () => {
    const { raw } = await ask('plain', pdf)
    expect(JSON.parse(raw).choices[0].message.annotations).toEqual([annotation])
    const { raw: events } = await ask('plain', pdf, { stream: true })
    const found = jsonIn(events).flatMap(
      (event) => JSON.stringify(event).match(/"annotations":\[.+?\]\}\}\]/) ?? [],
    )
    expect(found).toEqual([`"annotations":[${JSON.stringify(annotation)}]`])
  })

  test('sent back, they are the text of the file, and are not sent to the provider', async () => {
    const content = [{ type: 'text', text: 'Read before' }]
    const former = { ...annotation, file: { ...annotation.file, content } }
    const turn = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Ho', annotations: [former] },
    ]
    const { sent } = await ask('plain', pdf, {}, turn)
    expect(sent).toContain('Read before')
    expect(sent).not.toContain('The answer is 42')
    expect(sent).not.toContain('annotations')
  })
})

describe('a file of text', () => {
  test('is read only if the plugin is enabled', async () => {
    const html = file(
      'a.html',
      dataUrl('text/html', '<html><head></head><body><p>All <b>well</b>.</p></body></html>'),
    )
    expect((await ask('plain', html)).sent).not.toContain('All **well**.')
    expect((await ask('plain', html, parser())).sent).toContain('All **well**.')
  })
})

describe('the content filters of the key', () => {
  const asKey = async (action: string) => {
    const { key } = await gateway.makeGuardedKey({ content_filters: [{ pattern: 'answer is 42', action }] })
    upstream.on('plain', unary('ok'))
    const response = await gateway.call(
      '/chat/completions',
      { model: 'plain', messages: [{ role: 'user', content: [{ type: 'text', text: 'Well?' }, pdf] }] },
      { authorization: `Bearer ${key}` },
    )
    return { status: response.status, raw: await response.text() }
  }

  test('see the text of a file that is read', async () => {
    const { status, raw } = await asKey('redact')
    expect(status).toBe(200)
    const sent = JSON.stringify(upstream.seen.at(-1)?.body['messages'])
    expect([sent, raw].map((text) => text.includes('answer is 42'))).toEqual([false, false])
    expect(sent).toContain('[REDACTED')
    expect(String(gateway.generations().at(-1)?.['guardrails'])).toContain('"action":"redact"')
  })

  test('refuse the request before anything is sent', async () => {
    expect(await asKey('block')).toMatchObject({
      status: 403,
      raw: expect.stringContaining('content filter'),
    })
    expect(upstream.seen).toEqual([])
  })
})
