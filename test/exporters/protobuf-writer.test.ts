import { expect, test } from 'bun:test'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import * as write from '../../src/exporters/otlp/writer.ts'
import { createProtobufWriter, writtenIn } from '../../src/exporters/otlp/writer.ts'

/** Lengths at which a length takes one byte more, and the longest text that is written by a loop. */
const LENGTHS = [0, 1, 63, 64, 65, 127, 128, 129, 16_383, 16_384, 2_097_151, 2_097_152]

test('texts and messages of every length of a length are read back', () => {
  for (const length of LENGTHS) {
    for (const letter of ['a', 'é']) {
      const to = createProtobufWriter(1)
      const outer = write.begin(to, 1)
      const inner = write.begin(to, 16)
      write.text(to, 2, letter.repeat(length))
      write.end(to, inner)
      write.boolean(to, 3, true)
      write.end(to, outer)
      write.text(to, 4, 'behind')
      const from = new BinaryReader(writtenIn(to))
      expect(from.tag()).toEqual([1, 2])
      const message = new BinaryReader(from.bytes())
      expect(message.tag()).toEqual([16, 2])
      const nested = new BinaryReader(message.bytes())
      expect(nested.tag()).toEqual([2, 2])
      expect(nested.string()).toBe(letter.repeat(length))
      expect(nested.pos).toBe(nested.len)
      expect(message.tag()).toEqual([3, 0])
      expect(message.bool()).toBeTrue()
      expect(from.tag()).toEqual([4, 2])
      expect(from.string()).toBe('behind')
      expect(from.pos).toBe(from.len)
    }
  }
})

test('numbers are read back', () => {
  const integers = [0, 1, 127, 128, 2 ** 31, 2 ** 32, 2 ** 35 + 1, Number.MAX_SAFE_INTEGER]
  for (const value of [...integers, ...integers.map((each) => -each)]) {
    const to = createProtobufWriter(1)
    write.integer(to, 1, value)
    write.double(to, 2, value / 3)
    write.hex(to, 4, '00ff7f')
    const from = new BinaryReader(writtenIn(to))
    from.tag()
    expect(Number(from.int64())).toBe(value + 0)
    from.tag()
    expect(from.double()).toBe(value / 3)
    from.tag()
    expect(from.bytes()).toEqual(new Uint8Array([0, 255, 127]))
    expect(from.pos).toBe(from.len)
  }
})

test('times are written as nanoseconds of 64 bits', () => {
  const times = [
    0,
    1,
    4_294,
    4_295,
    2 ** 20 - 1,
    2 ** 20,
    1_764_000_000_123,
    4_102_444_800_000,
    2 ** 43,
    -5,
    1.4,
  ]
  for (const time of times) {
    const to = createProtobufWriter(1)
    write.nanoseconds(to, 3, time)
    const from = new BinaryReader(writtenIn(to))
    expect(from.tag()).toEqual([3, 1])
    expect(BigInt(from.fixed64())).toBe(BigInt(Math.max(0, Math.round(time))) * 1_000_000n)
  }
})

test('half of a character becomes U+FFFD, in a short text and in a long one', () => {
  for (const text of ['cut \ud83d', `${'x'.repeat(100)}\udc00`]) {
    const to = createProtobufWriter(1)
    write.text(to, 1, text)
    const from = new BinaryReader(writtenIn(to))
    from.tag()
    expect(from.string()).toBe(text.toWellFormed())
  }
})
