import { describe, expect, test } from 'bun:test'
import { createEventStreamParser } from '../../../src/dialects/converse/event-stream.ts'
import { frameOf, messageOf } from './frames.ts'

type Parser = ReturnType<typeof createEventStreamParser>

function push(parser: Parser, bytes: Uint8Array) {
  parser.feed(bytes)
  const events: NonNullable<ReturnType<Parser['next']>>[] = []
  for (let event = parser.next(); event; event = parser.next()) events.push(event)
  return events
}

const parse = (...chunks: Uint8Array[]) => {
  const parser = createEventStreamParser()
  const events = chunks.flatMap((chunk) => push(parser, chunk))
  return [...events, ...parser.end()]
}

const START = frameOf({ messageStart: { role: 'assistant' } })
const EVENT = { name: 'messageStart', data: '{"role":"assistant"}' }

/** The frame with these bytes changed. */
const altered = (change: (frame: Buffer) => void): Buffer => {
  const frame = Buffer.from(START)
  change(frame)
  return frame
}

test('frames, one by one and together', () => {
  expect(parse(START)).toEqual([EVENT])
  expect(parse(Buffer.concat([START, START, START]))).toEqual([EVENT, EVENT, EVENT])
  expect(parse(new Uint8Array())).toEqual([])
})

test('a frame in pieces of any length', () => {
  for (let length = 1; length <= START.length; length++) {
    const pieces = Array.from({ length: Math.ceil(START.length / length) }, (_, i) =>
      START.subarray(i * length, (i + 1) * length),
    )
    expect(parse(...pieces, START)).toEqual([EVENT, EVENT])
  }
})

test('the memory of a chunk may be used again', () => {
  const parser = createEventStreamParser()
  const chunk = new Uint8Array(START.subarray(0, 40))
  expect(push(parser, chunk)).toEqual([])
  chunk.fill(0)
  expect(push(parser, START.subarray(40))).toEqual([EVENT])
})

test('headers of every type are skipped', () => {
  const typed = (type: number, bytes: number): Buffer =>
    Buffer.concat([Buffer.from([type]), Buffer.alloc(bytes)])
  const frame = messageOf(
    {
      yes: typed(0, 0),
      no: typed(1, 0),
      byte: typed(2, 1),
      short: typed(3, 2),
      int: typed(4, 4),
      long: typed(5, 8),
      bytes: Buffer.from([6, 0, 3, 1, 2, 3]),
      time: typed(8, 8),
      uuid: typed(9, 16),
      ':message-type': 'event',
      ':event-type': 'metadata',
    },
    '{}',
  )
  expect(parse(frame)).toEqual([{ name: 'metadata', data: '{}' }])
})

describe('errors in the stream', () => {
  const exception = (fields: object) => [{ name: 'exception', data: JSON.stringify(fields) }]

  test('an exception has its payload and its type', () => {
    expect(parse(frameOf({ exception: 'throttlingException', message: 'Slow down' }))).toEqual(
      exception({ message: 'Slow down', type: 'throttlingException' }),
    )
  })

  test('a payload that is not JSON is the message', () => {
    const frame = messageOf(
      { ':message-type': 'exception', ':exception-type': 'internalServerException' },
      'oops',
    )
    expect(parse(frame)).toEqual(exception({ message: 'oops', type: 'internalServerException' }))
  })

  test('an error frame has all in its headers', () => {
    const headers = { ':message-type': 'error', ':error-code': 'InternalFailure', ':error-message': 'gone' }
    expect(parse(messageOf(headers, ''))).toEqual(exception({ message: 'gone', type: 'InternalFailure' }))
  })
})

describe('not a frame', () => {
  test.each<[what: string, frame: Buffer]>([
    ['a flipped bit in the length', altered((frame) => flip(frame, 3))],
    ['a flipped bit in the checksum of the prelude', altered((frame) => flip(frame, 8))],
    ['a flipped bit in a header', altered((frame) => flip(frame, 14))],
    ['a flipped bit in the payload', altered((frame) => flip(frame, frame.length - 6))],
    ['a flipped bit in the last checksum', altered((frame) => flip(frame, frame.length - 1))],
    ['a length that is too great', altered((frame) => resize(frame, 0x7fffffff, 0))],
    ['a length that is too small', altered((frame) => resize(frame, 15, 0))],
    ['headers that are longer than all', altered((frame) => resize(frame, frame.length, frame.length))],
    ['an unknown type', messageOf({ ':message-type': 'news' }, '{}')],
    ['no type', messageOf({}, '{}')],
    ['a header of no known type', messageOf({ a: Buffer.from([77]) }, '{}')],
    ['a header without a value', messageOf({ a: Buffer.alloc(0) }, '{}')],
    ['a header that is longer than all', messageOf({ a: Buffer.from([7, 0xff, 0xff]) }, '{}')],
    ['server-sent events', Buffer.from('data: {"messageStart":{}}\n\n')],
  ])('%s is malformed', (_, frame) => {
    expect(() => parse(frame)).toThrow(expect.objectContaining({ kind: 'malformed' }))
  })

  test('its error is thrown after the events before it', () => {
    const parser = createEventStreamParser()
    expect(push(parser, Buffer.concat([START, altered((frame) => flip(frame, 20))]))).toEqual([EVENT])
    expect(() => push(parser, START)).toThrow(expect.objectContaining({ kind: 'malformed' }))
    expect(() => parser.end()).toThrow(expect.objectContaining({ kind: 'malformed' }))
  })

  test('half a frame at the end is truncated', () => {
    for (const length of [1, 4, 11, 12, START.length - 1]) {
      expect(() => parse(START.subarray(0, length))).toThrow(expect.objectContaining({ kind: 'truncated' }))
    }
  })
})

const flip = (frame: Buffer, at: number): void => {
  frame.writeUInt8(frame.readUInt8(at) ^ 1, at)
}

/** Other lengths, with the checksum that they would have. */
function resize(frame: Buffer, length: number, headers: number): void {
  frame.writeUInt32BE(length, 0)
  frame.writeUInt32BE(headers, 4)
  frame.writeUInt32BE(Bun.hash.crc32(frame.subarray(0, 8)), 8)
}
