import { afterAll, describe, expect, test } from 'bun:test'
import { inflateSync } from 'node:zlib'
import { pngOf } from '../../../src/tools/documents/png.ts'
import { createDocumentReader } from '../../../src/tools/documents/reader.ts'
import { scannedPdf } from './files.ts'

const reader = createDocumentReader()
afterAll(() => reader.close())

const ROWS = ['########', '#......#', '#.####.#', '########']
const read = (bytes: Uint8Array<ArrayBuffer>, wants: 'scans' | 'length') =>
  reader.read({ name: 'a.pdf', mediaType: '', bytes, wants }, new AbortController().signal)

/** Size, colour type and rows of a PNG of one data chunk. */
function pngIn(bytes: Buffer) {
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  const at = bytes.indexOf('IDAT')
  const rows = inflateSync(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4)))
  return { width, height, colours: bytes[25], rows, rowBytes: rows.byteLength / height }
}

/** As `scannedPdf` takes them. */
function rowsIn(url: string): string[] {
  const { height, rows, rowBytes, width } = pngIn(Buffer.from(url.slice(url.indexOf(',') + 1), 'base64'))
  const step = (rowBytes - 1) / width
  return Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) => (rows[y * rowBytes + 1 + x * step] === 0 ? '#' : '.')).join(''),
  )
}

describe('the scans of a PDF', () => {
  test('are images of its pages without text, whatever their depth', async () => {
    const pdf = scannedPdf([{ rows: ROWS }, 'Some text', { rows: ROWS, bits: true }])
    const { text, scans = [], isCut } = await read(pdf, 'scans')
    expect(text).toBe('[Page 1]\n[A scan: image 1]\n\n[Page 2]\nSome text\n\n[Page 3]\n[A scan: image 2]')
    expect(scans.map(({ page }) => page)).toEqual([1, 3])
    for (const { url } of scans) expect(rowsIn(url)).toEqual(ROWS)
    expect(isCut).toBe(false)
  })

  test('are 20 at most, and a note names the rest', async () => {
    const { scans, pages, isCut, text } = await read(
      scannedPdf(Array.from({ length: 22 }, () => ({ rows: ROWS }))),
      'scans',
    )
    expect(scans).toHaveLength(20)
    expect({ pages, isCut }).toEqual({ pages: 22, isCut: true })
    expect(text).toEndWith('[Page 22]\n[No text, and no image of the page]')
  })

  test('are not read where the length is asked for', async () => {
    expect(await read(scannedPdf([{ rows: ROWS }, 'x']), 'length')).toMatchObject({ text: '', pages: 2 })
  })
})

test('a large scan becomes smaller by a whole factor, as the means of its pixels', () => {
  const [width, height] = [3_201, 2]
  const data = new Uint8Array(width * height * 4).map((_, i) => (i % 4 === 0 ? 90 : i % 4 === 1 ? 30 : 0))
  const png = pngIn(pngOf({ width, height, channels: 4, isBits: false, data }))
  expect(png).toMatchObject({ width: 1_067, height: 1, colours: 2 })
  expect([...png.rows.subarray(0, 7)]).toEqual([0, 90, 30, 0, 90, 30, 0])
})
