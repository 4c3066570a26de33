import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { type Gateway, startGateway } from '../gateway.ts'
import { chunk, DONE, dataLines, USAGE, usageChunk } from '../upstream.ts'

let gateway: Gateway
/** A minute between two requests, so that no breaker opens over hundreds of failures. */
let now = Date.UTC(2026, 0, 1)

beforeAll(async () => {
  await new Promise<void>((resolve) => cutting.listen(0, '127.0.0.1', resolve))
  const address = cutting.address()
  const port = typeof address === 'object' ? address?.port : 0
  gateway = await startGateway({
    now: () => now,
    providers: [
      {
        slug: 'lab',
        dialect: 'chat',
        base_url: `http://127.0.0.1:${port}/v1`,
        models: [{ id: 'cut', pricing: { prompt: '0.000001', completion: '0.000002' } }],
      },
    ],
  })
  gateway.deps.run.wait = async () => undefined
})
afterAll(async () => {
  await gateway.stop()
  cutting.close()
})

const call = (fields: Record<string, unknown>) => ({ tool_calls: [{ index: 0, ...fields }] })
const EVENTS = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning: 'Let me sée. ' }),
  chunk({ reasoning: 'Yes.' }),
  chunk({ content: 'The answer ' }),
  ': a comment\n\n',
  chunk({ content: 'is 四十二 🎉 "quoted"' }),
  chunk(call({ id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } })),
  chunk(call({ function: { arguments: '{"q":' } })),
  chunk(call({ function: { arguments: '"x"}' } })),
  chunk({}, 'tool_calls'),
  usageChunk(USAGE),
  DONE,
]
const BYTES = new TextEncoder().encode(EVENTS.join(''))
const lengthOf = (events: readonly string[]) => new TextEncoder().encode(events.join('')).length
/** Before this byte no finish reason can have been read. */
const FINISHED_AT = lengthOf(EVENTS.slice(0, 10)) - 2

const seeded = (seed: number) => () => {
  seed = (seed * 48_271) % 2_147_483_647
  return seed / 2_147_483_647
}
const random = seeded(7)
const offsets = [
  ...EVENTS.map((_, index) => lengthOf(EVENTS.slice(0, index + 1))),
  ...Array.from({ length: 200 }, () => Math.floor(random() * BYTES.length)),
]

/** Answers every request with the first `length` bytes, and then ends cleanly or resets the connection. */
let answer = { length: 0, isReset: false }
const cutting = createServer((socket) => {
  socket.on('error', () => undefined)
  socket.on('data', () => {
    const { length, isReset } = answer
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
    if (length > 0) socket.write(`${length.toString(16)}\r\n`)
    socket.write(BYTES.subarray(0, length))
    if (!isReset) socket.end(`${length > 0 ? '\r\n' : ''}0\r\n\r\n`)
    // Bytes that arrive in the very instant of a reset are lost to any reader.
    else setTimeout(() => socket.resetAndDestroy(), 1)
  })
})

for (const isReset of [false, true]) {
  test(`a stream that ${isReset ? 'breaks' : 'ends'} after any event or at any of 200 offsets never looks finished`, async () => {
    for (const length of offsets) {
      now += 60_000
      answer = { length, isReset }
      const before = gateway.generations().length
      const response = await gateway.call('/chat/completions', {
        model: 'cut',
        stream: true,
        messages: [{ role: 'user', content: 'Hello' }],
      })
      const where = `offset ${length} of ${BYTES.length}`
      const rows = gateway.generations()
      if (response.status !== 200) {
        // Nothing had come yet: an honest failure with a status of its own.
        expect(response.status, where).toBe(502)
        await response.text()
        expect(gateway.generations().length, where).toBe(before + 1)
        expect(gateway.generations().at(-1), where).toMatchObject({
          cost_nano_usd: 0,
          finish_reason: 'error',
        })
        continue
      }
      const lines = await dataLines(response)
      const after = gateway.generations()
      expect(after.length, where).toBe(before + 1)
      const row = after.at(-1) ?? {}
      const isWhole = lines.at(-1) === '[DONE]'
      if (length < FINISHED_AT) expect(isWhole, where).toBe(false)
      if (length === BYTES.length) expect(isWhole, where).toBe(true)
      const last = JSON.parse(lines.at(isWhole ? -2 : -1) ?? '{}')
      if (isWhole) {
        expect(row, where).toMatchObject({ finish_reason: 'tool_calls', cancelled: 0 })
        expect(last.usage.completion_tokens, where).toBeGreaterThan(0)
      } else {
        expect(lines, where).not.toContain('[DONE]')
        expect(last.error.code, where).toBe(502)
        expect(last.choices[0].finish_reason, where).toBe('error')
        expect(row, where).toMatchObject({ finish_reason: 'error', cancelled: 0 })
      }
      expect(Number(row['cost_nano_usd']), where).toBeGreaterThan(0)
      expect(rows.length, where).toBeGreaterThanOrEqual(before)
    }
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  }, 60_000)
}
