import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { createApp } from '../../src/app.ts'
import { modelList } from '../../src/catalog/schema.ts'
import { isJsonObject, objectOf } from '../../src/http/json.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { providers } from './fixture.ts'
import { childrenOf, parseXml, textOf } from './xml.ts'

let gateway: Gateway
const now = Date.parse('2026-01-11T00:00:00Z')

beforeAll(async () => {
  gateway = await startGateway({ providers, now: () => now })
})
afterAll(() => gateway.stop())

const json = async (path: string): Promise<Record<string, unknown>> => {
  const response = await gateway.call(path)
  expect({ path, status: response.status }).toEqual({ path, status: 200 })
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  return objectOf(await response.json())
}
const dataOf = (body: Record<string, unknown>): Record<string, unknown>[] =>
  Array.isArray(body['data']) ? body['data'].filter(isJsonObject) : []
const ids = async (path: string): Promise<string> =>
  dataOf(await json(path))
    .map(({ id }) => id)
    .join(' ')

describe('GET /models', () => {
  const all = 'bare maker/embedder maker/small painter/brush-2 shared/large sluice/demo speaker/llama-9-voice'
  const text = 'bare maker/small shared/large sluice/demo speaker/llama-9-voice'
  const rows: [query: string, ids: string][] = [
    ['', text],
    ['output_modalities=text', text],
    ['output_modalities=all', all],
    ['output_modalities=embeddings', 'maker/embedder'],
    ['output_modalities=image', 'painter/brush-2'],
    ['output_modalities=image,audio', 'painter/brush-2 speaker/llama-9-voice'],
    ['output_modalities=image, embeddings', 'maker/embedder painter/brush-2'],
    ['input_modalities=image', 'shared/large sluice/demo'],
    ['input_modalities=image,audio', 'shared/large sluice/demo speaker/llama-9-voice'],
    ['input_modalities=file', 'sluice/demo'],
    ['input_modalities=image&output_modalities=all', 'painter/brush-2 shared/large sluice/demo'],
    ['supported_parameters=tools', 'maker/small shared/large'],
    ['supported_parameters=tools,temperature', 'maker/small'],
    // Each is supported somewhere, both nowhere.
    ['supported_parameters=response_format,tool_choice', ''],
    ['supported_parameters=nothing_known', ''],
    ['supported_parameters=', text],
    ['q=LARGE', 'shared/large'],
    ['q=small one', 'maker/small'],
    ['q=one small', 'maker/small'],
    ['q=small large', ''],
    ['q=sluice/', 'sluice/demo'],
    ['context=8000', 'maker/small shared/large sluice/demo speaker/llama-9-voice'],
    ['context=8001', 'shared/large sluice/demo speaker/llama-9-voice'],
    ['context=99999999999', ''],
    ['min_price=1', 'maker/small shared/large speaker/llama-9-voice'],
    ['min_price=1.0000001', 'shared/large speaker/llama-9-voice'],
    ['max_price=2', 'maker/small shared/large sluice/demo'],
    ['max_price=0', 'sluice/demo'],
    ['min_price=1&max_price=1', 'maker/small'],
    ['min_price=null&max_price=1e0', 'maker/small sluice/demo'],
    ['min_output_price=4&max_output_price=4', 'shared/large'],
    ['arch=llama', 'speaker/llama-9-voice'],
    ['arch=LLAMA-9', 'speaker/llama-9-voice'],
    ['arch=lla', ''],
    ['arch=smallest', ''],
    ['model_authors=maker', 'maker/small'],
    ['model_authors=Maker, shared', 'maker/small shared/large'],
    ['model_authors=lab', 'bare'],
    ['model_authors=mak', ''],
    ['providers=cloud', 'shared/large speaker/llama-9-voice'],
    ['providers=Cloud Nine', 'shared/large speaker/llama-9-voice'],
    ['providers=the lab,sluice', 'bare maker/small shared/large sluice/demo'],
    ['providers=nobody', ''],
    ['distillable=true', 'sluice/demo'],
    ['distillable=false', ''],
    ['zdr=true', 'bare maker/small shared/large sluice/demo'],
    ['region=eu', ''],
    ['region=us', ''],
    ['category=programming', ''],
    ['category=marketing/seo', ''],
    ['min_age_days=10', 'sluice/demo'],
    ['min_age_days=11', ''],
    ['max_age_days=10', 'sluice/demo'],
    ['min_intelligence_index=0', ''],
    ['max_tool_success_rate=1', ''],
    ['min_age_days=null&max_age_days=null&offset=null', text],
    ['not_a_parameter=1', text],
    // In pairs: what is asked of an endpoint must hold for one and the same.
    ['providers=cloud&supported_parameters=response_format', ''],
    ['providers=lab&supported_parameters=response_format', 'shared/large'],
    ['providers=cloud&zdr=true', ''],
    ['providers=cloud&context=100001', ''],
    ['zdr=true&context=100001', 'shared/large sluice/demo'],
    ['zdr=true&supported_parameters=seed', ''],
    ['providers=lab&max_price=2', 'maker/small'],
    ['providers=cloud&max_price=2', 'shared/large'],
    ['providers=cloud&input_modalities=image', ''],
    ['providers=cloud&output_modalities=all&min_price=5', 'painter/brush-2 speaker/llama-9-voice'],
    ['model_authors=maker&output_modalities=all', 'maker/embedder maker/small'],
    ['model_authors=maker,shared&q=e', 'maker/small shared/large'],
    ['q=llama&max_price=5', ''],
    ['arch=llama&input_modalities=audio', 'speaker/llama-9-voice'],
    ['category=legal&zdr=true', ''],
  ]
  for (const [query, expected] of rows) {
    test(`?${query}`, async () => expect(await ids(`/models?${query}`)).toBe(expected))
  }

  const sorts: [query: string, ids: string][] = [
    ['pricing-low-to-high', 'sluice/demo maker/small shared/large speaker/llama-9-voice bare'],
    ['pricing-high-to-low', 'speaker/llama-9-voice shared/large maker/small sluice/demo bare'],
    ['context-high-to-low', 'sluice/demo shared/large speaker/llama-9-voice maker/small bare'],
    ['newest', 'sluice/demo bare maker/small shared/large speaker/llama-9-voice'],
    ['throughput-high-to-low', text],
    ['latency-low-to-high', text],
    ['intelligence-high-to-low', text],
    ['coding-high-to-low', text],
    ['agentic-high-to-low', text],
    ['design-arena-elo-high-to-low', text],
    ['pricing-low-to-high&providers=lab', 'maker/small shared/large bare'],
    ['context-high-to-low&providers=cloud', 'shared/large speaker/llama-9-voice'],
    ['context-high-to-low&limit=2&offset=1', 'shared/large speaker/llama-9-voice'],
  ]
  for (const [sort, expected] of sorts) {
    test(`?sort=${sort}`, async () => expect(await ids(`/models?sort=${sort}`)).toBe(expected))
  }

  const wrong: [query: string, says: string][] = [
    ['category=cooking', 'query parameter category: must be one of "programming"'],
    ['sort=cheapest', 'query parameter sort: must be one of "most-popular"'],
    [
      'output_modalities=smell',
      'query parameter output_modalities: must be a comma-separated list of text, ',
    ],
    ['output_modalities=', 'query parameter output_modalities: must be a comma-separated list'],
    ['input_modalities=text,smell', 'query parameter input_modalities: must be a comma-separated list'],
    ['context=0', 'query parameter context: must be a whole number of at least 1'],
    ['context=1.5', 'query parameter context: must be a whole number of at least 1'],
    ['min_price=-1', 'query parameter min_price: must be a number of at least 0'],
    ['max_price=cheap', 'query parameter max_price: must be a number of at least 0'],
    ['min_price=2&max_price=1', 'query parameter min_price: must not be above max_price'],
    ['min_output_price=2&max_output_price=1', 'query parameter min_output_price: must not be above'],
    ['min_age_days=2&max_age_days=1', 'query parameter min_age_days: must not be above max_age_days'],
    ['max_tool_success_rate=1.1', 'query parameter max_tool_success_rate: must be a number from 0 to 1'],
    ['distillable=yes', 'query parameter distillable: must be one of "true" or "false"'],
    ['zdr=false', 'query parameter zdr: must be "true"'],
    ['region=mars', 'query parameter region: must be one of "eu" or "us"'],
    ['limit=0', 'query parameter limit: must be a whole number from 1 to 1000'],
    ['limit=1001', 'query parameter limit: must be a whole number from 1 to 1000'],
    ['offset=-1', 'query parameter offset: must be a whole number of at least 0'],
  ]
  for (const [query, says] of wrong) {
    test(`?${query} is refused`, async () => {
      const response = await gateway.call(`/models?${query}`)
      expect(response.status).toBe(400)
      expect(objectOf(objectOf(await response.json())['error'])['message']).toStartWith(says)
    })
  }

  test('pages: the next one is a path with the same query, the last one has none', async () => {
    const first = await json('/models?limit=2&q=a')
    expect(first).toMatchObject({ links: { next: '/api/v1/models?limit=2&q=a&offset=2' }, total_count: 4 })
    const second = await json('/models?limit=2&q=a&offset=2')
    expect(second).toMatchObject({ links: { next: null }, total_count: 4 })
    const both = [...dataOf(first), ...dataOf(second)].map(({ id }) => id)
    expect(both.join(' ')).toBe(await ids('/models?q=a'))
    expect(await json('/models?offset=100')).toMatchObject({ data: [], links: { next: null } })
  })

  test('under the other prefix and below a base path the links lead to the documented one', async () => {
    const app = createApp(gateway.deps, '/ai')
    const headers = { authorization: `Bearer ${API_KEY}` }
    for (const prefix of ['/ai/v1', '/ai/api/v1']) {
      const response = await app(new Request(`http://localhost${prefix}/models?limit=1&q=demo`, { headers }))
      expect(await response.json()).toMatchObject({
        data: [{ links: { details: '/ai/api/v1/models/sluice/demo/endpoints' } }],
      })
      const paged = await app(new Request(`http://localhost${prefix}/models?limit=1`, { headers }))
      expect(await paged.json()).toMatchObject({ links: { next: '/ai/api/v1/models?limit=1&offset=1' } })
    }
  })

  test('a list has the form of the API document', async () => {
    for (const path of ['/models?output_modalities=all', '/models/user', '/embeddings/models']) {
      const body = await json(path)
      expect([...Value.Errors(modelList, body)]).toEqual([])
      expect(dataOf(body).length).toBeGreaterThan(0)
    }
  })

  test('a model shows the price and the limits of the cheapest endpoint that was asked for', async () => {
    const [whole] = dataOf(await json('/models?q=large'))
    expect(whole).toMatchObject({
      context_length: 200_000,
      pricing: { prompt: '0.000002', completion: '0.000004', image: '0', request: '0' },
      top_provider: { context_length: 100_000, max_completion_tokens: null, is_moderated: false },
      supported_parameters: ['response_format', 'seed', 'tool_choice', 'tools'],
      architecture: { modality: 'text+image->text', tokenizer: 'Other', instruct_type: null },
      supported_voices: null,
      default_parameters: null,
      per_request_limits: null,
      expiration_date: null,
    })
    const [part] = dataOf(await json('/models?q=large&providers=lab'))
    expect(part).toMatchObject({
      pricing: { prompt: '0.000003' },
      supported_parameters: ['response_format', 'tools'],
    })
  })

  test('at most 500 of a long list, 1,000 when asked for', async () => {
    const models = Array.from({ length: 1001 }, (_, index) => ({
      id: `many/m-${index}`,
      pricing: { prompt: '0', completion: '0' },
    }))
    const many = await startGateway({
      providers: [{ slug: 'many', base_url: 'https://many.example.com/v1', models }],
    })
    try {
      for (const [query, length] of [
        ['', 500],
        ['?limit=1000', 1000],
        ['?offset=1000', 2],
      ] as const) {
        const body = objectOf(await (await many.call(`/models${query}`)).json())
        expect({ query, length: dataOf(body).length }).toEqual({ query, length })
        expect(body['total_count']).toBe(1002)
      }
    } finally {
      await many.stop()
    }
  })

  test('a model that nobody priced says so', async () => {
    const [bare] = dataOf(await json('/models?q=bare'))
    expect(bare).toMatchObject({ id: 'bare', context_length: 0, architecture: { modality: 'text->text' } })
    expect(bare?.['description']).toContain('Its price is unknown')
  })
})

