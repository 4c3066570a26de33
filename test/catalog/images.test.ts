import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { t } from 'elysia'
import { imageEndpoint, imageModel } from '../../src/catalog/images/schema.ts'
import { isJsonObject, objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { providers } from './fixture.ts'

let gateway: Gateway
beforeAll(async () => {
  const easel = {
    slug: 'easel',
    base_url: 'https://easel.example.com/v1',
    models: [
      {
        id: 'painter/brush-2',
        architecture: { input_modalities: ['text'], output_modalities: ['image'] },
        pricing: { image: '0.04' },
        quantization: 'fp8',
      },
      {
        id: 'openai/gpt-image-1',
        architecture: { input_modalities: ['text', 'image'], output_modalities: ['image'] },
      },
    ],
  }
  gateway = await startGateway({
    providers: [...providers, easel],
    environment: { GEMINI_API_KEY: 'k', VERCEL_AI_GATEWAY_API_KEY: 'k' },
  })
})
afterAll(() => gateway.stop())

const bodyOf = async (path: string): Promise<Record<string, unknown>> => {
  const response = await gateway.call(path)
  return { status: response.status, ...objectOf(await response.json()) }
}
const listOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : []
const endpointsOf = async (model: string): Promise<Record<string, unknown>[]> =>
  listOf((await bodyOf(`/images/models/${model}/endpoints`))['endpoints'])

describe('GET /images/models', () => {
  test('has the image models, and nothing else, in the form of the API document', async () => {
    const { data } = await bodyOf('/images/models')
    expect([...Value.Errors(t.Array(imageModel), data)]).toEqual([])
    const models = listOf(data)
    const ids = models.map(({ id }) => id)
    expect(ids).toContain('painter/brush-2')
    expect(ids).toContain('google/gemini-2.5-flash-image')
    expect(ids).not.toContain('maker/small')
    expect(models.every((model) => JSON.stringify(model['architecture']).includes('"image"'))).toBe(true)
  })

  test('a model has the parameters of all its endpoints, and links to them', async () => {
    const models = listOf((await bodyOf('/images/models'))['data'])
    const brush = models.find(({ id }) => id === 'painter/brush-2')
    expect(brush).toMatchObject({
      supported_parameters: {
        n: { type: 'range', min: 1, max: 10 },
        seed: { type: 'boolean' },
        // At only one of the two providers.
        input_references: { type: 'range', min: 0, max: 16 },
        aspect_ratio: { type: 'enum', values: expect.arrayContaining(['1:1', '16:9']) },
      },
      supports_streaming: false,
      endpoints: '/api/v1/images/models/painter/brush-2/endpoints',
    })
    for (const { id, endpoints } of models) {
      const body = await bodyOf(String(endpoints).slice('/api/v1'.length))
      expect(body).toMatchObject({ status: 200, id })
      expect([...Value.Errors(t.Array(imageEndpoint), body['endpoints'])]).toEqual([])
    }
  })
})

describe('the endpoints of an image model', () => {
  test('each endpoint has its own parameters and billing units', async () => {
    expect(await endpointsOf('painter/brush-2')).toMatchObject([
      {
        provider_name: 'Cloud Nine',
        provider_slug: 'cloud',
        provider_tag: 'cloud',
        allowed_passthrough_parameters: [],
        is_configured: true,
        pricing: [
          { billable: 'output_image', unit: 'image', cost_usd: 0.01 },
          { billable: 'input_text', unit: 'token', cost_usd: 0.000005 },
          { billable: 'input_image', unit: 'token', cost_usd: 0.000005 },
        ],
      },
      {
        provider_slug: 'easel',
        provider_tag: 'easel/fp8',
        pricing: [{ billable: 'output_image', unit: 'image', cost_usd: 0.04 }],
      },
    ])
    const [, easel] = await endpointsOf('painter/brush-2')
    expect(Object.keys(objectOf(easel?.['supported_parameters']))).not.toContain('input_references')
  })

  test('the parameters of a family; without a price the list is empty', async () => {
    const endpoints = await endpointsOf('openai/gpt-image-1')
    const own = endpoints.find((one) => one['provider_slug'] === 'easel')
    expect(own).toMatchObject({
      supports_streaming: true,
      pricing: [],
      allowed_passthrough_parameters: ['input_fidelity', 'moderation', 'partial_images'],
      supported_parameters: {
        quality: { type: 'enum', values: ['auto', 'low', 'medium', 'high'] },
        background: { type: 'enum', values: ['auto', 'transparent', 'opaque'] },
        output_compression: { type: 'range', min: 0, max: 100 },
      },
    })
    expect(objectOf(own?.['supported_parameters'])['seed']).toBeUndefined()
  })

  test('a model with text output makes one image at a time and bills its tokens', async () => {
    const google = (await endpointsOf('google/gemini-2.5-flash-image')).find(
      (one) => one['provider_slug'] === 'google',
    )
    expect(google).toMatchObject({
      supports_streaming: true,
      supported_parameters: { n: { min: 1, max: 1 } },
      pricing: [
        { billable: 'output_image', unit: 'token', cost_usd: 0.00003 },
        { billable: 'output_text', unit: 'token', cost_usd: 0.0000025 },
        { billable: 'input_text', unit: 'token', cost_usd: 0.0000003 },
        { billable: 'input_image', unit: 'token', cost_usd: 0.0000003 },
      ],
    })
  })

  test.each([
    ['maker/small', /gives text and no images$/],
    ['painter/brush-3', /^There is no model "painter\/brush-3"\. The nearest names are painter\/brush-2/],
  ])('%s: 404', async (model, says) => {
    const { status, error } = await bodyOf(`/images/models/${model}/endpoints`)
    expect({ status, message: objectOf(error)['message'] }).toEqual({
      status: 404,
      message: expect.stringMatching(says),
    })
  })
})
