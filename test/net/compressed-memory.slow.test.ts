import { expect, test } from 'bun:test'
import { brotliCompressSync, constants } from 'node:zlib'
import { send } from './send.ts'
import { upstreamForFile } from './servers.ts'

const { upstream, serve } = upstreamForFile()
const BOMB_BYTES = 300_000_000
const READ_BYTES = 16_000_000
const MOST_MEMORY_BYTES = 120_000_000

test('a kilobyte that would become 300 MB is decompressed only as far as it is read', async () => {
  const body = brotliCompressSync(Buffer.alloc(BOMB_BYTES, 'a'), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 3 },
  })
  const server = await serve((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: ${body.length}\r\n\r\n`)
    socket.write(body)
  })
  Bun.gc(true)
  const before = process.memoryUsage.rss()
  let most = 0
  // The second and later replies on a connection arrive with head and body in one piece.
  for (let call = 0; call < 3; call++) {
    let size = 0
    for await (const bytes of (await send(upstream, server.url)).bytes) {
      most = Math.max(most, process.memoryUsage.rss() - before)
      size += bytes.byteLength
      if (size > READ_BYTES) break
    }
  }
  expect(most).toBeLessThan(MOST_MEMORY_BYTES)
})
