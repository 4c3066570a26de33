import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { providers } from './fixture.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ providers, environment: { ANTHROPIC_API_KEY: 'k', MISTRAL_API_KEY: 'k' } })
})
afterAll(() => gateway.stop())

const dataOf = async (path: string): Promise<Record<string, unknown>> => {
  const response = await gateway.call(path)
  expect({ path, status: response.status }).toEqual({ path, status: 200 })
  return objectOf(objectOf(await response.json())['data'])
}

describe('one model', () => {
  const names: [name: string, id: string][] = [
    ['shared/large', 'shared/large'],
    ['Shared/LARGE', 'shared/large'],
    ['shared/large:nitro', 'shared/large'],
    ['shared/large:floor', 'shared/large'],
    ['shared/large:online', 'shared/large'],
    ['shared/large:exacto', 'shared/large'],
    ['shared/large:thinking', 'shared/large'],
    ['shared/large:extended', 'shared/large'],
    ['cloud/shared%2Flarge:nitro', 'shared/large'],
    ['anthropic/claude-4.5-sonnet-20250929:extended', 'anthropic/claude-sonnet-4.5'],
    ['anthropic/claude-sonnet-4-5:floor', 'anthropic/claude-sonnet-4.5'],
    ['lab/bare', 'bare'],
    ['cloud/shared%2Flarge', 'shared/large'],
    ['sluice/demo', 'sluice/demo'],
    ['sluice/demo:free', 'sluice/demo'],
    ['anthropic/claude-sonnet-4.5', 'anthropic/claude-sonnet-4.5'],
    ['anthropic/claude-sonnet-4-5', 'anthropic/claude-sonnet-4.5'],
    ['anthropic/claude-4.5-sonnet-20250929', 'anthropic/claude-sonnet-4.5'],
  ]
  for (const [name, id] of names) {
    test(`${name} is ${id}`, async () => {
      expect(await dataOf(`/model/${name}`)).toMatchObject({ id })
      expect(await dataOf(`/models/${name}/endpoints`)).toMatchObject({ id })
    })
  }

  test('each model of the list is found by its id and by its link', async () => {
    const list = objectOf(await (await gateway.call('/models?output_modalities=all&limit=1000')).json())
    const models = Array.isArray(list['data']) ? list['data'].map(objectOf) : []
    expect(models.length).toBeGreaterThan(40)
    for (const model of models) {
      const details = String(objectOf(model['links'])['details'])
      expect(details).toStartWith('/api/v1/models/')
      const { id, endpoints } = await dataOf(details.slice('/api/v1'.length))
      expect(id).toBe(model['id'])
      expect(Array.isArray(endpoints) && endpoints.length > 0).toBe(true)
      const address = details.slice('/api/v1/models/'.length, -'/endpoints'.length)
      expect(await dataOf(`/model/${address}`)).toEqual(model)
    }
  })

  const unknown: [name: string, says: RegExp][] = [
    [
      'anthropic/claude-sonet-4.5',
      /^There is no model "anthropic\/claude-sonet-4\.5"\. The nearest names are anthropic\/claude-sonnet-4\.5, \S+, \S+$/,
    ],
    // Little in common, and yet three.
    ['zzzz/qqqq', /^There is no model "zzzz\/qqqq"\. The nearest names are \S+, \S+, \S+$/],
    ['nobody/knows-this', /^There is no model "nobody\/knows-this"\. The nearest names are \S+, \S+, \S+$/],
    ['~/~', /^There is no model "~\/~"$/],
    [
      'openai/gpt-4o',
      /^The model "openai\/gpt-4o" is known, but no provider that offers it is configured here/,
    ],
    ['shared/large:free', /^No configured provider offers "shared\/large:free" for free$/],
    ['shared/large:fast', /^There is no model "shared\/large:fast"\. The nearest names are shared\/large/],
  ]
  for (const [name, says] of unknown) {
    test(`${name} is not found`, async () => {
      for (const path of [`/model/${name}`, `/models/${name}/endpoints`]) {
        const response = await gateway.call(path)
        const error = objectOf(objectOf(await response.json())['error'])
        expect(error).toEqual({ code: 404, message: expect.stringMatching(says) })
      }
    })
  }

  test('facts of the catalogue are shown', async () => {
    const model = await dataOf('/model/anthropic/claude-sonnet-4.5')
    expect(model).toMatchObject({
      name: 'Anthropic: Claude Sonnet 4.5',
      architecture: { tokenizer: 'Claude', modality: 'text+image+file->text' },
      knowledge_cutoff: expect.stringMatching(/^20\d\d-\d\d/),
      pricing: {
        prompt: '0.000003',
        completion: '0.000015',
        image: '0',
        request: '0',
        input_cache_read: '0.0000003',
      },
      reasoning: { supports_max_tokens: true },
    })
    expect(model['description']).toContain('takes text, image and file and gives text.')
    expect(model['description']).toEndWith('Offered by Anthropic.')
  })

  test('every price is a plain decimal', async () => {
    const text = await (await gateway.call('/models?output_modalities=all&limit=1000')).text()
    const prices = [...text.matchAll(/"(?:prompt|completion|image|request)":"([^"]*)"/g)].map(
      ([, value]) => value,
    )
    expect(prices.length).toBeGreaterThan(160)
    expect(prices.filter((value) => !/^(\d+(\.\d+)?|-1)$/.test(value ?? ''))).toEqual([])
  })

  test('an unknown price is -1, and a price of nothing is 0', async () => {
    const { data } = await (await gateway.call('/models?output_modalities=all&limit=1000')).json()
    const priceOf = (id: string) => data.find((model: { id: string }) => model.id === id).pricing
    expect(priceOf('bare')).toEqual({ prompt: '-1', completion: '-1', image: '0', request: '0' })
    expect(priceOf('sluice/demo')).toMatchObject({ prompt: '0', completion: '0' })
  })
})

