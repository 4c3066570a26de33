import { describe, expect, test } from 'bun:test'
import { parsePrice } from '../../src/core/money.ts'
import { readEntries } from '../../src/providers/entries.ts'
import { defaults } from './defaults.ts'
import { readYaml } from './yaml-entries.ts'

describe('a complete entry', () => {
  const { providers, models, problems } = readYaml(
    `
providers:
  - slug: lab
    name: Lab
    dialect: chat
    base_url: http://127.0.0.1:9000/v1/
    api_key: \${LAB_KEY}
    models:
      - id: tiny
        upstream_id: tiny-\${SIZE}
        context_length: 128000
        max_completion_tokens: 8192
        architecture: { input_modalities: [text, image], output_modalities: [text] }
        supported_parameters: [tools, temperature]
        pricing:
          { prompt: "0.000001", completion: "0.000002", input_cache_read: "0.0000001", request: "0.01",
            image: "0.002", audio: "0.00001", internal_reasoning: "0.000003", web_search: "0.005",
            input_cache_write: "0.00000125", input_cache_write_1h: "0.000002", image_output: "0.04", audio_output: "0.00002" }
      - id: free
        pricing: { prompt: "0", completion: "0" }
      - id: unpriced
    timeouts: { first_byte_ms: 5000, between_bytes_ms: 6000, total_ms: 7000 }
    max_in_flight: 3
`,
    { LAB_KEY: 'secret', SIZE: '7b' },
  )

  test('has no problems', () => expect(problems).toEqual([]))

  test('makes a provider', () => {
    expect(providers).toEqual([
      {
        slug: 'lab',
        name: 'Lab',
        kind: 'compatible',
        dialect: 'chat',
        baseUrl: 'http://127.0.0.1:9000/v1',
        credentials: [{ id: 'lab', secret: 'secret' }],
        timeouts: { firstByteMs: 5000, betweenBytesMs: 6000, totalMs: 7000 },
        maxInFlight: 3,
        quirks: {},
        isLocal: true,
        declared: {},
      },
    ])
  })

  test('makes endpoints with exact prices', () => {
    expect(models.map(({ endpoint }) => endpoint.id)).toEqual(['lab/tiny', 'lab/free', 'lab/unpriced'])
    expect(models[0]?.endpoint).toEqual({
      id: 'lab/tiny',
      providerSlug: 'lab',
      modelId: 'tiny',
      upstreamId: 'tiny-7b',
      contextLength: 128_000,
      maxCompletionTokens: 8192,
      inputModalities: ['text', 'image'],
      outputModalities: ['text'],
      supportedParameters: ['tools', 'temperature'],
      pricing: {
        prompt: parsePrice('0.000001'),
        completion: parsePrice('0.000002'),
        inputCacheRead: parsePrice('0.0000001'),
        inputCacheWrite: parsePrice('0.00000125'),
        inputCacheWriteHour: parsePrice('0.000002'),
        request: parsePrice('0.01'),
        image: parsePrice('0.002'),
        imageOutput: parsePrice('0.04'),
        audio: parsePrice('0.00001'),
        audioOutput: parsePrice('0.00002'),
        internalReasoning: parsePrice('0.000003'),
        webSearch: parsePrice('0.005'),
      },
      quantization: null,
      isZdr: true,
    })
  })

  test('"0" is a price; without `pricing` the price is unknown', () => {
    expect(models[1]?.endpoint.pricing).toEqual({ prompt: 0n, completion: 0n, request: 0n })
    expect(models[2]?.endpoint.pricing).toBeNull()
  })

  test('absent fields are unknown', () => {
    expect(models[2]?.endpoint).toMatchObject({
      upstreamId: 'unpriced',
      contextLength: null,
      maxCompletionTokens: null,
      inputModalities: [],
      outputModalities: [],
      supportedParameters: null,
    })
  })
})

