import { afterAll, expect, test } from 'bun:test'
import { jsonReply } from '../../src/http/json-reply.ts'

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    await Promise.resolve()
    return jsonReply(textOf(Number(new URL(request.url).pathname.slice(1))), { 'x-generation-id': 'gen-1' })
  },
})
afterAll(() => server.stop(true))

const textOf = (length: number): string => JSON.stringify('ü€𝄞'.repeat(length))

test.each([1, 3_000, 5_000, 500_000])(
  'a reply of %d times three characters arrives as it was',
  async (length) => {
    const reply = await fetch(`http://127.0.0.1:${server.port}/${length}`)
    expect(await reply.text()).toBe(textOf(length))
    expect(reply.headers.get('x-generation-id')).toBe('gen-1')
  },
)

test('a large reply is read without a server, too', async () => {
  expect(await jsonReply(textOf(10_000), {}).text()).toBe(textOf(10_000))
})

test('a caller that goes away in a large reply breaks nothing', async () => {
  for (let count = 0; count < 20; count++) {
    const reply = await fetch(`http://127.0.0.1:${server.port}/500000`)
    await reply.body?.cancel()
  }
  expect((await fetch(`http://127.0.0.1:${server.port}/1`)).status).toBe(200)
})
