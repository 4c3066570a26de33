import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { createApp } from '../../src/app.ts'
import { modelList } from '../../src/catalog/schema.ts'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { providers } from './fixture.ts'
import { dataOf, idsOf, jsonOf, NOW, startLists } from './lists.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startLists()
})
afterAll(() => gateway.stop())

describe('GET /models', () => {
  test('links lead to the documented prefix, under either prefix and a base path', async () => {
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
      const body = await jsonOf(gateway, path)
      expect([...Value.Errors(modelList, body)]).toEqual([])
      expect(dataOf(body).length).toBeGreaterThan(0)
    }
  })

  test('a model shows the price and the limits of the cheapest endpoint that matches the filters', async () => {
    const [all] = dataOf(await jsonOf(gateway, '/models?q=large'))
    expect(all).toMatchObject({
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
    const [part] = dataOf(await jsonOf(gateway, '/models?q=large&providers=lab'))
    expect(part).toMatchObject({
      pricing: { prompt: '0.000003' },
      supported_parameters: ['response_format', 'tools'],
    })
  })

  test('a page has 500 models unless `limit` asks for more, at most 1,000', async () => {
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

  test('a model without a price says so', async () => {
    const [bare] = dataOf(await jsonOf(gateway, '/models?q=bare'))
    expect(bare).toMatchObject({ id: 'bare', context_length: 0, architecture: { modality: 'text->text' } })
    expect(bare?.['description']).toContain('Its price is unknown')
  })
})

describe('the other lists', () => {
  test('GET /models/count counts what the list has', async () => {
    for (const query of ['', '?output_modalities=all', '?output_modalities=image,embeddings']) {
      const { total_count } = await jsonOf(gateway, `/models${query}`)
      expect(await jsonOf(gateway, `/models/count${query}`)).toEqual({ data: { count: total_count } })
    }
    expect((await gateway.call('/models/count?output_modalities=x')).status).toBe(400)
  })

  test('GET /models/user leaves out models that cannot be called', async () => {
    expect(await idsOf(gateway, '/models/user')).toBe(
      'maker/small shared/large sluice/demo speaker/llama-9-voice',
    )
    expect(await idsOf(gateway, '/models/user?output_modalities=all')).toBe(
      'maker/embedder maker/small painter/brush-2 shared/large sluice/demo speaker/llama-9-voice',
    )
    expect(await jsonOf(gateway, '/models/user?limit=1&offset=1')).toMatchObject({
      data: [{ id: 'shared/large' }],
      links: { next: '/api/v1/models/user?limit=1&offset=2' },
      total_count: 4,
    })
    expect((await gateway.call('/models/user?limit=0')).status).toBe(400)
    expect((await gateway.call('/models/user?output_modalities=x')).status).toBe(400)
  })

  test('GET /embeddings/models has the embedding models', async () => {
    expect(await idsOf(gateway, '/embeddings/models')).toBe('maker/embedder')
    expect((await gateway.call('/embeddings/models?offset=x')).status).toBe(400)
  })

  test('GET /endpoints/zdr has the endpoints of /models?zdr=true', async () => {
    for (const outputs of ['text', 'all']) {
      const query = `output_modalities=${outputs}`
      const zdr = dataOf(await jsonOf(gateway, `/endpoints/zdr?${query}`))
      expect(zdr.map(({ model_id }) => model_id).join(' ')).toBe(
        await idsOf(gateway, `/models?zdr=true&${query}`),
      )
    }
    const [large] = dataOf(await jsonOf(gateway, '/endpoints/zdr')).filter(
      ({ model_id }) => model_id === 'shared/large',
    )
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

  test('an endpoint has an integer status for the SDK that accepts nothing else', async () => {
    const response = await gateway.call('/endpoints/zdr', undefined, {
      'user-agent': 'speakeasy-sdk/typescript 1',
    })
    const statuses = dataOf(objectOf(await response.json())).map(({ status }) => status)
    expect([...new Set(statuses)]).toEqual([0])
  })

  test('GET /providers has the configured providers', async () => {
    expect(dataOf(await jsonOf(gateway, '/providers')).map(({ slug, name }) => `${slug}: ${name}`)).toEqual([
      'lab: The Lab',
      'cloud: Cloud Nine',
      'sluice: Sluice',
    ])
  })
})

describe('authentication', () => {
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
    test(`${path} accepts an inference key and a management key, and nothing else`, async () => {
      for (const [key, status] of [
        [API_KEY, 200],
        [MANAGEMENT_KEY, 200],
        ['sk-sl-v1-none', 401],
      ] as const) {
        const response = await gateway.call(path, undefined, { authorization: `Bearer ${key}` })
        expect({ key, status: response.status }).toEqual({ key, status })
      }
      // The key is checked before the query.
      const response = await gateway.call(`${path}?limit=x`, undefined, { authorization: '' })
      expect(response.status).toBe(401)
    })
  }
})

test('most-popular and top-weekly count this gateway’s own requests of 30 and of 7 days', async () => {
  let clock = NOW
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
    // Sums by model are otherwise up to a second late.
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
