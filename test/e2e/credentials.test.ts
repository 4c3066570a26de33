import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../gateway.ts'
import { dataLines, type FakeUpstream, startUpstream, streamed, unary } from '../upstream.ts'

const FIRST = 'sk-stored-first-0123456789'
const SECOND = 'sk-stored-second-0123456789'

let upstream: FakeUpstream
let gateway: Gateway
beforeEach(async () => {
  upstream = startUpstream()
  const fields = { provider: 'openai', baseUrl: upstream.baseUrl }
  gateway = await startGateway({
    credentials: [
      { ...fields, secret: FIRST },
      { ...fields, secret: SECOND },
    ],
  })
})
afterEach(async () => {
  await gateway.stop()
  await upstream.stop()
})

const body = (stream: boolean) => ({
  model: 'openai/gpt-4o-mini',
  stream,
  messages: [{ role: 'user', content: 'Hello' }],
})
const shown = (): (string | null)[] => upstream.seen.map(({ headers }) => headers.get('authorization'))

test('the first of the stored credentials is shown, each time, to the address that is stored with it', async () => {
  upstream.on('gpt-4o-mini', unary('It is here'))
  for (let turn = 0; turn < 8; turn++) {
    const reply = await gateway.call('/chat/completions', body(false))
    expect(await reply.json()).toMatchObject({ choices: [{ message: { content: 'It is here' } }] })
  }
  expect(shown()).toEqual(Array(8).fill(`Bearer ${FIRST}`))
})

test.each([false, true])(
  'when one is refused the next one of the vendor answers (streamed: %p)',
  async (stream) => {
    upstream.on('gpt-4o-mini', (seen, request) =>
      seen.headers.get('authorization') === `Bearer ${SECOND}`
        ? (stream ? streamed(['It is', ' here']) : unary('It is here'))(seen, request)
        : Response.json({ error: { message: `Incorrect API key provided: ${FIRST}` } }, { status: 401 }),
    )
    const reply = await gateway.call('/chat/completions', body(stream))
    expect(reply.status).toBe(200)
    const text = stream ? (await dataLines(reply)).join('\n') : await reply.text()
    expect(text).toContain(stream ? ' here' : 'It is here')
    expect(text).not.toContain('sk-stored')
    expect(shown()).toEqual([`Bearer ${FIRST}`, `Bearer ${SECOND}`])
    expect(gateway.generations()).toMatchObject([{ provider_name: 'OpenAI' }])
  },
)

test('when all are refused the caller hears of the provider, and of no credential', async () => {
  upstream.on('gpt-4o-mini', ({ headers }) =>
    Response.json({ error: { message: `Incorrect: ${headers.get('authorization')}` } }, { status: 401 }),
  )
  const reply = await gateway.call('/chat/completions', body(false))
  const text = await reply.text()
  expect([reply.status, text.includes("OpenAI rejected this gateway's credential")]).toEqual([502, true])
  expect(text).not.toMatch(/sk-stored|Incorrect/)
})