describe('GET /models as a feed', () => {
  const feed = async (query: string) => {
    const response = await gateway.call(`/models?${query}`)
    expect(response.headers.get('content-type')).toBe('application/rss+xml; charset=utf-8')
    return parseXml(await response.text())
  }

  test('is RSS 2.0 with one item for each model', async () => {
    const rss = await feed('use_rss=true&sort=newest&use_rss_chat_links=true')
    expect({ name: rss.name, version: rss.attributes['version'] }).toEqual({ name: 'rss', version: '2.0' })
    const [channel] = childrenOf(rss, 'channel')
    for (const name of ['title', 'link', 'description']) expect(textOf(channel, name)).toBeTruthy()
    const items = childrenOf(channel, 'item')
    expect(items.map((item) => textOf(item, 'guid')).join(' ')).toBe(await ids('/models?sort=newest'))
    for (const item of items) {
      expect(URL.canParse(textOf(item, 'link') ?? '')).toBe(true)
      expect(textOf(item, 'title')).toBeTruthy()
      expect(textOf(item, 'description')).toBeTruthy()
      expect(new Set(item.children.map(({ name }) => name)).size).toBe(item.children.length)
    }
    expect(items.map((item) => textOf(item, 'title'))).toContain('Shared: Large & <wide>')
    expect(textOf(items[0], 'pubDate')).toBe('Thu, 01 Jan 2026 00:00:00 GMT')
  })

  test('has the filters and the pages of the list', async () => {
    const [channel] = childrenOf(await feed('use_rss=1&providers=cloud&limit=1'), 'channel')
    expect(childrenOf(channel, 'item').map((item) => textOf(item, 'guid'))).toEqual(['shared/large'])
    expect(childrenOf(channel, 'atom:link')[0]?.attributes['href']).toEndWith(
      '/api/v1/models?use_rss=1&providers=cloud&limit=1',
    )
  })

  test('can be empty, and is not one for false', async () => {
    const [channel] = childrenOf(await feed('use_rss=true&q=nothing-like-it'), 'channel')
    expect(childrenOf(channel, 'item')).toEqual([])
    expect(await ids('/models?use_rss=false&q=demo')).toBe('sluice/demo')
  })
})

