import { beforeEach, describe, expect, test } from 'bun:test'
import { isObject } from '../../../src/core/json.ts'
import { gatewayOfFile } from '../../file-setup.ts'
import { startUpstream, unary } from '../../upstream.ts'
import { CALLERS } from '../callers.ts'

const upstream = startUpstream()

/** USD per million tokens, and scores; the fifth has none. */
const MODELS = [
  { id: 'nano', usd: 0.1, benchmarks: { intelligence_index: 10, coding_index: 10 } },
  { id: 'small', usd: 1, benchmarks: { intelligence_index: 40, coding_index: 20 } },
  { id: 'wasteful', usd: 3, benchmarks: { intelligence_index: 30, coding_index: 15 } },
  { id: 'coder', usd: 4, benchmarks: { intelligence_index: 42, coding_index: 68 } },
  { id: 'unknown', usd: 5 },
  { id: 'large', usd: 20, benchmarks: { intelligence_index: 100, coding_index: 100 } },
]

const gateway = await gatewayOfFile(
  {
    providers: [
      {
        slug: 'lab',
        dialect: 'chat',
        base_url: upstream.baseUrl,
        models: MODELS.map(({ id, usd }) => ({
          id,
          pricing: { prompt: (usd / 1e6).toFixed(9), completion: (usd / 1e6).toFixed(9) },
        })),
      },
    ],
    models: MODELS.flatMap(({ id, benchmarks }) => (benchmarks ? [{ id, benchmarks }] : [])),
  },
  upstream,
)

beforeEach(() => {
  upstream.seen.length = 0
  for (const { id } of MODELS) upstream.on(id, unary('fine'))
})

const EASY = 'Hi! What is the capital of France?'
const HARD =
  'Design a distributed consensus algorithm; analyze its complexity, prove that no deadlock occurs, and compare the tradeoffs.'

async function ask(content: string, more: Record<string, unknown> = {}, model = 'sluice/auto') {
  const response = await gateway.call(
    '/chat/completions',
    { model, messages: [{ role: 'user', content }], ...more },
    { 'x-openrouter-metadata': 'enabled' },
  )
  const json: unknown = await response.json()
  const read = isObject(json) ? json : {}
  const metadata = isObject(read['openrouter_metadata']) ? read['openrouter_metadata'] : {}
  return { status: response.status, model: read['model'], metadata, json: read }
}
const auto = (options: Record<string, unknown>) => ({ plugins: [{ id: 'auto-router', ...options }] })

describe('auto-router', () => {
  test('a hard prompt gets a better model than an easy one, and the metadata says why', async () => {
    const easy = await ask(EASY)
    const hard = await ask(HARD)
    expect(easy.model).toBe('nano')
    expect(hard.model).toBe('large')
    expect(hard.metadata).toMatchObject({
      strategy: 'auto',
      pipeline: [{ name: 'auto-router', data: { task: 'code', classified_by: 'words' } }],
    })
  })

  test('pure quality and pure price', async () => {
    expect((await ask(EASY, auto({ cost_quality_tradeoff: 0 }))).model).toBe('large')
    expect((await ask(HARD, auto({ cost_quality_tradeoff: 10 }))).model).toBe('nano')
  })

  test('a tier of cost is a share of the models by price', async () => {
    expect((await ask(EASY, auto({ cost_tier: 'low' }))).model).toBe('nano')
    expect((await ask(EASY, auto({ cost_tier: 'xhigh' }))).model).toBe('coder')
    expect((await ask(EASY, auto({ cost_tier: 'max' }))).model).toBe('large')
  })

  test('only the allowed models, by patterns, and none of the excluded ones', async () => {
    expect((await ask(EASY, auto({ allowed_models: ['co*', 'lar*'] }))).model).toBe('coder')
    expect(
      (await ask(EASY, auto({ allowed_models: ['*'], excluded_models: ['small', 'n*o', 'w*e*l'] }))).model,
    ).toBe('coder')
    const none = await ask(EASY, auto({ allowed_models: ['nothing/*'] }))
    expect(none.status).toBe(400)
    expect(JSON.stringify(none.json)).toContain('plugins.auto-router: no configured model')
  })

  test('a conversation keeps its model: its first turn decides', async () => {
    const messages = [
      { role: 'user', content: EASY },
      { role: 'assistant', content: 'Paris.' },
      { role: 'user', content: HARD },
    ]
    expect((await ask('', { messages })).model).toBe('nano')
  })

  test('a model that the options name judges the prompt, as a step of its own', async () => {
    upstream.on('nano', unary('{"task": "code", "difficulty": 1}'))
    const { model, metadata } = await ask(EASY, auto({ classifier_model: 'nano' }))
    expect(model).toBe('large')
    expect(metadata).toMatchObject({ pipeline: [{ data: { difficulty: 1, classified_by: 'nano' } }] })
    expect(upstream.seen).toHaveLength(2)
    upstream.on('nano', unary('no idea'))
    expect((await ask(EASY, auto({ classifier_model: 'nano' }))).metadata).toMatchObject({
      pipeline: [{ data: { task: 'chat', classified_by: 'words' } }],
    })
  })

  test('a request that names another model is not routed', async () => {
    expect((await ask(HARD, auto({}), 'nano')).model).toBe('nano')
  })

  test('enabled: false leaves the usual order', async () => {
    expect((await ask(EASY, auto({ enabled: false }))).model).toBe('large')
  })

  test.each(CALLERS)('$dialect', async ({ ask: asked }) => {
    const { path, body } = asked('sluice/auto', EASY, false)
    const { status } = await gateway.call(path, body)
    expect(status).toBe(200)
    expect(upstream.seen.map(({ body: sent }) => (isObject(sent) ? sent['model'] : null))).toEqual(['nano'])
  })
})

describe('pareto-router', () => {
  const pareto = (options: Record<string, unknown>) =>
    ask(EASY, { plugins: [{ id: 'pareto-router', ...options }] }, 'sluice/pareto')

  test('the cheapest of the frontier with a high score', async () => {
    const { model, metadata } = await pareto({})
    expect(model).toBe('coder')
    expect(metadata).toMatchObject({ strategy: 'pareto' })
    expect(JSON.stringify(metadata['pipeline'])).not.toContain('wasteful')
  })

  test('the least score', async () => {
    expect((await pareto({ min_coding_score: 0 })).model).toBe('nano')
    expect((await pareto({ min_coding_score: 0.2 })).model).toBe('small')
    expect((await pareto({ min_coding_score: 1 })).model).toBe('large')
  })

  test('a maximal price asks for the best below it', async () => {
    expect((await pareto({ max_price: 4 })).model).toBe('coder')
    const { status, json } = await pareto({ max_price: 0.01 })
    expect(status).toBe(404)
    expect(JSON.stringify(json)).toContain('the cheapest, nano, costs 0.1')
  })

  test('the name of the model is enough', async () => {
    expect((await ask(EASY, {}, 'openrouter/pareto-code')).model).toBe('coder')
  })
})
