import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import type { Gateway } from '../gateway.ts'
import { dataOf, idsOf, jsonOf, startLists } from './lists.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startLists()
})
afterAll(() => gateway.stop())

describe('GET /models with a query', () => {
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
    // Some endpoint supports each of them, no endpoint both.
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
    // Combined: one endpoint must match all filters that are about endpoints.
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
    test(`?${query}`, async () => expect(await idsOf(gateway, `/models?${query}`)).toBe(expected))
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
    test(`?sort=${sort}`, async () => expect(await idsOf(gateway, `/models?sort=${sort}`)).toBe(expected))
  }

  const wrong: [query: string, message: string][] = [
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
    ['limit=0', 'query parameter limit: must be an integer from 1 to 1000'],
    ['limit=1001', 'query parameter limit: must be an integer from 1 to 1000'],
    ['offset=-1', 'query parameter offset: must be a whole number of at least 0'],
  ]
  for (const [query, message] of wrong) {
    test(`?${query} is rejected`, async () => {
      const response = await gateway.call(`/models?${query}`)
      expect(response.status).toBe(400)
      expect(objectOf(objectOf(await response.json())['error'])['message']).toStartWith(message)
    })
  }

  test('a page links to the next with the same query; the last page has no link', async () => {
    const first = await jsonOf(gateway, '/models?limit=2&q=a')
    expect(first).toMatchObject({ links: { next: '/api/v1/models?limit=2&q=a&offset=2' }, total_count: 4 })
    const second = await jsonOf(gateway, '/models?limit=2&q=a&offset=2')
    expect(second).toMatchObject({ links: { next: null }, total_count: 4 })
    const both = [...dataOf(first), ...dataOf(second)].map(({ id }) => id)
    expect(both.join(' ')).toBe(await idsOf(gateway, '/models?q=a'))
    expect(await jsonOf(gateway, '/models?offset=100')).toMatchObject({ data: [], links: { next: null } })
  })
})
