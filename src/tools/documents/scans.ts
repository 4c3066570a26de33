import { type getDocumentProxy, getResolvedPDFJS } from 'unpdf'
import { asCount, fieldsOf, isText } from '../../core/json.ts'
import { type Pixels, pngOf } from './png.ts'

/** The largest image that is decoded: a sheet of A4 at 600 dots per inch. */
export const MOST_PIXELS = 40_000_000
const MOST_SCANS = 20
/** Of all scans of a document, as PNG. */
const MOST_BYTES = 16 * 1024 * 1024
/** Decoding takes up to a second for a page. After this time no further page is begun. */
const LONGEST_MS = 12_000
/** pdf.js does not tell of an image that it cannot decode. */
const DECODING_MS = 5_000

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>['getPage']>>

/**
 * The scans of one document within the bounds of all of them. The returned function gives the largest image of a page
 * as a data URL; null: it has none that can be decoded, or the bounds are reached. Pages are not drawn, which would
 * need a native library: a page of lines and shapes has no image.
 */
export function createScans(): (page: Page) => Promise<string | null> {
  const until = performance.now() + LONGEST_MS
  let [count, bytes] = [0, 0]
  return async (page) => {
    if (count >= MOST_SCANS || performance.now() > until) return null
    const pixels = await largestOf(page)
    if (pixels === null) return null
    const png = pngOf(pixels)
    if (bytes + png.byteLength > MOST_BYTES) return null
    count += 1
    bytes += png.byteLength
    return `data:image/png;base64,${png.toString('base64')}`
  }
}

async function largestOf(page: Page): Promise<Pixels | null> {
  const { OPS } = await getResolvedPDFJS()
  const { fnArray, argsArray } = await page.getOperatorList()
  let largest: Pixels | null = null
  for (const [at, operator] of fnArray.entries()) {
    if (operator !== OPS.paintImageXObject && operator !== OPS.paintInlineImageXObject) continue
    const [image]: unknown[] = argsArray[at]
    const pixels = pixelsOf(isText(image) ? await decoded(image, page) : image)
    if (pixels !== null && sizeOf(pixels) > (largest === null ? 0 : sizeOf(largest))) largest = pixels
  }
  return largest
}

const sizeOf = ({ width, height }: Pixels): number => width * height

async function decoded(name: string, page: Page): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const timer = setTimeout(() => resolve(null), DECODING_MS)
  // Images that several pages share have names of their own.
  const objects = name.startsWith('g_') ? page.commonObjs : page.objs
  objects.get(name, resolve)
  const image = await promise
  clearTimeout(timer)
  return image
}

/** Null for masks, and for an image whose bytes are not those of its size. */
function pixelsOf(image: unknown): Pixels | null {
  const { width: wide, height: high, data } = fieldsOf(image)
  const [width, height] = [asCount(wide) ?? 0, asCount(high) ?? 0]
  if (!(data instanceof Uint8Array || data instanceof Uint8ClampedArray) || width * height === 0) return null
  const rowBytes = data.byteLength / height
  if (rowBytes === Math.ceil(width / 8)) return { width, height, channels: 1, isBits: true, data }
  const channels = rowBytes / width
  return channels === 1 || channels === 3 || channels === 4
    ? { width, height, channels, isBits: false, data }
    : null
}
