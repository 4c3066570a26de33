import { afterAll, expect, test } from 'bun:test'
import { textReply } from '../../src/http/text-reply.ts'

const texts: Readonly<Record<string, string>> = {
  '/short': '{"a":1}',
  '/large': JSON.stringify('x'.repeat(100_000)),
  // Of two units each, so that one of them stands where a piece ends.
  '/pieces': JSON.stringify(`a${'😀'.repeat(1_500_000)}`),
}
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async ({ url }) => {
    await Promise.resolve()
    return textReply(texts[new URL(url).pathname] ?? '', { 'content-type': 'application/json' })
  },
})
afterAll(() => server.stop(true))

for (const [path, text] of Object.entries(texts)) {
  test(`a reply arrives as it was written: ${path}`, async () => {
    const reply = await fetch(new URL(path, server.url))
    expect(reply.headers.get('content-type')).toBe('application/json')
    expect((await reply.text()) === text).toBe(true)
  })
}

test('a client that disconnects from a long reply disturbs no other', async () => {
  const left = new AbortController()
  const reply = await fetch(new URL('/pieces', server.url), { signal: left.signal })
  expect(reply.status).toBe(200)
  left.abort()
  const whole = await fetch(new URL('/pieces', server.url))
  expect((await whole.text()) === texts['/pieces']).toBe(true)
})
