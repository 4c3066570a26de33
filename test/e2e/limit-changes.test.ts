import { expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { startUpstream, unary } from '../upstream.ts'

/** Limits that change their interval while requests run: those requests count against the new limit too. */

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    environment: { SLUICE_ROOM_WAIT_MS: '0' },
    providers: [
      {
        slug: 'lab',
        dialect: 'chat',
        base_url: upstream.baseUrl,
        models: [{ id: 'cent', pricing: { prompt: '0', completion: '0', request: '0.01' } }],
      },
    ],
  },
  upstream,
)

const ask = (key: string): Promise<Response> =>
  gateway.call(
    '/chat/completions',
    { model: 'cent', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] },
    { authorization: `Bearer ${key}` },
  )

test.each(['weekly', 'monthly', null])('from daily to %p', async (reset) => {
  const released = Promise.withResolvers<void>()
  const begun = upstream.seen.length
  upstream.on('cent', async (seen, request) => {
    await released.promise
    return unary('x')(seen, request)
  })
  const { key, hash } = await gateway.makeKey({ limit: 0.05, limit_reset: 'daily' })
  const running = Array.from({ length: 4 }, () => ask(key))
  while (upstream.seen.length < begun + 4) await Bun.sleep(1)
  expect((await gateway.manage('PATCH', `/keys/${hash}`, { limit_reset: reset })).status).toBe(200)
  const last = ask(key)
  while (upstream.seen.length < begun + 5) await Bun.sleep(1)
  expect((await ask(key)).status).toBe(402)
  released.resolve()
  for (const reply of await Promise.all([...running, last])) expect(reply.status).toBe(200)
  const { data } = await (await gateway.manage('GET', `/keys/${hash}`)).json()
  expect(data).toMatchObject({ usage: 0.05, limit_remaining: 0 })
  expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
})
