import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../src/core/events.ts'
import { readGoogleAccount } from '../../src/providers/google-account.ts'
import { vertex, vertexDialect } from '../../src/providers/vertex.ts'
import { providerOf } from './environment.ts'
import { makeKeyPair, outboundAt, tokenEndpointOfFile, verified } from './token-endpoint.ts'

const { endpoint, upstream } = tokenEndpointOfFile()
const folder = mkdtempSync(join(tmpdir(), 'sluice-vertex-'))
let account: JsonObject
let publicKey: CryptoKey
beforeAll(async () => {
  const pair = await makeKeyPair()
  publicKey = pair.publicKey
  account = {
    type: 'service_account',
    project_id: 'lab-1',
    private_key_id: 'key-1',
    private_key: pair.pem,
    client_email: 'gateway@lab-1.iam.gserviceaccount.com',
    token_uri: `${endpoint.url}/token`,
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const START = 1_700_000_000_000
const PLACE = { GOOGLE_CLOUD_PROJECT: 'lab-1', GOOGLE_CLOUD_LOCATION: 'us-central1' }
const BASE = 'https://us-central1-aiplatform.googleapis.com/v1/projects/lab-1/locations/us-central1'

const withAccount = () => ({ ...PLACE, GOOGLE_SERVICE_ACCOUNT_JSON: JSON.stringify(account) })

async function prepared(
  environment: Record<string, string>,
  path: string,
  body: JsonObject = {},
  headers: Record<string, string> = {},
) {
  const provider = providerOf(environment)
  const [credential] = provider.credentials
  if (credential === undefined) throw new Error('no credential')
  const outbound = outboundAt({ now: START }, upstream.send)
  const call = await vertex.prepare(provider, credential, { path, headers, body }, outbound)
  return { ...call, body: JSON.parse(String(call.body)) }
}

describe('paths', () => {
  test.each([
    [
      'gemini, streamed',
      '/models/gemini-3-pro:streamGenerateContent?alt=sse',
      `${BASE}/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse`,
    ],
    [
      'a model of another publisher',
      '/publishers/acme/models/x:generateContent',
      `${BASE}/publishers/acme/models/x:generateContent`,
    ],
    ['models that speak chat', '/chat/completions', `${BASE}/endpoints/openapi/chat/completions`],
  ])('%s', async (_, path, url) => {
    expect((await prepared(withAccount(), path)).url).toBe(url)
  })

  test.each([
    ['global', 'https://aiplatform.googleapis.com'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
    ['europe-west4', 'https://europe-west4-aiplatform.googleapis.com'],
  ])('the host of %s', (location, host) => {
    const { baseUrl } = providerOf({ ...withAccount(), GOOGLE_CLOUD_LOCATION: location })
    expect(baseUrl).toBe(`${host}/v1/projects/lab-1/locations/${location}`)
  })

  test.each([
    ['https://proxy.example/v1', 'https://proxy.example/v1/projects/lab-1/locations/us-central1'],
    ['https://proxy.example/v1/projects/a/locations/b/', 'https://proxy.example/v1/projects/a/locations/b'],
  ])('moved to %s', (address, baseUrl) => {
    expect(providerOf({ ...withAccount(), GOOGLE_VERTEX_BASE_URL: address }).baseUrl).toBe(baseUrl)
  })
})

describe('Claude', () => {
  const body = { model: 'claude-sonnet-4-5@20250929', max_tokens: 9, messages: [] }
  const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'b' }

  test('streamed: the model in the path, the version in the body', async () => {
    const call = await prepared(withAccount(), '/messages', { ...body, stream: true }, headers)
    expect(call.url).toBe(`${BASE}/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict`)
    expect(call.body).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 9,
      messages: [],
      stream: true,
    })
    expect(call.headers['anthropic-version']).toBeUndefined()
    expect(call.headers['anthropic-beta']).toBe('b')
  })

  test('at once', async () => {
    const call = await prepared(withAccount(), '/messages', body)
    expect(call.url).toEndWith('claude-sonnet-4-5@20250929:rawPredict')
  })

  test('the path for counting tokens is beside the models', async () => {
    const prompt = { model: 'claude-sonnet-4-5@20250929', messages: [] }
    const call = await prepared(withAccount(), '/messages/count_tokens', prompt)
    expect(call.url).toBe(`${BASE}/publishers/anthropic/models/count-tokens:rawPredict`)
    expect(call.body).toEqual({ anthropic_version: 'vertex-2023-10-16', ...prompt })
  })

  test('by its full name', async () => {
    const model = 'publishers/anthropic/models/claude-opus-4-5'
    const call = await prepared(withAccount(), '/messages', { ...body, model })
    expect(call.url).toBe(`${BASE}/publishers/anthropic/models/claude-opus-4-5:rawPredict`)
  })

  test('a name cannot lead elsewhere', async () => {
    const call = await prepared(withAccount(), '/messages', { ...body, model: '../x' })
    expect(call.url).toBe(`${BASE}/publishers/anthropic/models/..%2Fx:rawPredict`)
  })
})

test.each([
  ['gemini-3-pro', 'gemini'],
  ['claude-opus-4-5@20251101', 'messages'],
  ['publishers/anthropic/models/claude-opus-4-5', 'messages'],
  ['meta/llama-3.3-70b-instruct-maas', 'chat'],
] as const)('%s is spoken to in %s', (id, dialect) => expect(vertexDialect(id)).toBe(dialect))

test('the service tier is sent in headers', async () => {
  const path = '/models/gemini-3-pro:generateContent'
  const flex = await prepared(withAccount(), path, { serviceTier: 'flex', contents: [] })
  expect(flex.body).toEqual({ contents: [] })
  expect(flex.headers).toMatchObject({
    'x-vertex-ai-llm-request-type': 'shared',
    'x-vertex-ai-llm-shared-request-type': 'flex',
  })
  const standard = await prepared(withAccount(), path, { serviceTier: 'standard' })
  expect(standard.body).toEqual({})
  expect(standard.headers['x-vertex-ai-llm-request-type']).toBeUndefined()
})

test('a context cache names its model by its full path', async () => {
  const kept = { model: 'models/gemini-2.5-pro', contents: [], ttl: '300s' }
  const call = await prepared(withAccount(), '/cachedContents', kept)
  expect(call.url).toBe(`${BASE}/cachedContents`)
  const place = new URL(BASE).pathname.replace(/^\/v1\//, '')
  expect(call.body).toEqual({ ...kept, model: `${place}/publishers/google/models/gemini-2.5-pro` })
  const express = await prepared({ GOOGLE_VERTEX_API_KEY: 'secret-1' }, '/cachedContents', kept)
  expect(express.body).toEqual(kept)
})

test('ids of calls and results are left out: order and names identify them', async () => {
  const signed = { functionCall: { id: 'toolu_1', name: 'tide', args: {} }, thoughtSignature: 's' }
  const answered = { functionResponse: { id: 'toolu_1', name: 'tide', response: { output: '1' } } }
  const { body } = await prepared(withAccount(), '/models/gemini-3-pro:generateContent', {
    contents: [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [signed] },
      { role: 'user', parts: [answered] },
    ],
  })
  expect(body.contents).toEqual([
    { role: 'user', parts: [{ text: 'Hi' }] },
    { role: 'model', parts: [{ functionCall: { name: 'tide', args: {} }, thoughtSignature: 's' }] },
    { role: 'user', parts: [{ functionResponse: { name: 'tide', response: { output: '1' } } }] },
  ])
})

describe('accounts', () => {
  test('a service account signs its assertion and sends the token that it gets', async () => {
    const call = await prepared(withAccount(), '/models/m:generateContent')
    expect(call.headers['authorization']).toBe('Bearer token-1')
    expect(call.headers['x-goog-api-key']).toBeUndefined()
    const [asked, ...others] = endpoint.seen
    expect(others).toEqual([])
    expect(asked?.form['grant_type']).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const { header, claims } = await verified(asked?.form['assertion'] ?? '', publicKey)
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' })
    expect(claims).toEqual({
      iss: 'gateway@lab-1.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: `${endpoint.url}/token`,
      iat: START / 1000 - 30,
      exp: START / 1000 - 30 + 3600,
    })
  })

  test('of a file', async () => {
    const path = join(folder, 'account.json')
    writeFileSync(path, JSON.stringify(account))
    const environment = { ...PLACE, GOOGLE_APPLICATION_CREDENTIALS: path }
    expect((await prepared(environment, '/models/m:x')).headers['authorization']).toBe('Bearer token-1')
  })

  test('a user of gcloud', async () => {
    const user = {
      type: 'authorized_user',
      client_id: 'c',
      client_secret: 's',
      refresh_token: 'r',
      token_uri: `${endpoint.url}/token`,
    }
    const environment = { ...PLACE, GOOGLE_SERVICE_ACCOUNT_JSON: JSON.stringify(user) }
    expect((await prepared(environment, '/models/m:x')).headers['authorization']).toBe('Bearer token-1')
    expect(endpoint.seen[0]?.form).toEqual({
      grant_type: 'refresh_token',
      client_id: 'c',
      client_secret: 's',
      refresh_token: 'r',
    })
  })

  test('a key that cannot sign is a failure of the provider, and does not leak', async () => {
    const broken = { ...account, private_key: String(account.private_key).replace(/\n.{64}\n/, '\n') }
    const environment = { ...PLACE, GOOGLE_SERVICE_ACCOUNT_JSON: JSON.stringify(broken) }
    const error = await prepared(environment, '/models/m:x').catch((caught: unknown) => caught)
    expect(error).toMatchObject({ kind: 'credential' })
    expect(String(error)).not.toContain('MII')
    expect(endpoint.seen).toEqual([])
  })

  test('the express mode sends a key, without a project', async () => {
    const call = await prepared({ GOOGLE_VERTEX_API_KEY: 'secret-1' }, '/models/m:generateContent')
    expect(call.url).toBe('https://aiplatform.googleapis.com/v1/publishers/google/models/m:generateContent')
    expect(call.headers['x-goog-api-key']).toBe('secret-1')
    expect(call.headers['authorization']).toBeUndefined()
    expect(endpoint.seen).toEqual([])
  })

  test.each([
    ['{', /not JSON/],
    ['[]', /type/],
    ['{"type":"external_account"}', /type/],
    ['{"type":"service_account"}', /client_email/],
    ['{"type":"service_account","client_email":"a","private_key":"MIIhunter2"}', /private_key/],
    ['{"type":"authorized_user","client_id":"a"}', /refresh_token/],
    [
      '{"type":"authorized_user","client_id":"a","client_secret":"hunter2","refresh_token":"c","token_uri":"http://x.example"}',
      /token_uri/,
    ],
  ])('is rejected: %s', (text, says) => {
    const read = readGoogleAccount(text)
    const problem = 'problem' in read ? read.problem : 'none'
    expect(problem).toMatch(says)
    expect(problem).not.toContain('hunter2')
  })
})
