import { describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { outcomeOf, send } from './send.ts'
import { upstreamForFile } from './servers.ts'

/** Replies that a provider compresses although `identity` was requested. */

const { upstream, serve } = upstreamForFile()

const CODINGS: [name: string, compress: (bytes: Uint8Array) => Uint8Array][] = [
  ['gzip', gzipSync],
  ['X-Gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
]
const TEXT = Buffer.from('hello '.repeat(10_000))

const compressed = (coding: string, body: Uint8Array) =>
  serve((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ncontent-length: ${body.length}\r\n\r\n`)
    socket.write(body)
  })

describe.each(CODINGS)('%s', (coding, compress) => {
  test('is read', async () => {
    const server = await compressed(coding, compress(TEXT))
    expect(await outcomeOf(send(upstream, server.url))).toMatchObject({ text: String(TEXT), error: null })
    expect(await (await send(upstream, server.url)).text()).toBe(String(TEXT))
  })

  test('without its last bytes is not complete', async () => {
    const body = compress(TEXT)
    const server = await compressed(coding, body.subarray(0, -1))
    const { error } = await outcomeOf(send(upstream, server.url))
    expect(error).toMatchObject({ kind: 'connect', code: 'ZlibError' })
  })
})

test('a connection that ends within a compressed reply is named as such', async () => {
  const body = gzipSync(crypto.getRandomValues(new Uint8Array(100_000)))
  const server = await serve((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 200000\r\n\r\n')
    socket.end(body)
  })
  const { error } = await outcomeOf(send(upstream, server.url))
  expect(error).toMatchObject({ kind: 'connect', code: 'ECONNRESET' })
})
