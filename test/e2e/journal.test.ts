import { expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { startUpstream, unary } from '../upstream.ts'

/** What a crash would be charged for: the journal, while the request runs. */

const upstream = startUpstream()
const entry = (slug: string, upstreamId: string, prompt: string) => ({
  slug,
  base_url: upstream.baseUrl,
  models: [{ id: 'tiny', upstream_id: upstreamId, pricing: { prompt, completion: prompt } }],
})
const gateway = await gatewayOfFile(
  {
    providers: [entry('free', 'first', '0'), entry('dear', 'second', '0.001')],
  },
  upstream,
)

const journal = () =>
  gateway.database.file
    .query<{ provider_slug: string; prompt_cost_nano_usd: number }, []>('SELECT * FROM journal')
    .all()

test('a request that fails over is journaled for the provider that has it now, at its price', async () => {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  upstream.on('first', () => new Response('broken', { status: 500 }))
  upstream.on('second', async (...seen) => {
    asked.resolve()
    await answer.promise
    return unary('at last')(...seen)
  })
  const calling = gateway.call('/chat/completions', {
    model: 'tiny',
    messages: [{ role: 'user', content: 'Hello' }],
    provider: { order: ['free', 'dear'] },
  })
  await asked.promise
  // On a slow machine the first provider's row may be committed before the second's.
  while (journal()[0]?.provider_slug !== 'dear') await new Promise(setImmediate)
  const rows = journal()
  answer.resolve()
  await (await calling).text()

  expect(rows).toMatchObject([{ provider_slug: 'dear' }])
  expect(rows[0]?.prompt_cost_nano_usd).toBeGreaterThan(0)
  // Its row goes with the fold of the generation into the sums.
  gateway.deps.ledger.fold()
  expect(journal()).toEqual([])
  expect(gateway.generations()).toMatchObject([{ provider_slug: 'dear', finish_reason: 'stop' }])
})
