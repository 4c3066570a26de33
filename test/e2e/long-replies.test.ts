import { expect, test } from 'bun:test'
import { unary } from '../upstream.ts'
import { startForChat } from './chat-setup.ts'

/** A reply of megabytes is written in steps, field by field: its bytes are those of `JSON.stringify`. */

const { upstream, gateway } = await startForChat()

const asked = {
  '/chat/completions': { messages: [{ role: 'user', content: 'Hello' }] },
  '/responses': { input: 'Hello' },
  '/messages': { max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
}

for (const [path, body] of Object.entries(asked)) {
  test(`${path} has the fields of a short reply in their order, and the complete text`, async () => {
    upstream.on('tiny', unary('Hi'))
    const short = await gateway.call(path, { model: 'tiny', ...body })
    const long = '"é😀\u2028 word\n'.repeat(150_000)
    upstream.on('tiny', unary(long))
    const response = await gateway.call(path, { model: 'tiny', ...body })
    const text = await response.text()
    const reply: unknown = JSON.parse(text)
    expect(text === JSON.stringify(reply)).toBe(true)
    expect(Object.keys(Object(reply))).toEqual(Object.keys(Object(await short.json())))
    expect(text.includes(JSON.stringify(long))).toBe(true)
  })
}
