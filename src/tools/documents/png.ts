import { crc32, deflateSync } from 'node:zlib'

/** An image as pdf.js decodes it, row by row. */
export interface Pixels {
  readonly width: number
  readonly height: number
  /** Grey; red, green and blue; or the same with opacity, which is left out. */
  readonly channels: 1 | 3 | 4
  /** Eight grey pixels in a byte, each row from a new byte; 1 is white. */
  readonly isBits: boolean
  readonly data: Uint8Array | Uint8ClampedArray
}

/** What models are shown: they make larger images smaller. */
const LONGEST_SIDE = 1_600

/** A PNG of the image, made smaller by a whole factor until its longer side has 1,600 pixels at most. */
export function pngOf(pixels: Pixels): Buffer {
  const factor = Math.ceil(Math.max(pixels.width, pixels.height) / LONGEST_SIDE)
  const [width, height] = [Math.ceil(pixels.width / factor), Math.ceil(pixels.height / factor)]
  const channels = pixels.channels === 1 ? 1 : 3
  // Each row begins with the number of its filter: none.
  const rows = Buffer.alloc((width * channels + 1) * height)
  for (let y = 0; y < height; y++)
    rows.set(meansOf(pixels, y, factor, channels, width), y * (width * channels + 1) + 1)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  header[9] = channels === 1 ? GREY : RGB
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 6 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const [GREY, RGB] = [0, 2]

/** The means of the squares of pixels that become the row `y`. */
function meansOf(pixels: Pixels, y: number, factor: number, channels: number, width: number): Uint32Array {
  const { data, isBits } = pixels
  const bottom = Math.min((y + 1) * factor, pixels.height)
  const bitRow = Math.ceil(pixels.width / 8)
  const sums = new Uint32Array(width * channels)
  for (let row = y * factor; row < bottom; row++) {
    let at = row * pixels.width * pixels.channels
    for (let column = 0, into = 0, left = factor; column < pixels.width; column++) {
      if (isBits)
        add(sums, into, (((data[row * bitRow + (column >> 3)] ?? 0) >> (7 - (column & 7))) & 1) * 255)
      else
        for (let channel = 0; channel < channels; channel++)
          add(sums, into + channel, data[at + channel] ?? 0)
      at += pixels.channels
      left -= 1
      if (left > 0) continue
      left = factor
      into += channels
    }
  }
  const last = pixels.width - (width - 1) * factor
  return sums.map((sum, i) =>
    Math.round(sum / ((bottom - y * factor) * (i < (width - 1) * channels ? factor : last))),
  )
}

const add = (sums: Uint32Array, at: number, value: number): void => {
  sums[at] = (sums[at] ?? 0) + value
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const framed = Buffer.alloc(body.byteLength + 8)
  framed.writeUInt32BE(data.byteLength, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.byteLength + 4)
  return framed
}
