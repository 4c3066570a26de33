import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { modelEndpoints, modelList } from '../../src/catalog/schema.ts'
import { isJsonObject, objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ environment: { GROQ_API_KEY: 'k', SLUICE_MODELS_LIST: 'all' } })
})
afterAll(() => gateway.stop())

const bodyOf = async (path: string): Promise<Record<string, unknown>> =>
  objectOf(await (await gateway.call(path)).json())
const listOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : []

describe('lists of the complete catalogue', () => {
  test('show models of providers that are not configured, and mark them', async () => {
    const body = await bodyOf('/models?limit=1000')
    expect([...Value.Errors(modelList, body)]).toEqual([])
    const models = new Map(listOf(body['data']).map((model) => [model['id'], model]))
    expect(models.get('openai/gpt-4o')).toMatchObject({ is_configured: false })
    expect(models.get('meta-llama/llama-3.3-70b-instruct')).toMatchObject({ is_configured: true })
    expect(models.get('sluice/demo')).toMatchObject({ is_configured: true })
    expect(models.size).toBeGreaterThan(700)
  })

  test('each endpoint says whether it is configured; the price is that of a configured one', async () => {
    const data = objectOf((await bodyOf('/models/meta-llama/llama-3.3-70b-instruct/endpoints'))['data'])
    expect([...Value.Errors(modelEndpoints, data)]).toEqual([])
    const endpoints = listOf(data['endpoints'])
    expect(endpoints.filter((one) => one['is_configured']).map((one) => one['provider_name'])).toEqual([
      'Groq',
    ])
    expect(endpoints.length).toBeGreaterThan(5)
    const model = objectOf((await bodyOf('/model/meta-llama/llama-3.3-70b-instruct'))['data'])
    expect(model['pricing']).toMatchObject({ prompt: '0.00000059', completion: '0.00000079' })
  })

  test('models show their recommended parameters, voices and withdrawal where the catalogue knows them', async () => {
    const modelOf = async (id: string) => objectOf((await bodyOf(`/model/${id}`))['data'])
    expect(await modelOf('z-ai/glm-4.7')).toMatchObject({
      default_parameters: { temperature: 1, top_p: 0.95, top_k: null },
      supported_voices: null,
    })
    expect((await modelOf('openai/gpt-4o-mini-tts'))['supported_voices']).toContain('cedar')
    expect((await modelOf('google/gemini-2.5-flash-preview-tts'))['supported_voices']).toHaveLength(30)
    expect((await modelOf('x-ai/grok-3'))['expiration_date']).toBe('2026-05-15')
    expect(await modelOf('openai/gpt-4o-mini')).toMatchObject({
      default_parameters: null,
      supported_voices: null,
      expiration_date: null,
    })
  })

  test('what vendors publish is shown for each endpoint', async () => {
    const data = objectOf((await bodyOf('/models/openai/gpt-4o-mini/endpoints'))['data'])
    const shown = listOf(data['endpoints']).find((one) => one['provider_name'] === 'OpenAI')
    expect(shown?.['data_policy']).toEqual({ training: false, retention_days: 30, zdr: 'on_request' })
    const zdr = listOf((await bodyOf('/endpoints/zdr'))['data'])
    const names = new Set(zdr.map((one) => one['provider_name']))
    expect([...names].sort()).toEqual([
      'BaseTen',
      'Cerebras',
      'DeepInfra',
      'Fireworks',
      'OVHcloud AI Endpoints',
      'Perplexity',
      'Sluice',
      'Tinfoil',
      'Venice',
      'Weights & Biases',
    ])
  })

  test('filters and sorts cover all models', async () => {
    const body = await bodyOf('/models?providers=anthropic&sort=pricing-high-to-low')
    const ids = listOf(body['data']).map(({ id }) => String(id))
    expect(ids.length).toBeGreaterThan(5)
    expect(ids.every((id) => id.startsWith('anthropic/'))).toBe(true)
    const count = objectOf((await bodyOf('/models/count?output_modalities=all'))['data'])['count']
    expect(count).toBeGreaterThan(900)
  })

  test('the list of providers is complete too', async () => {
    const providers = listOf((await bodyOf('/providers'))['data'])
    const isOn = new Map(providers.map((one) => [one['slug'], one['is_configured']]))
    expect(isOn.get('groq')).toBe(true)
    expect(isOn.get('openai')).toBe(false)
  })

  test('only configured models are in /models/user and can be called', async () => {
    const body = await bodyOf('/models/user?limit=1000')
    expect(listOf(body['data']).every((model) => model['is_configured'] === true)).toBe(true)
    expect(listOf(body['data']).length).toBeLessThan(100)
    const messages = [{ role: 'user', content: 'Hello' }]
    const response = await gateway.call('/chat/completions', { model: 'openai/gpt-4o', messages })
    expect(response.status).toBe(404)
    expect(await response.text()).toContain('is known, but no provider that offers it is configured')
  })
})

test('by default a list has the models that can be called', async () => {
  const usual = await startGateway({ environment: { GROQ_API_KEY: 'k' } })
  try {
    const { data } = objectOf(await (await usual.call('/models?limit=1000')).json())
    expect(listOf(data).every((model) => model['is_configured'] === true)).toBe(true)
    expect((await usual.call('/model/openai/gpt-4o')).status).toBe(404)
  } finally {
    await usual.stop()
  }
})
