/**
 * How long a recording is, in seconds, by its own headers: wav and flac exactly, ogg by its last page, mp3 by its first
 * frame (exact where the bit rate is constant). Null where the bytes do not tell.
 */
export function audioDuration(bytes: Uint8Array): number | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (hasText(bytes, 0, 'RIFF') && hasText(bytes, 8, 'WAVE')) return ofWav(bytes, view)
  if (hasText(bytes, 0, 'fLaC')) return ofFlac(view)
  if (hasText(bytes, 0, 'OggS')) return ofOgg(bytes, view)
  return ofMp3(bytes, view)
}

const hasText = (bytes: Uint8Array, at: number, text: string): boolean =>
  bytes.length >= at + text.length && [...text].every((letter, i) => bytes[at + i] === letter.charCodeAt(0))

/** A recorded live stream declares a length of 0 or of all ones: then the rest of the file counts. */
function ofWav(bytes: Uint8Array, view: DataView): number | null {
  let rate = 0
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true)
    if (hasText(bytes, at, 'fmt ') && at + 24 <= bytes.length) rate = view.getUint32(at + 16, true)
    if (hasText(bytes, at, 'data')) {
      const rest = bytes.length - at - 8
      return rate > 0 ? Math.min(size === 0 ? rest : size, rest) / rate : null
    }
    at += 8 + size + (size % 2)
  }
  return null
}

/** STREAMINFO is the first block: 20 bits of sample rate, and 36 of samples beginning in the middle of a byte. */
function ofFlac(view: DataView): number | null {
  if (view.byteLength < 26) return null
  const rate = view.getUint32(18) >>> 12
  const samples = (view.getUint8(21) & 0x0f) * 2 ** 32 + view.getUint32(22)
  return rate > 0 && samples > 0 ? samples / rate : null
}

const OPUS_RATE = 48_000

/** The position of the last page, in samples; Opus counts at 48 kHz for every sampling rate. */
function ofOgg(bytes: Uint8Array, view: DataView): number | null {
  const isOpus = hasText(bytes, 28, 'OpusHead')
  const isVorbis = hasText(bytes, 29, 'vorbis') && bytes.length >= 44
  const rate = isOpus ? OPUS_RATE : isVorbis ? view.getUint32(40, true) : 0
  if (rate === 0) return null
  for (let at = bytes.length - 14; at >= 0; at -= 1) {
    if (bytes[at] !== 0x4f || !hasText(bytes, at, 'OggS')) continue
    const samples = view.getUint32(at + 6, true) + view.getUint32(at + 10, true) * 2 ** 32
    return samples > 0 && samples < 2 ** 52 ? samples / rate : null
  }
  return null
}

/** Kilobits a second of MPEG 1 and of MPEG 2 and 2.5, layer III. */
const MPEG1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const MPEG2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]

function ofMp3(bytes: Uint8Array, view: DataView): number | null {
  const start = hasText(bytes, 0, 'ID3') && bytes.length >= 10 ? 10 + syncSafe(bytes) : 0
  const end = Math.min(bytes.length - 4, start + 4_096)
  for (let at = start; at <= end; at += 1) {
    if (bytes[at] !== 0xff) continue
    const header = view.getUint32(at)
    const isLayer3 = header >>> 21 === 0x7ff && ((header >>> 17) & 3) === 1
    if (!isLayer3) continue
    const rates = ((header >>> 19) & 3) === 3 ? MPEG1 : MPEG2
    const kilobits = rates[(header >>> 12) & 15] ?? 0
    if (kilobits > 0) return ((bytes.length - at) * 8) / (kilobits * 1_000)
  }
  return null
}

/** Four bytes of seven bits. */
const syncSafe = (bytes: Uint8Array): number =>
  [6, 7, 8, 9].reduce((size, at) => size * 128 + ((bytes[at] ?? 0) & 0x7f), 0)
