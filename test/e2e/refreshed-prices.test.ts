import { expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { document, factModel } from '../catalog/facts-fixture.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { chunk, DONE, paced, startUpstream, unary, usageChunk } from '../upstream.ts'

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    environment: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: upstream.baseUrl },
  },
  upstream,
)

const ask = (more: Record<string, unknown> = {}): Promise<Response> =>
  gateway.call('/chat/completions', {
    model: 'openai/gpt-4o',
    messages: [{ role: 'user', content: 'Hello' }],
    ...more,
  })
const costOf = async (response: Response): Promise<unknown> =>
  objectOf(objectOf(await response.json())['usage'])['cost']
const price = (input: number, output: number): Promise<Response> =>
  gateway.manage('POST', '/models/refresh', {
    document: document({ openai: [factModel('gpt-4o', { cost: { input, output } })] }),
  })

// Ten tokens in, five out.
test('the next request is billed by the new price, one that runs by the price that it began with', async () => {
  upstream.on('gpt-4o', unary('It is here'))
  expect(await costOf(await ask())).toBe(0.000075)

  const gate = Promise.withResolvers<void>()
  let sent = 0
  upstream.on('gpt-4o', () =>
    paced([chunk({ content: 'It' }), chunk({}, 'stop'), usageChunk(), DONE], 'close', async () => {
      if (sent++ > 0) await gate.promise
    }),
  )
  const running = await ask({ stream: true })
  expect((await price(100, 200)).status).toBe(200)
  gate.resolve()
  expect(await running.text()).toContain('"cost":0.000075')

  upstream.on('gpt-4o', unary('It is here'))
  expect(await costOf(await ask())).toBe(0.002)
  expect(gateway.generations().map((row) => row['cost_nano_usd'])).toEqual([75_000, 75_000, 2_000_000])
})

test('a model that is gone cannot be called, and comes back with the facts that have it', async () => {
  const other = document({ openai: [factModel('gpt-4o-mini')] })
  await gateway.manage('POST', '/models/refresh', { document: other })
  expect((await ask()).status).toBe(404)
  await gateway.manage('POST', '/models/refresh', { from: 'built-in' })
  upstream.on('gpt-4o', unary('It is here'))
  expect(await costOf(await ask())).toBe(0.000075)
})
