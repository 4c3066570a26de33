import { expect, test } from 'bun:test'
import { audioDuration } from '../../src/core/audio-duration.ts'

/** One second is 16,000 bytes. */
function wav(dataBytes: number, declared = dataBytes): Buffer {
  const bytes = Buffer.alloc(44 + 12 + dataBytes)
  bytes.write('RIFF', 0)
  bytes.write('WAVEfmt ', 8)
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt32LE(16_000, 28)
  bytes.write('LIST', 36)
  bytes.writeUInt32LE(4, 40)
  bytes.write('data', 48)
  bytes.writeUInt32LE(declared, 52)
  return bytes
}

function flac(rate: number, samples: number): Buffer {
  const bytes = Buffer.alloc(64)
  bytes.write('fLaC', 0)
  bytes.writeUInt32BE((rate << 12) >>> 0, 18)
  bytes.writeUInt32BE(samples, 22)
  return bytes
}

function opus(samples: number): Buffer {
  const bytes = Buffer.alloc(200)
  bytes.write('OggS', 0)
  bytes.write('OpusHead', 28)
  bytes.write('OggS', 100)
  bytes.writeUInt32LE(samples, 106)
  return bytes
}

/** 128 kbit/s, MPEG 1, layer III: 16,000 bytes a second. */
const mp3 = (seconds: number): Buffer => {
  const bytes = Buffer.alloc(seconds * 16_000)
  bytes.writeUInt32BE(0xfffb9000, 0)
  return bytes
}
const tagged = (bytes: Buffer, length: number): Buffer => {
  const tag = Buffer.alloc(10 + length)
  tag.write('ID3', 0)
  tag.writeUInt8(length >> 7, 8)
  tag.writeUInt8(length & 0x7f, 9)
  return Buffer.concat([tag, bytes])
}

const rows: [name: string, bytes: Uint8Array, seconds: number | null][] = [
  ['wav', wav(40_000), 2.5],
  ['wav that was streamed: a length of 0', wav(32_000, 0), 2],
  ['wav that was streamed: a length of all ones', wav(32_000, 0xffffffff), 2],
  ['wav without sound', wav(40_000).subarray(0, 44), null],
  ['flac', flac(44_100, 44_100 * 3), 3],
  ['flac that does not say', flac(44_100, 0), null],
  ['opus', opus(48_000 * 4), 4],
  ['mp3', mp3(2), 2],
  ['mp3 behind a tag', tagged(mp3(2), 300), 2],
  ['text', Buffer.from('no sound at all'), null],
  ['nothing', new Uint8Array(), null],
  ['two bytes', new Uint8Array([0xff, 0xfb]), null],
]
test.each(rows)('%s', (_, bytes, seconds) => {
  const found = audioDuration(bytes)
  expect(found === null ? null : Math.round(found * 1_000) / 1_000).toBe(seconds)
})
