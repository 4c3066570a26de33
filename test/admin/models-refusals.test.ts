import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCatalogStore } from '../../src/catalog/store.ts'
import { objectOf } from '../../src/http/json.ts'
import { before, document, factModel } from '../catalog/facts-fixture.ts'
import { type Gateway, startGateway } from '../gateway.ts'

/** Facts that are not whole: the catalogue that was refreshed before stays, in use and in the data folder. */

let gateway: Gateway
let facts: Bun.Server<undefined>
let served: () => Response
let kept: Buffer

const text = JSON.stringify(before)
const FILE = 'catalog.json.gz'

beforeAll(async () => {
  facts = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => served() })
  gateway = await startGateway({
    environment: { OPENAI_API_KEY: 'k', SLUICE_MODELS_URL: `http://127.0.0.1:${facts.port}/api.json` },
  })
  const ours = document({ openai: [factModel('gpt-4o', { cost: { input: 7, output: 8 } })] })
  expect((await gateway.manage('POST', '/models/refresh', { document: ours })).status).toBe(200)
  kept = readFileSync(join(gateway.folder, FILE))
})
afterAll(async () => {
  await gateway.stop()
  await facts.stop(true)
})

async function expectRefused(response: Response, status: number, says: RegExp): Promise<void> {
  const { error } = objectOf(await response.json())
  expect(error).toMatchObject({ code: status, message: expect.stringMatching(says) })
  const model = objectOf(objectOf(await (await gateway.call('/model/openai/gpt-4o')).json())['data'])
  expect(model['pricing']).toMatchObject({ prompt: '0.000007' })
  expect(readFileSync(join(gateway.folder, FILE)).equals(kept)).toBe(true)
  const next = openCatalogStore(gateway.folder, (why) => expect(why).toBe('')).current()
  expect(next.catalog.named('openai/gpt-4o')).toBeDefined()
  expect(next.refreshed?.source).toBe('a document')
}

const cuts = Array.from({ length: 12 }, (_, index) => Math.floor((index * text.length) / 12))
test.each([...cuts, text.length - 1])('a document that ends after %d characters', async (length) => {
  served = () => new Response(text.slice(0, length))
  const response = await gateway.manage('POST', '/models/refresh', {})
  await expectRefused(response, 502, /^No facts came from http.*The catalogue stays as it is/)
})

test('one that is not UTF-8', async () => {
  served = () => new Response(new Uint8Array([123, 34, 255, 34, 58, 49, 125]))
  await expectRefused(await gateway.manage('POST', '/models/refresh', {}), 502, /does not answer with JSON/)
})

test('one that is larger than any catalogue', async () => {
  const part = new Uint8Array(1_000_000).fill(32)
  let sent = 0
  served = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent += 1
          if (sent > 100) controller.close()
          else controller.enqueue(part)
        },
      }),
    )
  await expectRefused(await gateway.manage('POST', '/models/refresh', {}), 502, /^No facts came from/)
  // It is not read to its end.
  expect(sent).toBeLessThan(90)
})

const broken: [what: string, model: Record<string, unknown>, place: string][] = [
  ['a price below nothing', { cost: { input: -0.01, output: 1 } }, 'cost.input'],
  ['an absurd price', { cost: { input: 1e300, output: 1 } }, 'cost.input'],
  ['a price that rounds to 0', { cost: { input: 1e-30, output: 1 } }, 'cost.input'],
  [
    'a price of reads below nothing',
    { cost: { input: 1, output: 1, cached_input: -1 } },
    'cost.cached_input',
  ],
  ['a tier of no size', { cost: { input: 1, output: 1, tiers: [{ input: 9 }] } }, 'cost.tiers[0].tier.size'],
  ['tiers as text', { cost: { input: 1, output: 1, tiers: 'x' } }, 'cost.tiers'],
  ['a release that is not a date', { release_date: 'soon' }, 'release_date'],
  ['a look that is not a date', { last_updated: '9999' + '9' }, 'last_updated'],
  ['tools as text', { tool_call: 'yes' }, 'tool_call'],
  ['a limit without end', { limit: { context: 1e30 } }, 'limit.context'],
  ['modalities of another form', { modalities: { input: ['text'], output: ['<b>'] } }, 'modalities.output'],
]
test.each(broken)('%s, below a thousand models that are right', async (_, more, place) => {
  const many = Array.from({ length: 1_000 }, (_, index) => factModel(`m-${index}`))
  const response = await gateway.manage('POST', '/models/refresh', {
    document: document({ openai: [...many, factModel('wrong', more)] }),
  })
  const escaped = place.replace(/[[\].]/g, '\\$&')
  await expectRefused(
    response,
    400,
    new RegExp(
      `rejected and the catalogue does not change: openai\\.models\\["wrong"\\]\\.${escaped} must be`,
    ),
  )
})

test('a body above the limit, and one that is nested too deep', async () => {
  const large = await gateway.manage('POST', '/models/refresh', { document: { pad: 'x'.repeat(32_000_001) } })
  await expectRefused(large, 413, /larger than 32 MB/)
  const deep = JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`)
  const nested = await gateway.manage('POST', '/models/refresh', { document: deep })
  await expectRefused(nested, 400, /nested deeper than 64/)
})
