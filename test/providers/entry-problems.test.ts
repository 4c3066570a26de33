import { describe, expect, test } from 'bun:test'
import { readEntries } from '../../src/providers/entries.ts'
import { defaults } from './defaults.ts'
import { readYaml } from './yaml-entries.ts'

describe('problems', () => {
  const entry = (more: string): string => `
providers:
  - slug: lab
    base_url: http://127.0.0.1:9000/v1
${more.replace(/^/gm, '    ')}`

  test.each<[name: string, yaml: string, path: string, message: RegExp]>([
    ['an unknown key', entry('colour: red'), 'providers[0].colour', /not a known key.*slug.*base_url/],
    [
      'an output modality that no route serves',
      entry('models: [{ id: a, architecture: { output_modalities: [text, Image] } }]'),
      'providers[0].models[0].architecture.output_modalities[1]',
      /one of text, image, audio/,
    ],
    [
      'an input modality in another case',
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
    [
      'tools for a server of another API',
      entry('dialect: [chat, messages]\ndelegate_tools: true'),
      'providers[0].delegate_tools',
      /chat, responses/,
    ],
    [
      'an unknown service tier',
      entry('account_tier: turbo'),
      'providers[0].account_tier',
      /one of flex, priority, batch, any/,
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
    ['models that are not a list', entry('models: tiny'), 'providers[0].models', /list of models/],
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
    [
      'a key that does not fit in a header',
      entry('api_key: "two words"'),
      'providers[0].api_key',
      /characters/,
    ],
    ['an entry that is not a mapping', 'providers: [3]', 'providers[0]', /a mapping/],
    ['no list', 'providers: { slug: a }', 'providers', /list of entries/],
  ])('%s', (_, yaml, path, message) => {
    const { problems } = readYaml(yaml, { BLANK: ' ' })
    expect(problems.map((problem) => problem.path)).toEqual([path])
    expect(problems[0]?.message).toMatch(message)
  })

  test('two entries with the same slug', () => {
    const { problems } = readYaml(
      'providers: [{ slug: a, base_url: "http://x.example" }, { slug: a, base_url: "http://y.example" }]',
    )
    expect(problems).toEqual([{ path: 'providers[1].slug', message: '"a" is taken by providers[0]' }])
  })

  test('all are reported at once', () => {
    const { problems } = readYaml(`
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

  test('no message repeats a secret', () => {
    const { problems } = readYaml(
      'providers: [{ slug: a, base_url: "http://me:hunter2@x.example", api_key: "hunter2 x" }]',
    )
    expect(problems).toHaveLength(2)
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })

  test('__proto__ is an unknown key like any other', () => {
    const value: unknown = JSON.parse('[{"slug":"a","base_url":"http://x.example","__proto__":{"name":"b"}}]')
    const { problems } = readEntries(value, {}, defaults)
    expect(problems.map(({ path }) => path)).toEqual(['providers[0].__proto__'])
  })
})
