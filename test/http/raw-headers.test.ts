import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'

/** Header faults on the wire: those that reach the gateway have a body; those that Bun's parser refuses have none. */

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ listens: true })
})
afterAll(() => gateway.stop())

interface Reply {
  /** Null: the connection was closed without a reply. */
  status: number | null
  body: string
}

const exchange = (bytes: string): Promise<Reply> =>
  new Promise((resolve, reject) => {
    let got = ''
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1', () =>
      socket.write(bytes, 'latin1'),
    )
    socket.on('data', (data) => {
      got += data.toString('latin1')
      const [head = '', body = ''] = got.split('\r\n\r\n')
      const length = /content-length: (\d+)/i.exec(head)?.[1]
      if (length !== undefined && body.length >= Number(length)) socket.end()
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = got.split('\r\n\r\n')
      const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]
      resolve({ status: status === undefined ? null : Number(status), body })
    })
  })

const HOST = 'host: localhost\r\n'
const KEY = `authorization: Bearer ${API_KEY}\r\n`
const get = (headers: string): string => `GET /api/v1/key HTTP/1.1\r\n${headers}\r\n`
const post = (headers: string, body = '{}'): string =>
  `POST /api/v1/chat/completions HTTP/1.1\r\n${HOST}${KEY}${headers}\r\n${body}`
const many = (count: number): string =>
  Array.from({ length: count }, (_, index) => `x-${index}: 1\r\n`).join('')

const ANSWERED: [name: string, bytes: string, status: number][] = [
  ['an empty host', get(`host:\r\n${KEY}`), 400],
  ['a host with a blank', get(`host: a b\r\n${KEY}`), 400],
  ['a host with a slash', get(`host: a/b\r\n${KEY}`), 400],
  ['two hosts', get(`${HOST}${HOST}${KEY}`), 400],
  ['no authorization', get(HOST), 401],
  ['another scheme', get(`${HOST}authorization: Basic YTpi\r\n`), 401],
  ['bytes that are not text as key', get(`${HOST}authorization: Bearer \x80\xff\r\n`), 401],
  ['two keys', get(`${HOST}${KEY}${KEY}`), 401],
  ['a malformed content-type', post('content-type: ;;;\r\ncontent-length: 2\r\n'), 400],
  ['an encoding that is not read', post('content-encoding: gzip\r\ncontent-length: 2\r\n'), 400],
  ['a length beyond the limit', post('content-length: 30000000\r\n'), 413],
  ['15 kB of headers', get(`${HOST}x: ${'a'.repeat(15_000)}\r\n`), 401],
  ['150 headers', get(HOST + many(150)), 401],
]

describe('has an envelope', () => {
  test.each(ANSWERED)('%s', async (_, bytes, status) => {
    const reply = await exchange(bytes)
    expect([reply.status, JSON.parse(reply.body).error]).toEqual([
      status,
      expect.objectContaining({ code: status, message: expect.stringMatching(/./) }),
    ])
  })
})

/** Bun 1.4.5 has no hook for these. If one of them fails, Bun has changed: see docs/limits.md. */
const BUN: [name: string, bytes: string, status: number | null][] = [
  ['no host', get(KEY), 400],
  ['a length of letters', post('content-length: abc\r\n'), 400],
  ['a negative length', post('content-length: -1\r\n'), 400],
  ['two lengths', post('content-length: 2\r\ncontent-length: 3\r\n'), 400],
  ['a length and chunks', post('content-length: 2\r\ntransfer-encoding: chunked\r\n'), 400],
  ['chunks that are none', post('transfer-encoding: chunked\r\n', 'zz\r\n{}\r\n'), 400],
  ['a transfer coding that is not read', post('transfer-encoding: gzip\r\n'), 400],
  ['a blank in a name', get(`${HOST}x y: z\r\n`), 400],
  ['a blank before the colon', get(`${HOST}x : z\r\n`), 400],
  ['no colon', get(`${HOST}nonsense\r\n`), 400],
  ['a folded line', get(`${HOST}x: a\r\n b\r\n`), 400],
  ['a name that is not ASCII', get(`${HOST}n\xe4me: z\r\n`), 400],
  ['a control character', get(`${HOST}x: a\x01b\r\n`), 400],
  ['20 kB of headers', get(`${HOST}x: ${'a'.repeat(20_000)}\r\n`), 431],
  ['250 headers', get(HOST + many(250)), 431],
  ['another version', `GET / HTTP/2.0\r\n${HOST}\r\n`, 505],
  ['an unknown method', `FOO / HTTP/1.1\r\n${HOST}\r\n`, null],
]

test.each(BUN)('without a body: %s', async (_, bytes, status) => {
  expect(await exchange(bytes)).toEqual({ status, body: '' })
})