describe('the other lists', () => {
  test('GET /models/count counts what the list has', async () => {
    for (const query of ['', '?output_modalities=all', '?output_modalities=image,embeddings']) {
      const { total_count } = await json(`/models${query}`)
      expect(await json(`/models/count${query}`)).toEqual({ data: { count: total_count } })
    }
    expect((await gateway.call('/models/count?output_modalities=x')).status).toBe(400)
  })

  test('GET /models/user leaves out what would be refused', async () => {
    expect(await ids('/models/user')).toBe('maker/small shared/large sluice/demo speaker/llama-9-voice')
    expect(await ids('/models/user?output_modalities=all')).toBe(
      'maker/embedder maker/small painter/brush-2 shared/large sluice/demo speaker/llama-9-voice',
    )
    expect(await json('/models/user?limit=1&offset=1')).toMatchObject({
      data: [{ id: 'shared/large' }],
      links: { next: '/api/v1/models/user?limit=1&offset=2' },
      total_count: 4,
    })
    expect((await gateway.call('/models/user?limit=0')).status).toBe(400)
    expect((await gateway.call('/models/user?output_modalities=x')).status).toBe(400)
  })

  test('GET /embeddings/models has the embedding models', async () => {
    expect(await ids('/embeddings/models')).toBe('maker/embedder')
    expect((await gateway.call('/embeddings/models?offset=x')).status).toBe(400)
  })

  test('GET /endpoints/zdr has the endpoints of /models?zdr=true', async () => {
    for (const outputs of ['text', 'all']) {
      const query = `output_modalities=${outputs}`
      const zdr = dataOf(await json(`/endpoints/zdr?${query}`))
      expect(zdr.map(({ model_id }) => model_id).join(' ')).toBe(await ids(`/models?zdr=true&${query}`))
    }
    const [large] = dataOf(await json('/endpoints/zdr')).filter(({ model_id }) => model_id === 'shared/large')
    expect(large).toMatchObject({
      name: 'The Lab | shared/large',
      provider_name: 'The Lab',
      tag: 'lab/fp8',
      quantization: 'fp8',
      status: 'active',
      context_length: 200_000,
      pricing: { prompt: '0.000003', completion: '0.000006', image: '0', request: '0' },
      supports_implicit_caching: false,
      latency_last_30m: null,
      throughput_last_30m: null,
      uptime_last_5m: null,
      uptime_last_30m: null,
      uptime_last_1d: null,
    })
  })

  test('an endpoint has an integer status for the SDK that takes nothing else', async () => {
    const response = await gateway.call('/endpoints/zdr', undefined, {
      'user-agent': 'speakeasy-sdk/typescript 1',
    })
    const statuses = dataOf(objectOf(await response.json())).map(({ status }) => status)
    expect([...new Set(statuses)]).toEqual([0])
  })

  test('GET /providers has those that are configured', async () => {
    expect(dataOf(await json('/providers')).map(({ slug, name }) => `${slug}: ${name}`)).toEqual([
      'lab: The Lab',
      'cloud: Cloud Nine',
      'sluice: Sluice',
    ])
  })
})