test.each([
  ['dialect: responses', 'responses', undefined],
  ['dialect: [chat]', 'chat', undefined],
  ['dialect: [responses, chat]', 'responses', ['chat']],
  ['dialect: [chat, responses, chat]', 'chat', ['responses']],
] as const)('%s', (written, dialect, alsoSpeaks) => {
  const { providers, problems } = readYaml(
    `providers: [{ slug: box, base_url: "https://box.example/v1", ${written} }]`,
  )
  expect(problems).toEqual([])
  expect(providers[0]?.dialect).toBe(dialect)
  expect(providers[0]?.alsoSpeaks).toEqual(alsoSpeaks)
})

test('the smallest entry has no key and no models, speaks chat and has the default timeouts', () => {
  const { providers, models, problems } = readYaml(
    'providers: [{ slug: box, base_url: "https://box.example/v1" }]',
  )
  expect(problems).toEqual([])
  expect(models).toEqual([])
  expect(providers[0]).toMatchObject({
    name: 'box',
    dialect: 'chat',
    credentials: [{ id: 'box', secret: null }],
    timeouts: defaults.timeouts,
    maxInFlight: defaults.maxInFlight,
    isLocal: false,
  })
})

test('a missing price is never silently free', () => {
  const { models, problems } = readYaml(`
providers:
  - slug: lab
    base_url: http://10.0.0.5/v1
    models:
      - { id: a, pricing: { prompt: "0.5" } }
      - { id: b, pricing: { request: "0.002" } }
      - { id: c, pricing: { completion: "0.002" } }
`)
  expect(models[0]?.endpoint.pricing?.completion).toBe(parsePrice('0.5'))
  expect(models[1]?.endpoint.pricing).toEqual({ prompt: 0n, completion: 0n, request: parsePrice('0.002') })
  expect(problems.map(({ path }) => path)).toEqual(['providers[0].models[2].pricing.prompt'])
  expect(models[0]?.endpoint.isZdr).toBe(false)
})

test('without a list there are no providers', () => {
  for (const value of [undefined, null, []]) {
    expect(readEntries(value, {}, defaults)).toEqual({ providers: [], models: [], problems: [] })
  }
})

test('prices of service tiers and hours that are not valid are named with their places', () => {
  const { problems } = readYaml(`
providers:
  - slug: lab
    base_url: http://10.0.0.5/v1
    models:
      - { id: a, pricing: { prompt: "0.5", service_tiers: { cheap: { prompt: "0.1" } } } }
      - { id: b, pricing: { prompt: "0.5", hours: [{ from: "8:00", until: "24:00", prices: {} }] } }
`)
  const place = (at: number) => `providers[0].models[${at}].pricing`
  expect(problems.map(({ path }) => path)).toEqual([
    `${place(0)}.service_tiers.cheap`,
    `${place(1)}.hours[0].from`,
    `${place(1)}.hours[0].until`,
  ])
  expect(problems.find(({ path }) => path.endsWith('cheap'))?.message).toContain('flex, priority, batch')
  expect(problems.find(({ path }) => path.endsWith('.from'))?.message).toBe(
    'must be a time in UTC in quotes, such as "16:30"',
  )
})

test('prices of service tiers and hours that are not prices are named with their places', () => {
  const { problems } = readYaml(`
providers:
  - slug: lab
    base_url: http://10.0.0.5/v1
    models:
      - { id: a, pricing: { prompt: "0.5", service_tiers: { flex: { prompt: "half" } } } }
      - { id: b, pricing: { prompt: "0.5", hours: [{ from: "08:00", until: "08:00", prices: { prompt: "-1" } }] } }
`)
  const place = (at: number) => `providers[0].models[${at}].pricing`
  expect(problems.map(({ path }) => path)).toEqual([
    `${place(0)}.service_tiers.flex.prompt`,
    `${place(1)}.hours[0]`,
    `${place(1)}.hours[0].prices.prompt`,
  ])
})
