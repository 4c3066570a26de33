import { expect, test } from 'bun:test'
import { azure } from '../../src/providers/azure.ts'
import { providerOf } from './environment.ts'
import { outboundAt, tokenEndpointOfFile } from './token-endpoint.ts'

const { endpoint, upstream } = tokenEndpointOfFile()

const KEY = { AZURE_OPENAI_API_KEY: 'secret-1' }
const ENTRA = {
  AZURE_TENANT_ID: 'tenant-1',
  AZURE_CLIENT_ID: 'client-1',
  AZURE_CLIENT_SECRET: 'hunter2',
  AZURE_AUTHORITY_HOST: endpoint.url,
}
const NAMED = { AZURE_RESOURCE_NAME: 'lab' }

async function prepared(environment: Record<string, string>, path: string, form?: FormData) {
  const provider = providerOf(environment)
  const [credential] = provider.credentials
  if (credential === undefined) throw new Error('no credential')
  const outbound = outboundAt({ now: 1_700_000_000_000 }, upstream.send)
  const call = { path, headers: {}, body: { model: 'my gpt', n: 1 }, ...(form ? { form } : {}) }
  return { credential, call: await azure.prepare(provider, credential, call, outbound) }
}

const HOST = 'https://lab.openai.azure.com'
const dated = { ...KEY, ...NAMED, AZURE_OPENAI_API_VERSION: '2024-10-21' }

test.each([
  ['v1', { ...KEY, ...NAMED }, '/chat/completions', `${HOST}/openai/v1/chat/completions`],
  ['v1, responses', { ...KEY, ...NAMED }, '/responses', `${HOST}/openai/v1/responses`],
  [
    'v1 by its name',
    { ...KEY, ...NAMED, AZURE_OPENAI_API_VERSION: 'v1' },
    '/embeddings',
    `${HOST}/openai/v1/embeddings`,
  ],
  [
    'v1, preview',
    { ...KEY, ...NAMED, AZURE_OPENAI_API_VERSION: 'preview' },
    '/chat/completions',
    `${HOST}/openai/v1/chat/completions?api-version=preview`,
  ],
  [
    'a dated version: the deployment is in the path',
    dated,
    '/chat/completions',
    `${HOST}/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21`,
  ],
  [
    'embeddings',
    dated,
    '/embeddings',
    `${HOST}/openai/deployments/my%20gpt/embeddings?api-version=2024-10-21`,
  ],
  ['responses know no deployment', dated, '/responses', `${HOST}/openai/responses?api-version=2024-10-21`],
  [
    'an endpoint as the portal shows it',
    { ...KEY, AZURE_OPENAI_ENDPOINT: 'https://lab.cognitiveservices.azure.com/' },
    '/chat/completions',
    'https://lab.cognitiveservices.azure.com/openai/v1/chat/completions',
  ],
  [
    'an endpoint as SDKs write it',
    { AZURE_API_KEY: 'secret-1', AZURE_OPENAI_BASE_URL: 'https://lab.services.ai.azure.com/openai/v1/' },
    '/chat/completions',
    'https://lab.services.ai.azure.com/openai/v1/chat/completions',
  ],
  [
    'an endpoint of an SDK, and a version',
    { ...dated, AZURE_OPENAI_ENDPOINT: 'https://proxy.example/azure/openai' },
    '/chat/completions',
    'https://proxy.example/azure/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21',
  ],
  [
    'Claude, of Foundry',
    { ...KEY, AZURE_OPENAI_ENDPOINT: 'https://lab.services.ai.azure.com' },
    '/messages',
    'https://lab.services.ai.azure.com/anthropic/v1/messages',
  ],
  [
    'tokens of Claude are counted there too',
    dated,
    '/messages/count_tokens',
    `${HOST}/anthropic/v1/messages/count_tokens`,
  ],
  ['Claude knows no version of the API', dated, '/messages', `${HOST}/anthropic/v1/messages`],
] as const)('%s', async (_, environment, path, url) => {
  const { call } = await prepared(environment, path)
  expect(call.url).toBe(url)
  expect(call.headers['api-key']).toBe('secret-1')
  expect(call.headers['authorization']).toBeUndefined()
  expect(JSON.parse(String(call.body))).toEqual({ model: 'my gpt', n: 1 })
})

test('the deployment of a form is its model', async () => {
  const form = new FormData()
  form.set('model', 'whisper')
  const { call } = await prepared(dated, '/audio/transcriptions', form)
  expect(call.url).toBe(`${HOST}/openai/deployments/whisper/audio/transcriptions?api-version=2024-10-21`)
  expect(call.body).toBe(form)
})

test('a name of a deployment cannot lead elsewhere', async () => {
  const provider = providerOf(dated)
  const [credential] = provider.credentials
  if (credential === undefined) throw new Error('no credential')
  const call = { path: '/chat/completions', headers: {}, body: { model: '../../x' } }
  const { url } = await azure.prepare(provider, credential, call)
  expect(new URL(url).pathname).toBe('/openai/deployments/..%2F..%2Fx/chat/completions')
})

test('an Entra client gets a token, which is stored', async () => {
  const { call } = await prepared({ ...ENTRA, ...NAMED }, '/chat/completions')
  expect(call.headers['authorization']).toBe('Bearer token-1')
  expect(call.headers['api-key']).toBeUndefined()
  expect(endpoint.seen).toEqual([
    {
      path: '/tenant-1/oauth2/v2.0/token',
      form: {
        grant_type: 'client_credentials',
        client_id: 'client-1',
        client_secret: 'hunter2',
        scope: 'https://cognitiveservices.azure.com/.default',
      },
    },
  ])
  expect(JSON.stringify(call)).not.toContain('hunter2')
})

test('the token of one credential is used for all calls until the provider rejects it', async () => {
  const provider = providerOf({ ...ENTRA, ...NAMED })
  const [credential] = provider.credentials
  if (credential === undefined) throw new Error('no credential')
  const outbound = outboundAt({ now: 1_700_000_000_000 }, upstream.send)
  const call = { path: '/chat/completions', headers: {}, body: {} }
  const shown = async () =>
    (await azure.prepare(provider, credential, call, outbound)).headers['authorization']
  expect(await shown()).toBe('Bearer token-1')
  expect(await shown()).toBe('Bearer token-1')
  outbound.tokens.forget(credential)
  expect(await shown()).toBe('Bearer token-2')
})

test('a key comes before a client', async () => {
  const { credential } = await prepared({ ...ENTRA, ...KEY, ...NAMED }, '/responses')
  expect(credential).toEqual({ id: 'AZURE_OPENAI_API_KEY', secret: 'secret-1' })
})

test.each([
  [{}, { outputBoundField: 'max_completion_tokens' }],
  [{ AZURE_OPENAI_API_VERSION: '2024-10-21' }, { outputBoundField: 'max_completion_tokens' }],
  [{ AZURE_OPENAI_API_VERSION: '2024-02-01' }, { outputBoundField: 'max_tokens', streamOptions: false }],
] as const)('what version %p knows', (version, quirks) => {
  expect(providerOf({ ...KEY, ...NAMED, ...version }).quirks).toMatchObject(quirks)
})

test('it speaks chat and Responses', () => {
  const provider = providerOf({ ...KEY, ...NAMED })
  expect(provider).toMatchObject({ slug: 'azure', kind: 'azure', dialect: 'chat', alsoSpeaks: ['responses'] })
})