describe('who may ask', () => {
  const paths = [
    '/models',
    '/models/count',
    '/models/user',
    '/embeddings/models',
    '/endpoints/zdr',
    '/providers',
    '/model/sluice/demo',
    '/models/sluice/demo/endpoints',
  ]
  for (const path of paths) {
    test(`${path}: any key, but a key`, async () => {
      for (const [key, status] of [
        [API_KEY, 200],
        [MANAGEMENT_KEY, 200],
        ['sk-sl-v1-none', 401],
      ] as const) {
        const response = await gateway.call(path, undefined, { authorization: `Bearer ${key}` })
        expect({ key, status: response.status }).toEqual({ key, status })
      }
      // Before anything else is looked at.
      const response = await gateway.call(`${path}?limit=x`, undefined, { authorization: '' })
      expect(response.status).toBe(401)
    })
  }
})

test('most-popular and top-weekly are this gateway’s own requests, of 30 and of 7 days', async () => {
  let clock = now
  const used = await startGateway({ providers, now: () => clock })
  try {
    const ask = async () => {
      const reply = await used.call('/chat/completions', {
        model: 'sluice/demo',
        messages: [{ role: 'user', content: 'hello' }],
      })
      expect(reply.status).toBe(200)
      await reply.text()
    }
    await ask()
    // The sums follow within a second.
    used.deps.ledger.fold()
    const firstOf = async (sort: string) =>
      dataOf(objectOf(await (await used.call(`/models?sort=${sort}`)).json()))[0]?.['id']
    expect([await firstOf('most-popular'), await firstOf('top-weekly')]).toEqual([
      'sluice/demo',
      'sluice/demo',
    ])
    clock += 8 * 86_400_000
    expect([await firstOf('most-popular'), await firstOf('top-weekly')]).toEqual(['sluice/demo', 'bare'])
    clock += 30 * 86_400_000
    expect(await firstOf('most-popular')).toBe('bare')
  } finally {
    await used.stop()
  }
})
