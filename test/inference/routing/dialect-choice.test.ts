import { expect, test } from 'bun:test'
import { createDirectory } from '../../../src/catalog/directory.ts'
import { loadCatalog } from '../../../src/catalog/store.ts'
import type { DialectName } from '../../../src/core/events.ts'
import type { EndpointRecord, ProviderRecord } from '../../../src/core/snapshot.ts'
import { dialectFor } from '../../../src/inference/routing/dialect-choice.ts'
import { plan } from '../../../src/inference/routing/plan.ts'
import { environmentProviders } from '../../../src/providers/environment.ts'
import { defaults } from '../../providers/defaults.ts'
import { caller, directory, endpoint, model, provider, request, snapshot } from '../fixture.ts'

type Row = [
  what: string,
  provider: Partial<ProviderRecord>,
  endpoint: Partial<EndpointRecord>,
  caller: DialectName,
  spoken: DialectName,
]

const rows: Row[] = [
  ["the provider's own", {}, {}, 'chat', 'chat'],
  ['its own, where the caller speaks another', {}, {}, 'messages', 'chat'],
  [
    "the caller's, where the provider takes it too",
    { alsoSpeaks: ['responses'] },
    {},
    'responses',
    'responses',
  ],
  ['its first, where it takes others than the caller', { alsoSpeaks: ['responses'] }, {}, 'messages', 'chat'],
  ["the model's own, whatever the provider takes", {}, { dialects: ['responses'] }, 'chat', 'responses'],
  ["the caller's among the model's", {}, { dialects: ['messages', 'chat'] }, 'chat', 'chat'],
]

test.each(rows)('an endpoint is spoken to in %s', (_, ofProvider, ofEndpoint, dialect, spoken) => {
  const endpoints = [endpoint('lab', 'lab/tiny', ofEndpoint)]
  const { attempts } = plan({
    request: request({ dialect }),
    caller: caller(),
    snapshot: snapshot([provider('lab', ofProvider)], directory([model('lab/tiny', endpoints)])),
    now: 0,
    cooldownOf: () => null,
    random: () => 0.5,
  })
  expect(attempts.map((attempt) => attempt.dialect)).toEqual([spoken])
})

const able: [
  what: string,
  dialects: [DialectName, ...DialectName[]],
  able: DialectName[],
  spoken: DialectName | null,
][] = [
  ['the first, not the one that looks like the caller', ['gemini', 'chat'], ['gemini', 'chat'], 'gemini'],
  ['the first that can', ['messages', 'chat'], ['chat', 'gemini'], 'chat'],
  ['none', ['messages'], ['chat'], null],
]
test.each(able)('operations without a conversation are called in %s', (_, dialects, those, spoken) => {
  const endpoints = [endpoint('lab', 'lab/vec', { dialects, outputModalities: ['embeddings'] })]
  const planned = () =>
    plan({
      request: request({ apiType: 'embeddings', models: ['lab/vec'] }),
      caller: caller(),
      snapshot: snapshot([provider('lab')], directory([model('lab/vec', endpoints)])),
      now: 0,
      cooldownOf: () => null,
      refusal: (dialect) => (those.includes(dialect) ? null : 'cannot do that'),
      random: () => 0.5,
    })
  if (spoken === null) expect(planned).toThrow('LAB cannot do that')
  else expect(planned().attempts.map(({ dialect }) => dialect)).toEqual([spoken])
})

const known: [id: string, provider: string, spoken: DialectName][] = [
  ['openai/gpt-5.4', 'openai', 'responses'],
  ['openai/gpt-5.5', 'azure', 'responses'],
  ['openai/gpt-5.6-terra', 'openai', 'responses'],
  ['openai/gpt-6.1-sol', 'openai', 'responses'],
  ['x-ai/grok-4.7', 'xai', 'responses'],
  ['openai/o3', 'openai', 'responses'],
  ['openai/gpt-4.1', 'openai', 'chat'],
  ['openai/gpt-5-chat-latest', 'openai', 'chat'],
  ['deepseek/deepseek-v3.2', 'azure', 'chat'],
]
test.each(known)('a caller of chat reaches %s at %s', (id, slug, spoken) => {
  const environment = {
    OPENAI_API_KEY: 'k',
    XAI_API_KEY: 'k',
    AZURE_OPENAI_API_KEY: 'k',
    AZURE_OPENAI_ENDPOINT: 'https://lab.openai.azure.com',
  }
  const { providers } = environmentProviders(environment, defaults)
  const models = createDirectory(loadCatalog(), providers, [])
  const provider = providers.find((one) => one.slug === slug)
  const found = models.find(id)?.endpoints.find(({ providerSlug }) => providerSlug === slug)
  if (!provider || !found) throw new Error('the catalogue lacks it')
  const asked = { ...request({ dialect: 'chat' }), sampling: {}, tools: [] }
  expect(dialectFor({ request: asked }, provider, found)).toBe(spoken)
})

test('an Azure of an older version has no Responses', () => {
  const environment = {
    AZURE_OPENAI_API_KEY: 'k',
    AZURE_OPENAI_ENDPOINT: 'https://lab.openai.azure.com',
    AZURE_OPENAI_API_VERSION: '2024-10-21',
  }
  const { providers } = environmentProviders(environment, defaults)
  const asked = { ...request({ dialect: 'chat' }), sampling: {}, tools: [] }
  const [azure] = providers
  const at = endpoint('azure', 'openai/gpt-5.4', { upstreamId: 'gpt-5.4' })
  if (azure) expect(dialectFor({ request: asked }, azure, at)).toBe('chat')
  expect(azure?.slug).toBe('azure')
})
