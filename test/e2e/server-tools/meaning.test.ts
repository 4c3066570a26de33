/** The server tool file_search with an embedding model: what it finds by meaning, what it pays, and what happens if it fails. */
import { beforeAll, beforeEach, expect, test } from 'bun:test'
import { isString, textsIn } from '../../../src/core/json.ts'
import { gatewayOfFile } from '../../file-setup.ts'
import { API_KEY } from '../../gateway.ts'
import { startUpstream } from '../../upstream.ts'
import { ask, calls, says, uploadTo } from './setup.ts'

const upstream = startUpstream()
const log: string[] = []
const PRICING = { prompt: '0.000001', completion: '0.000002', request: '0' }
const gateway = await gatewayOfFile(
  {
    listens: true,
    log: (line) => log.push(line),
    environment: { SLUICE_EMBEDDING_MODEL: 'vec' },
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        dialect: 'chat',
        base_url: upstream.baseUrl,
        models: [
          { id: 'tiny', pricing: PRICING },
          { id: 'vec', architecture: { output_modalities: ['embeddings'] }, pricing: PRICING },
        ],
      },
    ],
  },
  upstream,
)

/** Of fish, of bread, of nothing known. */
const meaning = (text: string) => [
  /fish|aquarium|swim/i.test(text) ? 2 : 0,
  /bread|bake/i.test(text) ? 3 : 0,
  0.1,
]
const inputsOf = (input: unknown): string[] => (isString(input) ? [input] : textsIn(input))

const upload = (name: string, content: string) => uploadTo(gateway, name, content)

beforeAll(async () => {
  await upload('tank.txt', 'The aquarium stands in the hall.')
  await upload('oven.txt', 'Bread comes from the oven at six.')
})
beforeEach(() => {
  upstream.seen.length = 0
  log.length = 0
  upstream.on('vec', ({ body }) =>
    Response.json({
      data: inputsOf(body['input']).map((text, index) => ({ index, embedding: meaning(text) })),
      usage: { prompt_tokens: 10, total_tokens: 10 },
    }),
  )
})

async function search(query: string, key = API_KEY) {
  upstream.seen.length = 0
  upstream.inTurn('tiny', [calls([{ name: 'file_search', args: { query } }]), says('Well.')])
  const before = gateway.generations().length
  const tools = [{ type: 'openrouter:file_search' }]
  const headers = { authorization: `Bearer ${key}` }
  const response = await gateway.call('/chat/completions', ask({ tools }), headers)
  const sent = JSON.stringify(upstream.seen.at(-1)?.body['messages'])
  const texts = upstream.seen.filter(({ path }) => path === '/v1/embeddings')
  return {
    status: response.status,
    body: await response.json(),
    found: sent.match(/The aquarium|Bread comes/g) ?? [],
    embedded: texts.map(({ body }) => inputsOf(body['input'])),
    bodies: texts.map(({ body }) => Object.keys(body).sort()),
    rows: gateway.generations().slice(before),
  }
}

test('a passage is found by its meaning, and embedded once, by steps of the request that searches', async () => {
  const first = await search('Where does something swim?')
  expect(first.status, JSON.stringify(first.body)).toBe(200)
  expect(first.found[0]).toBe('The aquarium')
  expect(first.embedded.map((texts) => texts.length)).toEqual([2, 1])
  // This provider is not known to have a word for their use.
  expect(first.bodies.flat()).not.toContain('input_type')
  const steps = first.rows.filter(({ api_type }) => api_type === 'embeddings')
  expect(steps.map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([10_000, 10_000])
  expect(new Set(steps.map(({ parent_id }) => parent_id))).toEqual(new Set([first.body.id]))
  expect(first.body.usage.cost_details.server_tool_cost).toBeCloseTo(0.00002, 9)
  const second = await search('Who will bake?')
  expect(second.found[0]).toBe('Bread comes')
  expect(second.embedded).toEqual([['Who will bake?']])
})

test('words and meaning count together', async () => {
  const { found } = await search('oven')
  expect(found[0]).toBe('Bread comes')
  expect((await search('fish in the oven or the hall, aquarium')).found[0]).toBe('The aquarium')
})

test.each([
  () => Response.json({ error: { message: 'down' } }, { status: 500 }),
  () => Response.json({ data: [{ index: 0, embedding: [0, 0] }], usage: null }),
  () => Response.json({ data: [] }),
])('a model that fails leaves the words, and the log says so: %#', async (answer) => {
  upstream.on('vec', answer)
  const { status, found } = await search('aquarium')
  expect(status).toBe(200)
  expect(found).toEqual(['The aquarium'])
  expect(log.filter((line) => line.includes('the embedding model failed'))).toHaveLength(1)
})

test('a limit of the caller that refuses the step ends the request', async () => {
  await upload('long.txt', 'Flour and water. '.repeat(20_000))
  const { key } = await gateway.makeKey({ limit: 0.01 })
  const { status, found } = await search('flour', key)
  expect({ status, found }).toEqual({ status: 402, found: [] })
})
