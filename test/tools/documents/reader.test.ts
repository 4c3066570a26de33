import { afterAll, describe, expect, test } from 'bun:test'
import { deflateSync } from 'node:zlib'
import { createDocumentReader } from '../../../src/tools/documents/reader.ts'
import { pdfOf, pdfWith } from './files.ts'

const reader = createDocumentReader()
afterAll(() => reader.close())

const signal = new AbortController().signal
const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const read = (name: string, bytes: Uint8Array<ArrayBuffer>, mediaType = '') =>
  reader.read({ name, mediaType, bytes }, signal)
const refusal = (name: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  read(name, bytes).then(
    () => 'it was read',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
const deflated = (text: string, times: number): string => {
  let bytes = Buffer.from(text, 'latin1')
  for (let i = 0; i < times; i++) bytes = deflateSync(bytes)
  return bytes.toString('latin1')
}

describe('a PDF', () => {
  test('is read page by page and line by line', async () => {
    const bytes = pdfOf(['Hello world\nA second line', 'The last page'])
    const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
    expect(await read('a.pdf', bytes)).toEqual({
      kind: 'PDF',
      text: '[Page 1]\nHello world\nA second line\n\n[Page 2]\nThe last page',
      pages: 2,
      isCut: false,
      hash,
    })
  })

  test('may have deflated pages', async () => {
    const content = deflated('BT /F1 12 Tf 72 720 Td (Packed text) Tj ET', 1)
    const { text } = await read('a.pdf', pdfWith([{ dictionary: '/Filter /FlateDecode', content }]))
    expect(text).toBe('[Page 1]\nPacked text')
  })

  test('that is encrypted is refused, with its name', async () => {
    expect(await refusal('secret.pdf', pdfOf(['x'], '/Encrypt 9 0 R'))).toBe(
      'The file "secret.pdf" cannot be read: it is encrypted. Send a copy without a password',
    )
  })

  test('that inflates too far is refused, however often it is deflated', async () => {
    const zeros = '\0'.repeat(80 * 1024 * 1024)
    for (const times of [1, 2]) {
      const dictionary = `/Filter [${'/FlateDecode '.repeat(times)}]`
      const bytes = pdfWith([{ dictionary, content: deflated(zeros, times) }])
      expect(await refusal('bomb.pdf', bytes)).toBe(
        'The file "bomb.pdf" cannot be read: its streams grow too large when they are inflated',
      )
    }
  })

  test('that is broken is refused', async () => {
    expect(await refusal('half.pdf', pdfOf(['x']).slice(0, 60))).toBe(
      'The file "half.pdf" cannot be read: it is broken',
    )
  })

  test('of images alone is refused, since it has no text', async () => {
    const bytes = pdfWith([{ dictionary: '', content: '0 0 m 10 10 l S' }])
    expect(await refusal('scan.pdf', bytes)).toContain('"scan.pdf" cannot be read: it has no text')
  })

  test('of 300 pages has them all', async () => {
    const lines = Array.from({ length: 40 }, (_, i) => `Line ${i} of a page`).join('\n')
    const { pages, text } = await read('long.pdf', pdfOf(Array.from({ length: 300 }, () => lines)))
    expect(pages).toBe(300)
    expect(text).toContain('[Page 300]\nLine 0 of a page')
  })
})

describe('other files', () => {
  test('of text are read as they are', async () => {
    expect(await read('a.csv', bytesOf('city,people\nRom,3'), 'text/csv')).toMatchObject({
      kind: 'text',
      text: 'city,people\nRom,3',
    })
  })

  test('of HTML become Markdown', async () => {
    const html = '<html><head><title>News</title></head><body><p>All <b>well</b>.</p><script>x()</script>'
    const { kind, text } = await read('a.html', bytesOf(html))
    expect({ kind, text }).toEqual({ kind: 'HTML', text: '# News\n\nAll **well**.' })
  })

  test('of other kinds, and empty ones, are refused', async () => {
    expect(await refusal('a.bin', bytesOf('\0\x01\x02'))).toContain(
      '"a.bin" cannot be read: it is none of the',
    )
    expect(await refusal('', new Uint8Array())).toBe('The file cannot be read: it is empty')
  })
})
