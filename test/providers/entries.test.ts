import { describe, expect, test } from 'bun:test'
import { parsePrice } from '../../src/core/money.ts'
import { readEntries } from '../../src/providers/entries.ts'
import { defaults } from './defaults.ts'

const read = (yaml: string, environment: Record<string, string> = {}) => {
  const file: unknown = Bun.YAML.parse(yaml)
  if (typeof file !== 'object' || file === null || !('providers' in file))
    throw new Error('no providers in the test')
  return readEntries(file.providers, environment, defaults)
}

describe('a complete entry', () => {
  const { providers, models, problems } = read(
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

  test('"0" is a price; without pricing there is none', () => {
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
  const { providers, problems } = read(
    `providers: [{ slug: box, base_url: "https://box.example/v1", ${written} }]`,
  )
  expect(problems).toEqual([])
  expect(providers[0]?.dialect).toBe(dialect)
  expect(providers[0]?.alsoSpeaks).toEqual(alsoSpeaks)
})

test('the least entry: keyless, chat, the default clocks, no models', () => {
  const { providers, models, problems } = read(
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
  const { models, problems } = read(`
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

describe('problems', () => {
  const entry = (more: string): string => `
providers:
  - slug: lab
    base_url: http://127.0.0.1:9000/v1
${more.replace(/^/gm, '    ')}`

  test.each<[name: string, yaml: string, place: string, says: RegExp]>([
    ['an unknown key', entry('colour: red'), 'providers[0].colour', /not a known key.*slug.*base_url/],
    [
      'an output that no route serves',
      entry('models: [{ id: a, architecture: { output_modalities: [text, Image] } }]'),
      'providers[0].models[0].architecture.output_modalities[1]',
      /one of text, image, audio/,
    ],
    [
      'an input of another case',
      entry('models: [{ id: a, architecture: { input_modalities: [Text] } }]'),
      'providers[0].models[0].architecture.input_modalities[0]',
      /lower-case name/,
    ],
    [
      'an unknown key of a model',
      entry('models: [{ id: a, price: 1 }]'),
      'providers[0].models[0].price',
      /not a known key/,
    ],
    [
      'an unknown bucket',
      entry('models: [{ id: a, pricing: { prompt: "1", completion: "1", magic: "1" } }]'),
      'providers[0].models[0].pricing.magic',
      /not a known key.*internal_reasoning/,
    ],
    ['no slug', 'providers: [{ base_url: "http://x.example/v1" }]', 'providers[0].slug', /missing/],
    ['no address', 'providers: [{ slug: a }]', 'providers[0].base_url', /missing/],
    ['no id', entry('models: [{ upstream_id: a }]'), 'providers[0].models[0].id', /missing/],
    [
      'a slug in capitals',
      'providers: [{ slug: Lab, base_url: "http://x.example" }]',
      'providers[0].slug',
      /lower-case/,
    ],
    [
      'a slug with a slash',
      'providers: [{ slug: a/b, base_url: "http://x.example" }]',
      'providers[0].slug',
      /lower-case/,
    ],
    [
      'the slug of the demo',
      'providers: [{ slug: sluice, base_url: "http://x.example" }]',
      'providers[0].slug',
      /built-in/,
    ],
    ['an unknown dialect', entry('dialect: telepathy'), 'providers[0].dialect', /one of chat, responses/],
    [
      'a list with an unknown dialect',
      entry('dialect: [chat, telepathy]'),
      'providers[0].dialect',
      /or a list of them, the main one first/,
    ],
    ['no dialect at all', entry('dialect: []'), 'providers[0].dialect', /one of chat, responses/],
    ['no address', 'providers: [{ slug: a }]', 'providers[0].base_url', /is missing/],
    [
      'keys of AWS for another dialect',
      entry('dialect: chat\naws: { region: eu-west-1 }'),
      'providers[0].aws',
      /"converse"/,
    ],
    [
      'half of the keys of AWS',
      entry('dialect: converse\naws: { region: eu-west-1, access_key_id: AKIA }'),
      'providers[0].aws.secret_access_key',
      /is missing/,
    ],
    [
      'only the secret key',
      entry('dialect: converse\naws: { region: eu-west-1, secret_access_key: s }'),
      'providers[0].aws.access_key_id',
      /is missing/,
    ],
    [
      'keys of AWS without a region',
      entry('dialect: converse\naws: { access_key_id: AKIA, secret_access_key: s }'),
      'providers[0].aws.region',
      /signed for a region/,
    ],
    [
      'an invalid region',
      entry('dialect: converse\naws: { region: "eu.evil.example/" }'),
      'providers[0].aws.region',
      /such as us-east-1/,
    ],
    [
      'a key of AWS with a line break',
      entry('dialect: converse\naws: { region: eu-west-1, access_key_id: "A\\nB", secret_access_key: s }'),
      'providers[0].aws.access_key_id',
      /no credential has/,
    ],
    [
      'two kinds of credential',
      entry(
        'dialect: converse\napi_key: k\naws: { region: eu-west-1, access_key_id: A, secret_access_key: s }',
      ),
      'providers[0].api_key',
      /one of the two/,
    ],
    [
      'an address without scheme',
      'providers: [{ slug: a, base_url: "localhost/v1" }]',
      'providers[0].base_url',
      /http or https/,
    ],
    [
      'an address with a password',
      'providers: [{ slug: a, base_url: "http://u:p@x.example" }]',
      'providers[0].base_url',
      /API key/,
    ],
    [
      'a price as a number',
      entry('models: [{ id: a, pricing: { prompt: 0.000001, completion: "1" } }]'),
      'providers[0].models[0].pricing.prompt',
      /in quotes/,
    ],
    [
      'a price with an exponent',
      entry('models: [{ id: a, pricing: { prompt: "1e-6", completion: "1" } }]'),
      'providers[0].models[0].pricing.prompt',
      /"1e-6" is not a price/,
    ],
    [
      'a negative price',
      entry('models: [{ id: a, pricing: { prompt: "1", completion: "-1" } }]'),
      'providers[0].models[0].pricing.completion',
      /"-1" is not a price/,
    ],
    [
      'a negative number',
      entry('max_in_flight: -1'),
      'providers[0].max_in_flight',
      /whole number of at least 1/,
    ],
    [
      'a timeout of 0',
      entry('timeouts: { total_ms: 0 }'),
      'providers[0].timeouts.total_ms',
      /whole number of at least 1/,
    ],
    [
      'half a token',
      entry('models: [{ id: a, context_length: 1.5 }]'),
      'providers[0].models[0].context_length',
      /whole number/,
    ],
    [
      'a model twice',
      entry('models: [{ id: a }, { id: b }, { id: a }]'),
      'providers[0].models[2].id',
      /taken by providers\[0\]\.models\[0\]/,
    ],
    ['a blank id', entry('models: [{ id: " " }]'), 'providers[0].models[0].id', /not blank/],
    ['models that are no list', entry('models: tiny'), 'providers[0].models', /list of models/],
    ['an unset variable', entry('api_key: ${LAB_KEY}'), 'providers[0].api_key', /LAB_KEY is not set/],
    ['a blank variable', entry('api_key: ${BLANK}'), 'providers[0].api_key', /BLANK is not set/],
    [
      'a variable without a name',
      entry('api_key: ${}'),
      'providers[0].api_key',
      /name of one environment variable/,
    ],
    [
      'an unset variable in a model',
      entry('models: [{ id: "${WHICH}-7b" }]'),
      'providers[0].models[0].id',
      /WHICH is not set/,
    ],
    ['a key that no header carries', entry('api_key: "two words"'), 'providers[0].api_key', /characters/],
    ['an entry that is not a mapping', 'providers: [3]', 'providers[0]', /a mapping/],
    ['no list', 'providers: { slug: a }', 'providers', /list of entries/],
  ])('%s', (_, yaml, place, says) => {
    const { problems } = read(yaml, { BLANK: ' ' })
    expect(problems.map(({ path }) => path)).toEqual([place])
    expect(problems[0]?.message).toMatch(says)
  })

  test('two entries of one slug', () => {
    const { problems } = read(
      'providers: [{ slug: a, base_url: "http://x.example" }, { slug: a, base_url: "http://y.example" }]',
    )
    expect(problems).toEqual([{ path: 'providers[1].slug', message: '"a" is taken by providers[0]' }])
  })

  test('all are reported at once', () => {
    const { problems } = read(`
providers:
  - slug: LAB
    base_url: nowhere
    colour: red
    api_key: \${UNSET}
    models:
      - { id: a, pricing: { prompt: cheap, completion: 1 } }
      - { id: a, context_length: -3 }
  - dialect: converse
    base_url: ftp://x.example
`)
    expect(problems.map(({ path }) => path).sort()).toEqual([
      'providers[0].api_key',
      'providers[0].base_url',
      'providers[0].colour',
      'providers[0].models[0].pricing.completion',
      'providers[0].models[0].pricing.prompt',
      'providers[0].models[1].context_length',
      'providers[0].models[1].id',
      'providers[0].slug',
      'providers[1].base_url',
      'providers[1].slug',
    ])
  })

  test('no sentence repeats a secret', () => {
    const { problems } = read(
      'providers: [{ slug: a, base_url: "http://me:hunter2@x.example", api_key: "hunter2 x" }]',
    )
    expect(problems).toHaveLength(2)
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })

  test('a key like __proto__ is a key like any other', () => {
    const value: unknown = JSON.parse('[{"slug":"a","base_url":"http://x.example","__proto__":{"name":"b"}}]')
    const { problems } = readEntries(value, {}, defaults)
    expect(problems.map(({ path }) => path)).toEqual(['providers[0].__proto__'])
  })
})

test('no list at all is no providers', () => {
  for (const value of [undefined, null, []]) {
    expect(readEntries(value, {}, defaults)).toEqual({ providers: [], models: [], problems: [] })
  }
})
