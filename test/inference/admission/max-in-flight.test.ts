import { expect, test } from 'bun:test'
import { startGateway } from '../../gateway.ts'
import { startUpstream, unary } from '../../upstream.ts'

test('SLUICE_MAX_IN_FLIGHT bounds the calls to all providers together', async () => {
  const upstream = startUpstream()
  const held = Promise.withResolvers<void>()
  const both = Promise.withResolvers<void>()
  const answer = unary('Hello')
  let open = 0
  const entry = (slug: string) => {
    upstream.on(slug, async (seen, request) => {
      if (++open === 2) both.resolve()
      await held.promise
      return answer(seen, request)
    })
    const pricing = { prompt: '0.000001', completion: '0.000001' }
    return { slug, name: slug, dialect: 'chat', base_url: upstream.baseUrl, models: [{ id: slug, pricing }] }
  }
  const gateway = await startGateway({
    providers: ['one', 'two', 'three'].map(entry),
    environment: { SLUICE_MAX_IN_FLIGHT: '2' },
  })
  const ask = (model: string) =>
    gateway.call('/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] })
  try {
    const running = [ask('one'), ask('two')]
    await both.promise
    const refused = await ask('three')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    held.resolve()
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200])
    expect((await ask('three')).status).toBe(200)
  } finally {
    held.resolve()
    await gateway.stop()
    await upstream.stop()
  }
})
