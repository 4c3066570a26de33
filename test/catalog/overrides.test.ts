import { afterEach, describe, expect, test } from 'bun:test'
import { readOverrides } from '../../src/catalog/override-schema.ts'
import { isJsonObject, objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { document, factModel } from './facts-fixture.ts'
import { providers } from './fixture.ts'

let gateway: Gateway | undefined
afterEach(async () => {
  await gateway?.stop()
  gateway = undefined
})

const open = async (models: unknown[], environment: Record<string, string> = {}): Promise<Gateway> => {
  gateway = await startGateway({ providers, models, environment })
  return gateway
}
const modelOf = async (name: string): Promise<Record<string, unknown>> => {
  const response = await gateway?.call(`/model/${name}`)
  return objectOf(objectOf(await response?.json())['data'])
}
const endpointsOf = async (name: string): Promise<Record<string, unknown>[]> => {
  const response = await gateway?.call(`/models/${name}/endpoints`)
  const { endpoints } = objectOf(objectOf(await response?.json())['data'])
  return Array.isArray(endpoints) ? endpoints.filter(isJsonObject) : []
}
const idsOf = async (query: string): Promise<string> => {
  const body = objectOf(await (await gateway?.call(`/models?${query}`))?.json())
  return Array.isArray(body['data']) ? body['data'].map((model) => objectOf(model)['id']).join(' ') : ''
}

describe('overrides of a model', () => {
  test('a price replaces the complete price, at one provider or at all', async () => {
    await open([
      { id: 'shared/large', provider: 'cloud', pricing: { prompt: '0.000009', completion: '0.00001' } },
      { id: 'maker/small', pricing: { prompt: '0' } },
      { id: 'bare', pricing: { request: '0.01' } },
    ])
    const [lab, cloud] = await endpointsOf('shared/large')
    expect(lab?.['pricing']).toMatchObject({ prompt: '0.000003' })
    expect(cloud?.['pricing']).toMatchObject({ prompt: '0.000009', completion: '0.00001' })
    expect((await modelOf('maker/small'))['pricing']).toEqual({
      prompt: '0',
      completion: '0',
      image: '0',
      request: '0',
    })
    expect((await endpointsOf('lab/bare'))[0]?.['pricing']).toMatchObject({ prompt: '0', request: '0.01' })
  })

  test('a price of cache writes for an hour', async () => {
    const pricing = { prompt: '0.000001', input_cache_write: '0.00000125', input_cache_write_1h: '0.000002' }
    await open([{ id: 'maker/small', pricing }])
    expect((await modelOf('maker/small'))['pricing']).toMatchObject(pricing)
    const { providers: prices } = objectOf(
      objectOf(await (await gateway?.call('/models/maker/small/prices'))?.json())['data'],
    )
    expect(prices).toMatchObject([{ prices: [{ pricing }] }])
  })

  test('filters use the overridden facts', async () => {
    await open([
      {
        id: 'shared/large',
        provider: 'cloud',
        zdr: true,
        regions: ['eu'],
        distillable: true,
        quantization: 'int8',
        context_length: 300_000,
        max_completion_tokens: 77,
      },
      { id: 'maker/small', distillable: false, zdr: false },
    ])
    expect(await idsOf('zdr=true&providers=cloud')).toBe('shared/large')
    expect(await idsOf('region=eu')).toBe('shared/large')
    expect(await idsOf('distillable=true')).toBe('shared/large sluice/demo')
    expect(await idsOf('distillable=false')).toBe('maker/small')
    expect(await idsOf('zdr=true&q=small')).toBe('')
    expect((await endpointsOf('shared/large'))[1]).toMatchObject({
      tag: 'cloud/int8',
      context_length: 300_000,
      max_completion_tokens: 77,
    })
  })

  test('what a provider does with prompts is shown: declared, or null', async () => {
    await open([
      {
        id: 'shared/large',
        provider: 'cloud',
        data_policy: { training: false, retention_days: 30, zdr: 'on_request' },
        regions: ['eu'],
        moderated: true,
        quantization: 'FP8',
      },
    ])
    expect((await endpointsOf('shared/large'))[1]).toMatchObject({
      data_policy: { training: false, retention_days: 30, zdr: 'on_request' },
      regions: ['eu'],
      is_moderated: true,
      quantization: 'fp8',
    })
    expect((await modelOf('shared/large'))['top_provider']).toMatchObject({ is_moderated: true })
    expect((await modelOf('maker/small'))['top_provider']).toMatchObject({ is_moderated: false })
    expect(await idsOf('zdr=true&providers=cloud')).toBe('')
  })

  test('details of a model: parameters, voices, categories, benchmarks', async () => {
    await open([
      {
        id: 'shared/large',
        default_parameters: { temperature: 0.6, top_k: 20 },
        supported_voices: ['anna', 'otto'],
        categories: ['legal'],
        benchmarks: { coding_index: 41, tool_success_rate: 0.9 },
      },
    ])
    expect(await modelOf('shared/large')).toMatchObject({
      default_parameters: { temperature: 0.6, top_p: null, top_k: 20, repetition_penalty: null },
      supported_voices: ['anna', 'otto'],
      benchmarks: {
        artificial_analysis: { coding_index: 41, intelligence_index: null },
        tool_success_rate: 0.9,
      },
    })
    expect(await idsOf('category=legal')).toBe('shared/large')
    expect(await idsOf('min_coding_index=40')).toBe('shared/large')
    expect(await modelOf('maker/small')).toMatchObject({ default_parameters: null, supported_voices: null })
  })

  test('aliases, another name, and an expiration date', async () => {
    await open([
      { id: 'shared/large', aliases: ['big', 'team/best'], name: 'Our Best', expiration_date: '2027-01-31' },
    ])
    for (const name of ['shared/large', 'team/best', 'lab/big']) {
      const found = name === 'lab/big' ? undefined : await modelOf(name)
      if (found)
        expect(found).toMatchObject({ id: 'shared/large', name: 'Our Best', expiration_date: '2027-01-31' })
    }
    const { models } = gateway?.deps.snapshot.current() ?? {}
    expect(models?.find('BIG')?.id).toBe('shared/large')
  })

  test('a hidden model is neither listed nor called, at one provider or at all', async () => {
    await open([
      { id: 'maker/small', hidden: true },
      { id: 'shared/large', provider: 'lab', hidden: true },
    ])
    expect(await idsOf('')).toBe('bare shared/large sluice/demo speaker/llama-9-voice')
    expect(await endpointsOf('shared/large')).toMatchObject([{ provider_name: 'Cloud Nine' }])
    const messages = [{ role: 'user', content: 'Hello' }]
    const refused = await gateway?.call('/chat/completions', { model: 'maker/small', messages })
    expect(refused?.status).toBe(404)
  })

  test('they survive a refresh, and apply to a model that comes with one', async () => {
    const open2 = await open([{ id: 'openai/gpt-4o', pricing: { prompt: '0.000007' }, aliases: ['ours'] }], {
      OPENAI_API_KEY: 'k',
    })
    const facts = document({ openai: [factModel('gpt-4o', { cost: { input: 1, output: 1 } })] })
    expect((await open2.manage('POST', '/models/refresh', { document: facts })).status).toBe(200)
    expect((await modelOf('openai/gpt-4o'))['pricing']).toMatchObject({
      prompt: '0.000007',
      completion: '0.000007',
    })
    expect(open2.deps.snapshot.current().models.find('ours')?.id).toBe('openai/gpt-4o')
  })
})

describe('mistakes', () => {
  test.each<[what: string, entry: unknown, problem: string]>([
    ['no id', {}, 'models[0].id is missing'],
    [
      'an unknown key',
      { id: 'bare', price: '1' },
      'models[0].price is not a known key; known here: id, provider,',
    ],
    [
      'a negative price',
      { id: 'bare', pricing: { prompt: '-0.1' } },
      'models[0].pricing.prompt "-0.1" is not a price',
    ],
    [
      'a negative price of an hour',
      { id: 'bare', pricing: { prompt: '1', input_cache_write_1h: '-1' } },
      'models[0].pricing.input_cache_write_1h "-1" is not a price',
    ],
    [
      'a price as number',
      { id: 'bare', pricing: { prompt: 1 } },
      'models[0].pricing.prompt must be USD per unit',
    ],
    ['half a price', { id: 'bare', pricing: { completion: '1' } }, 'models[0].pricing.prompt is missing'],
    [
      'context 0',
      { id: 'bare', context_length: 0 },
      'models[0].context_length must be a whole number of at least 1',
    ],
    ['a region', { id: 'bare', regions: ['eu', 'mars'] }, 'models[0].regions[1] must be one of eu, us'],
    [
      'a date',
      { id: 'bare', expiration_date: '31.1.2027' },
      'models[0].expiration_date must be a date in quotes',
    ],
    [
      'an alias with a variant',
      { id: 'bare', aliases: ['a:free'] },
      'models[0].aliases[0] must be a name without',
    ],
    [
      'an unknown model',
      { id: 'openai/gpt-4oo' },
      'models[0].id "openai/gpt-4oo" is not known; did you mean openai/gpt-4o',
    ],
    [
      'an unknown provider',
      { id: 'bare', provider: 'opnai' },
      'models[0].provider "opnai" is not known; did you mean openai',
    ],
    [
      'the id of another',
      { id: 'bare', aliases: ['openai/gpt-4o'] },
      'models[0].aliases[0] "openai/gpt-4o" is the id of a model',
    ],
  ])('%s is rejected with its path', async (_, entry, problem) => {
    await expect(open([entry])).rejects.toThrow(problem)
  })

  test('one alias for two models', async () => {
    const twice = [
      { id: 'bare', aliases: ['best'] },
      { id: 'maker/small', aliases: ['best'] },
    ]
    await expect(open(twice)).rejects.toThrow('models[1].aliases[0] "best" is an alias of bare already')
  })

  test('all problems are reported at once; a value that is not a list is one', () => {
    expect(readOverrides([{ id: '' }, 7, { id: 'a', zdr: 'yes' }]).problems.map(({ path }) => path)).toEqual([
      'models[0].id',
      'models[1]',
      'models[2].zdr',
    ])
    const details = [
      { id: 'a', default_parameters: { temperature: 3 } },
      { id: 'b', default_parameters: { max_tokens: 3 } },
      { id: 'c', categories: ['cooking'] },
      { id: 'd', benchmarks: { coding_index: -1, speed: 1 } },
      { id: 'e', supported_voices: [''] },
      { id: 'f', zdr: true, data_policy: { zdr: 'never' } },
    ]
    expect(readOverrides(details).problems.map(({ path }) => path)).toEqual([
      'models[0].default_parameters.temperature',
      'models[1].default_parameters.max_tokens',
      'models[2].categories[0]',
      'models[3].benchmarks.coding_index',
      'models[3].benchmarks.speed',
      'models[4].supported_voices[0]',
      'models[5].zdr',
    ])
    expect(readOverrides({}).problems).toMatchObject([{ path: 'models' }])
    expect(readOverrides(null)).toEqual({ overrides: [], problems: [] })
  })

  test('a model of a local server need not be found yet', async () => {
    await open([{ id: 'llama3:latest', provider: 'ollama', aliases: ['local'] }])
    expect(await idsOf('q=demo')).toBe('sluice/demo')
  })
})
