import { describe, expect, test } from 'bun:test'
import { readEntries } from '../../src/providers/entries.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { defaults } from './defaults.ts'

/** The settings that configure Azure and Vertex, and their problems. */

const USER = JSON.stringify({
  type: 'authorized_user',
  client_id: 'c',
  client_secret: 'hunter2',
  refresh_token: 'r',
})

describe('the environment', () => {
  test.each([
    ['a key without an address', { AZURE_OPENAI_API_KEY: 'k' }],
    ['an address without a credential', { AZURE_OPENAI_ENDPOINT: 'https://x.example' }],
    ['half a client', { AZURE_RESOURCE_NAME: 'lab', AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c' }],
    ['an account without a place', { GOOGLE_APPLICATION_CREDENTIALS: '/nowhere.json' }],
    ['an account without a location', { GOOGLE_SERVICE_ACCOUNT_JSON: USER, GOOGLE_CLOUD_PROJECT: 'lab' }],
    ['a place without an account', { GOOGLE_CLOUD_PROJECT: 'lab', GOOGLE_CLOUD_LOCATION: 'global' }],
    ['blanks', { AZURE_OPENAI_API_KEY: ' ', AZURE_RESOURCE_NAME: 'lab' }],
  ])('is not configured, without a problem: %s', (_, environment) => {
    expect(environmentProviders(environment, defaults)).toEqual({ providers: [], problems: [] })
  })

  const AZURE = { AZURE_OPENAI_API_KEY: 'k', AZURE_RESOURCE_NAME: 'lab' }
  const VERTEX = {
    GOOGLE_SERVICE_ACCOUNT_JSON: USER,
    GOOGLE_CLOUD_PROJECT: 'lab',
    GOOGLE_CLOUD_LOCATION: 'global',
  }
  test.each([
    ['AZURE_OPENAI_API_KEY', { ...AZURE, AZURE_OPENAI_API_KEY: 'hunter2 x' }],
    ['AZURE_RESOURCE_NAME', { ...AZURE, AZURE_RESOURCE_NAME: 'evil.example/hunter2' }],
    ['AZURE_OPENAI_ENDPOINT', { ...AZURE, AZURE_OPENAI_ENDPOINT: 'https://u:hunter2@x.example' }],
    ['AZURE_OPENAI_API_VERSION', { ...AZURE, AZURE_OPENAI_API_VERSION: 'hunter2' }],
    [
      'AZURE_TENANT_ID',
      {
        AZURE_RESOURCE_NAME: 'lab',
        AZURE_TENANT_ID: '../hunter2',
        AZURE_CLIENT_ID: 'c',
        AZURE_CLIENT_SECRET: 's',
      },
    ],
    [
      'AZURE_AUTHORITY_HOST',
      {
        AZURE_RESOURCE_NAME: 'lab',
        AZURE_TENANT_ID: 't',
        AZURE_CLIENT_ID: 'c',
        AZURE_CLIENT_SECRET: 's',
        AZURE_AUTHORITY_HOST: 'http://hunter2.example',
      },
    ],
    ['GOOGLE_CLOUD_PROJECT', { ...VERTEX, GOOGLE_CLOUD_PROJECT: 'hunter2/..' }],
    ['GOOGLE_VERTEX_LOCATION', { ...VERTEX, GOOGLE_VERTEX_LOCATION: 'hunter2.evil.example' }],
    ['GOOGLE_SERVICE_ACCOUNT_JSON', { ...VERTEX, GOOGLE_SERVICE_ACCOUNT_JSON: '{"hunter2"' }],
    [
      'GOOGLE_APPLICATION_CREDENTIALS',
      {
        GOOGLE_APPLICATION_CREDENTIALS: '/nowhere/hunter2.json',
        GOOGLE_CLOUD_PROJECT: 'lab',
        GOOGLE_CLOUD_LOCATION: 'global',
      },
    ],
    ['GOOGLE_VERTEX_API_KEY', { GOOGLE_VERTEX_API_KEY: 'hunter2 x' }],
    ['GOOGLE_VERTEX_BASE_URL', { GOOGLE_VERTEX_API_KEY: 'k', GOOGLE_VERTEX_BASE_URL: 'ftp://hunter2' }],
  ])('a problem of %s has its name, not its value', (path, environment) => {
    const { providers, problems } = environmentProviders(environment, defaults)
    expect(providers).toEqual([])
    expect(problems.map((problem) => problem.path)).toEqual([path])
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })
})

const read = (yaml: string, environment: Record<string, string> = {}) => {
  const parsed = Bun.YAML.parse(yaml)
  const providers = typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, 'providers') : null
  return readEntries(providers, environment, defaults)
}

describe('entries', () => {
  test('Azure, with a client of Entra from the environment', () => {
    const { providers, models, problems } = read(
      `
providers:
  - slug: my-azure
    name: My Azure
    azure:
      resource_name: lab
      api_version: 2025-04-01-preview
      tenant_id: t
      client_id: c
      client_secret: \${SECRET}
    models:
      - { id: openai/gpt-5, upstream_id: our-gpt }
`,
      { SECRET: 'hunter2' },
    )
    expect(problems).toEqual([])
    expect(providers[0]).toMatchObject({
      slug: 'my-azure',
      name: 'My Azure',
      kind: 'azure',
      dialect: 'chat',
      alsoSpeaks: ['responses'],
      baseUrl: 'https://lab.openai.azure.com/openai',
      apiVersion: '2025-04-01-preview',
      quirks: { outputBoundField: 'max_completion_tokens' },
    })
    expect(providers[0]?.credentials).toEqual([
      {
        id: 'my-azure',
        secret: null,
        entra: {
          tokenUrl: 'https://login.microsoftonline.com/t/oauth2/v2.0/token',
          clientId: 'c',
          clientSecret: 'hunter2',
          scope: 'https://cognitiveservices.azure.com/.default',
        },
      },
    ])
    expect(models[0]?.endpoint).toMatchObject({ modelId: 'openai/gpt-5', upstreamId: 'our-gpt' })
  })

  test('Azure, with a key, by its address, in the dialects that it names', () => {
    const { providers, problems } = read(`
providers:
  - slug: a
    base_url: https://lab.openai.azure.com
    api_key: k
    dialect: responses
    azure: {}
`)
    expect(problems).toEqual([])
    expect(providers[0]).toMatchObject({
      dialect: 'responses',
      alsoSpeaks: [],
      baseUrl: 'https://lab.openai.azure.com/openai/v1',
      credentials: [{ id: 'a', secret: 'k' }],
    })
  })

  test('government clouds have their own hosts', () => {
    const { providers } = read(`
providers:
  - slug: a
    base_url: https://lab.openai.azure.us
    azure: { tenant_id: t, client_id: c, client_secret: s, authority_host: login.microsoftonline.us }
`)
    expect(providers[0]?.credentials[0]?.entra).toMatchObject({
      tokenUrl: 'https://login.microsoftonline.us/t/oauth2/v2.0/token',
      scope: 'https://cognitiveservices.azure.us/.default',
    })
  })

  test('Vertex serves each model in the dialect of its maker', () => {
    const { providers, models, problems } = read(
      `
providers:
  - slug: v
    vertex: { project: lab, location: europe-west4, service_account: '\${ACCOUNT}' }
    models:
      - { id: google/gemini-3-pro, upstream_id: gemini-3-pro }
      - { id: anthropic/claude-sonnet-4.5, upstream_id: claude-sonnet-4-5@20250929 }
      - { id: llama, upstream_id: meta/llama-3.3-70b-instruct-maas }
`,
      { ACCOUNT: USER },
    )
    expect(problems).toEqual([])
    expect(providers[0]).toMatchObject({
      kind: 'vertex',
      dialect: 'gemini',
      baseUrl: 'https://europe-west4-aiplatform.googleapis.com/v1/projects/lab/locations/europe-west4',
      credentials: [{ id: 'v', secret: null, google: { type: 'authorized_user', clientSecret: 'hunter2' } }],
    })
    expect(models.map(({ endpoint }) => endpoint.dialects)).toEqual([['gemini'], ['messages'], ['chat']])
  })

  test('Vertex in express mode', () => {
    const { providers, problems } = read('providers: [{ slug: v, api_key: k, vertex: {} }]')
    expect(problems).toEqual([])
    expect(providers[0]).toMatchObject({
      baseUrl: 'https://aiplatform.googleapis.com/v1',
      credentials: [{ id: 'v', secret: 'k' }],
    })
    expect(providers[0]?.alsoSpeaks).toBeUndefined()
  })

  test.each([
    [
      'no address, no credential',
      'azure: {}',
      ['base_url', 'azure.tenant_id', 'azure.client_id', 'azure.client_secret'],
    ],
    [
      'half a client',
      'azure: { resource_name: lab, tenant_id: t }',
      ['azure.client_id', 'azure.client_secret'],
    ],
    ['a version', 'azure: { resource_name: lab, api_version: new }, api_key: k', ['azure.api_version']],
    ['a key that Azure has not', 'azure: { colour: red, resource_name: lab }, api_key: k', ['azure.colour']],
    ['nothing of Vertex', 'vertex: {}', ['vertex.project', 'vertex.location', 'vertex.credentials_file']],
    [
      'a file that is not there',
      'vertex: { project: lab, location: global, credentials_file: /nowhere.json }',
      ['vertex.credentials_file'],
    ],
    [
      'an invalid account',
      'vertex: { project: lab, location: global, service_account: "{}" }',
      ['vertex.service_account'],
    ],
    ['two clouds', 'azure: { resource_name: lab }, vertex: {}, api_key: k', ['vertex']],
  ])('every problem has its path: %s', (_, fields, paths) => {
    const { problems } = read(`providers: [{ slug: a, ${fields} }]`)
    expect(problems.map(({ path }) => path).sort()).toEqual(
      paths.map((path) => `providers[0].${path}`).sort(),
    )
  })
})
