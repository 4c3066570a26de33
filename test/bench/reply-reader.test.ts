import { describe, expect, test } from 'bun:test'
import { createReplyReader, type Reply } from '../../bench/reply-reader.ts'

function readAll(pieces: Buffer[], isEnded = false) {
  const replies: Reply[] = []
  const faults: string[] = []
  let firstBytes = 0
  const reader = createReplyReader({
    onReply: (reply) => replies.push(reply),
    onFault: (message) => faults.push(message),
    onFirstByte: () => {
      firstBytes += 1
    },
  })
  for (const piece of pieces) reader.push(piece)
  if (isEnded) reader.end()
  return { replies, faults, firstBytes, isInside: reader.isInside() }
}

const byLength = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'
const chunked =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nb;x=1\r\n wide world\r\n0\r\n\r\n'
const trailed = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n!\r\n0\r\nx-sum: 1\r\n\r\n'
const empty = 'HTTP/1.1 204 No Content\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'

const cases = [
  { name: 'a length', text: byLength, wanted: { status: 200, body: 'hello', closes: false } },
  { name: 'chunks', text: chunked, wanted: { status: 200, body: 'hello wide world', closes: false } },
  { name: 'chunks and a trailer', text: trailed, wanted: { status: 200, body: '!', closes: false } },
  { name: 'no body, and a close', text: empty, wanted: { status: 204, body: '', closes: true } },
]

describe('a reply framed by', () => {
  for (const { name, text, wanted } of cases) {
    test(`${name} is the same however it is cut`, () => {
      const bytes = Buffer.from(text)
      for (let cut = 0; cut <= bytes.length; cut++) {
        const { replies, isInside } = readAll([bytes.subarray(0, cut), bytes.subarray(cut)])
        expect(replies).toEqual([wanted])
        expect(isInside).toBe(false)
      }
      const single = readAll([...bytes].map((byte) => Buffer.from([byte])))
      expect(single.replies).toEqual([wanted])
      expect(single.firstBytes).toBe(wanted.body === '' ? 0 : 1)
    })

    test(`${name} is not whole one byte before its end`, () => {
      const bytes = Buffer.from(text)
      const { replies, isInside } = readAll([bytes.subarray(0, -1)])
      expect(replies).toEqual([])
      expect(isInside).toBe(true)
    })
  }

  test('the end of the connection is whole only then', () => {
    const bytes = Buffer.from('HTTP/1.1 500 No\r\nconnection: close\r\n\r\nsorry')
    expect(readAll([bytes]).replies).toEqual([])
    expect(readAll([bytes], true).replies).toEqual([{ status: 500, body: 'sorry', closes: true }])
  })
})

test('replies that arrive together are separated', () => {
  const { replies } = readAll([Buffer.from(byLength + chunked + empty)])
  expect(replies.map((reply) => reply.status)).toEqual([200, 200, 204])
})

test('a chunk without a size is a fault, not an answer', () => {
  const text = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n'
  const { replies, faults } = readAll([Buffer.from(text)])
  expect(replies).toEqual([])
  expect(faults).toHaveLength(1)
})
