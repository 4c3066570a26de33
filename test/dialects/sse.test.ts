import { describe, expect, test } from 'bun:test'
import { UpstreamError } from '../../src/core/errors.ts'
import { createSseParser, MAX_EVENT_CHARACTERS, type SseEvent } from '../../src/dialects/sse.ts'

const ENCODER = new TextEncoder()

/** Each row is read at once, byte by byte, and split at every offset: always the same. */
const rows: [name: string, body: string, events: [name: string, data: string][]][] = [
  [
    'LF',
    'data: a\n\ndata: b\n\n',
    [
      ['', 'a'],
      ['', 'b'],
    ],
  ],
  [
    'CRLF',
    'data: a\r\n\r\ndata: b\r\n\r\n',
    [
      ['', 'a'],
      ['', 'b'],
    ],
  ],
  [
    'CR',
    'data: a\r\rdata: b\r\r',
    [
      ['', 'a'],
      ['', 'b'],
    ],
  ],
  [
    'mixed line ends',
    'data: a\r\n\ndata: b\n\r\ndata: c\r\rdata: d\n\n',
    [
      ['', 'a'],
      ['', 'b'],
      ['', 'c'],
      ['', 'd'],
    ],
  ],
  ['no blank after the colon', 'data:a\n\n', [['', 'a']]],
  ['one blank is taken off, not two', 'data:  a\n\n', [['', ' a']]],
  ['blanks at the end stay', 'data: a \n\n', [['', 'a ']]],
  ['several data lines', 'data: a\ndata:\ndata: b\n\n', [['', 'a\n\nb']]],
  [
    'a name',
    'event: error\ndata: a\n\ndata: b\n\n',
    [
      ['error', 'a'],
      ['', 'b'],
    ],
  ],
  ['a name behind its data', 'data: a\nevent: late\n\n', [['late', 'a']]],
  ['a name alone', 'event: ping\n\n', [['ping', '']]],
  ['comments, ids, retries', ': hello\n\nid: 7\nretry: 10\n: more\ndata: a\n:\n\n', [['', 'a']]],
  [
    'an error as a field of its own',
    'data: a\n\nerror: {"error":{"message":"b"}}\n\n',
    [
      ['', 'a'],
      ['error', '{"error":{"message":"b"}}'],
    ],
  ],
  ['fields of other names', 'data: a\nfoo: b\nbar\n\n', [['', 'a']]],
  ['a data field without a colon', 'data\n\n', [['', '']]],
  ['a byte order mark', '\ufeffdata: a\n\n', [['', 'a']]],
  ['a byte order mark inside is text', 'data: \ufeffa\n\n', [['', '\ufeffa']]],
  [
    'no final blank line',
    'data: a\n\ndata: b',
    [
      ['', 'a'],
      ['', 'b'],
    ],
  ],
  [
    'one line end at the end',
    'data: a\n\ndata: b\n',
    [
      ['', 'a'],
      ['', 'b'],
    ],
  ],
  ['CR at the very end', 'data: a\r\n\r', [['', 'a']]],
  ['characters of two to four bytes', 'data: é€🌊\n\n', [['', 'é€🌊']]],
  ['line separators of Unicode end nothing', 'data: a\u2028b\u0085c\n\n', [['', 'a\u2028b\u0085c']]],
  [
    'blanks before a field',
    ' data: a\n\n\t event: x\n  data: b\n\n',
    [
      ['', 'a'],
      ['x', 'b'],
    ],
  ],
  ['blank lines alone', '\n\n\r\n   \n\n', []],
  [
    'bare JSON',
    'data: a\n\n{"error":\n  {"b": 1}}\n\ndata: c\n\n',
    [
      ['', 'a'],
      ['', '{"error":\n  {"b": 1}}'],
      ['', 'c'],
    ],
  ],
  [
    'bare JSON between lines of events',
    'data: a\n{"b":1}\ndata: c\n\n',
    [
      ['', 'a'],
      ['', '{"b":1}'],
      ['', 'c'],
    ],
  ],
  [
    'bare JSON at the end',
    'data: a\n\n[{"b":1}]',
    [
      ['', 'a'],
      ['', '[{"b":1}]'],
    ],
  ],
  ['nothing', '', []],
]

const collect = (parts: Uint8Array[]): SseEvent[] => {
  const parser = createSseParser()
  return [...parts.flatMap((part) => parser.push(part)), ...parser.end()]
}

describe('events, however they are split', () => {
  test.each(rows)('%s', (_, body, listed) => {
    const bytes = ENCODER.encode(body)
    const expected = listed.map(([name, data]) => ({ name, data }))
    expect(collect([bytes])).toEqual(expected)
    expect(collect(Array.from(bytes, (_byte, i) => bytes.subarray(i, i + 1)))).toEqual(expected)
    for (let at = 0; at <= bytes.length; at++) {
      expect(collect([bytes.subarray(0, at), new Uint8Array(), bytes.subarray(at)])).toEqual(expected)
    }
  })

  test('an event is complete with its blank line, not before and not later', () => {
    const parser = createSseParser()
    expect(parser.push(ENCODER.encode('data: a\n'))).toEqual([])
    expect(parser.push(ENCODER.encode('\n'))).toEqual([{ name: '', data: 'a' }])
    expect(parser.push(ENCODER.encode('data: b\r'))).toEqual([])
    expect(parser.push(ENCODER.encode('\n\r'))).toEqual([{ name: '', data: 'b' }])
    expect(parser.push(ENCODER.encode('\n'))).toEqual([])
    expect(parser.end()).toEqual([])
  })

  test('bytes that are not UTF-8 become replacement characters', () => {
    expect(collect([Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0xc3, 0x0a, 0x0a)])).toEqual([
      { name: '', data: '\ufffd\ufffd' },
    ])
  })
})

describe('the cap on one event', () => {
  const caps: [name: string, line: string, count: number][] = [
    ['a line without an end', 'x'.repeat(4096), MAX_EVENT_CHARACTERS / 4096 + 1],
    ['data line upon data line', `data: ${'x'.repeat(4090)}\n`, MAX_EVENT_CHARACTERS / 4090 + 1],
    ['bare JSON without an end', `{${'x'.repeat(4095)}\n`, MAX_EVENT_CHARACTERS / 4096 + 1],
  ]
  test.each(caps)('%s', (_, line, count) => {
    const parser = createSseParser()
    const bytes = ENCODER.encode(line)
    const fill = () => {
      for (let i = 0; i < count; i++) parser.push(bytes)
    }
    expect(fill).toThrow(UpstreamError)
  })

  test('any number of events of just that length are read', () => {
    const parser = createSseParser(100)
    const event = ENCODER.encode(`data: ${'x'.repeat(94)}\n\n`)
    for (let i = 0; i < 50; i++) expect(parser.push(event)[0]?.data.length).toBe(94)
  })

  test('a long line costs the same byte by byte', () => {
    const parser = createSseParser()
    const byte = ENCODER.encode('x')
    parser.push(ENCODER.encode('data: '))
    for (let i = 0; i < 500_000; i++) parser.push(byte)
    expect(parser.push(ENCODER.encode('\n\n'))[0]?.data.length).toBe(500_000)
  })
})
