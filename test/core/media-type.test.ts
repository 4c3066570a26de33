import { expect, test } from 'bun:test'
import { sniffMediaType } from '../../src/core/media-type.ts'

const bytes = (...pieces: (number | string)[]): Uint8Array =>
  Uint8Array.from(pieces.flatMap((piece) => (typeof piece === 'number' ? [piece] : [...Buffer.from(piece)])))

test.each([
  ['image/png', bytes(0x89, 'PNG\r\n', 0x1a, '\nIHDR')],
  ['image/jpeg', bytes(0xff, 0xd8, 0xff, 0xe0)],
  ['image/gif', bytes('GIF89a')],
  ['image/gif', bytes('GIF87a')],
  ['image/webp', bytes('RIFF', 1, 2, 3, 4, 'WEBPVP8 ')],
  ['image/avif', bytes(0, 0, 0, 28, 'ftypavif')],
  ['image/heic', bytes(0, 0, 0, 28, 'ftypheic')],
  ['image/bmp', bytes('BM', 1, 2)],
  ['image/tiff', bytes('II*', 0, 8)],
  ['application/pdf', bytes('%PDF-1.7')],
  ['video/mp4', bytes(0, 0, 0, 24, 'ftypisom')],
  ['video/quicktime', bytes(0, 0, 0, 20, 'ftypqt  ')],
  ['video/webm', bytes(0x1a, 0x45, 0xdf, 0xa3)],
])('%s is known by its first bytes', (type, content) => {
  expect(sniffMediaType(content)).toBe(type)
})

test.each([
  ['', '<html>', '\x89PN', 'RIFF....WAVEfmt ', 'plain text'].map((text) => Buffer.from(text, 'latin1')),
])('what begins otherwise is not guessed at', (content) => {
  expect(sniffMediaType(content)).toBeNull()
})