describe('the endpoints of a model', () => {
  test('each provider has an endpoint with its own price and limits', async () => {
    const data = await dataOf('/models/shared/large/endpoints')
    expect(data).toMatchObject({
      id: 'shared/large',
      name: 'Shared: Large & <wide>',
      created: 0,
      description: expect.stringContaining('Offered by The Lab and Cloud Nine.'),
      architecture: {
        modality: 'text+image->text',
        input_modalities: ['text', 'image'],
        output_modalities: ['text'],
        tokenizer: 'Other',
        instruct_type: null,
      },
    })
    expect(data['endpoints']).toMatchObject([
      {
        name: 'The Lab | shared/large',
        tag: 'lab/fp8',
        quantization: 'fp8',
        context_length: 200_000,
        pricing: { prompt: '0.000003', completion: '0.000006', image: '0', request: '0' },
        supports_tool_choice: { auto: true, none: true, required: false, function: false },
        status: 0,
        uptime_last_30m: null,
      },
      {
        name: 'Cloud Nine | shared/large',
        tag: 'cloud',
        quantization: null,
        context_length: 100_000,
        max_completion_tokens: null,
        max_prompt_tokens: null,
        pricing: { prompt: '0.000002' },
        supports_tool_choice: { auto: true, none: true, required: true, function: true },
      },
    ])
  })

  test('cache reads without a price of writes are implicit', async () => {
    const { endpoints } = await dataOf('/models/maker/small/endpoints')
    expect(endpoints).toMatchObject([{ supports_implicit_caching: true, max_completion_tokens: 1000 }])
    const paid = await dataOf('/models/anthropic/claude-sonnet-4.5/endpoints')
    expect(paid['endpoints']).toMatchObject([
      {
        pricing: { input_cache_write: '0.00000375', input_cache_write_1h: '0.000006' },
        supports_implicit_caching: false,
      },
    ])
  })
})
