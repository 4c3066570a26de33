import { afterAll, describe, expect, test } from 'bun:test'
import { CHUNKS, MODELS, requestBody, textOf, USAGE } from '../../bench/answers.ts'
import { openConnection } from '../../bench/connection.ts'
import { startMockUpstream } from '../../bench/mock-upstream.ts'

const mock = startMockUpstream()
afterAll(() => mock.stop(true))

const post = (body: string) =>
  fetch(`http://127.0.0.1:${mock.port}/v1/chat/completions`, { method: 'POST', body })

test('a unary answer is about 1 kB of JSON with usage', async () => {
  const reply = await post(requestBody(MODELS.burst, 'unary'))
  const text = await reply.text()
  expect(text.length).toBeGreaterThan(900)
  expect(text.length).toBeLessThan(1400)
  const { choices, usage } = JSON.parse(text)
  expect(choices[0].message.content).toBe(textOf(MODELS.burst))
  expect(usage).toMatchObject(USAGE)
})

describe('a stream has a role, 50 pieces of text, a finish, usage and a terminal marker', () => {
  for (const model of [MODELS.burst, MODELS.steps, 'bench-trickle-1']) {
    test(model, async () => {
      const reply = await post(requestBody(model, 'stream'))
      expect(reply.headers.get('content-type')).toBe('text/event-stream')
      const events = (await reply.text()).trimEnd().split('\n\n')
      expect(events).toHaveLength(CHUNKS + 4)
      expect(events.at(-1)).toBe('data: [DONE]')
      const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice('data: '.length)))
      expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(textOf(MODELS.burst))
      expect(chunks.at(-2).choices[0].finish_reason).toBe('stop')
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: USAGE })
    })
  }
})

test('a request is read however it is cut, and the connection serves the next one', async () => {
  const body = requestBody(MODELS.burst, 'unary')
  const request = Buffer.from(`POST / HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  const connection = await openConnection(mock.port)
  for (const cut of [1, 16, 30, 45, 60, request.length - 1]) {
    const reply = connection.ask(request.subarray(0, cut), 5000, () => {})
    connection.send(request.subarray(cut))
    expect((await reply).status).toBe(200)
  }
  connection.close()
})

test('a body without a model is refused', async () => {
  expect((await post('{}')).status).toBe(400)
})
