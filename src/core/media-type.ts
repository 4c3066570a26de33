type Sniffed = readonly [type: string, at: number, ...bytes: (number | string)[]]

/** Signatures at the start of files (WHATWG MIME Sniffing, and the formats' specifications), most specific first. */
const MARKS: readonly Sniffed[] = [
  ['image/png', 0, 0x89, 'PNG\r\n', 0x1a, '\n'],
  ['image/jpeg', 0, 0xff, 0xd8, 0xff],
  ['image/gif', 0, 'GIF87a'],
  ['image/gif', 0, 'GIF89a'],
  ['image/webp', 8, 'WEBPVP8'],
  ['image/avif', 4, 'ftypavif'],
  ['image/heic', 4, 'ftypheic'],
  ['image/heic', 4, 'ftypheix'],
  ['image/heif', 4, 'ftypmif1'],
  ['image/bmp', 0, 'BM'],
  ['image/tiff', 0, 'II*', 0],
  ['image/tiff', 0, 'MM', 0, '*'],
  ['application/pdf', 0, '%PDF-'],
  ['video/webm', 0, 0x1a, 0x45, 0xdf, 0xa3],
  ['video/quicktime', 4, 'ftypqt'],
  ['video/mp4', 4, 'ftyp'],
]

/** What the bytes are by how they begin (`image/png`); null where they do not tell. */
export function sniffMediaType(bytes: Uint8Array): string | null {
  const found = MARKS.find(([, at, ...mark]) => hasMark(bytes, at, mark))
  return found === undefined ? null : found[0]
}

function hasMark(bytes: Uint8Array, at: number, mark: readonly (number | string)[]): boolean {
  let place = at
  for (const piece of mark) {
    const codes = typeof piece === 'number' ? [piece] : [...piece].map((letter) => letter.charCodeAt(0))
    for (const code of codes) {
      if (bytes[place] !== code) return false
      place += 1
    }
  }
  return true
}
