import { beforeAll, expect, test } from 'bun:test'
import { createDirectory } from '../../src/catalog/directory.ts'
import { dialectOf } from '../../src/catalog/facts/capabilities.ts'
import { loadCatalog } from '../../src/catalog/store.ts'
import { pricingView } from '../../src/catalog/view.ts'
import type { EndpointRecord, ModelDirectory } from '../../src/core/snapshot.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { defaults } from '../providers/defaults.ts'
import { fact } from './fact.ts'

/** The models at Azure and Vertex, and their dialects. */

const AZURE = { AZURE_OPENAI_API_KEY: 'k', AZURE_RESOURCE_NAME: 'lab' }
const USER = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' }
const VERTEX = {
  GOOGLE_SERVICE_ACCOUNT_JSON: JSON.stringify(USER),
  GOOGLE_CLOUD_PROJECT: 'lab',
  GOOGLE_CLOUD_LOCATION: 'global',
}
const directoryOf = (environment: Record<string, string>): ModelDirectory =>
  createDirectory(loadCatalog(), environmentProviders(environment, defaults).providers, [])

let clouds: ModelDirectory
beforeAll(() => {
  clouds = directoryOf({ ...AZURE, ...VERTEX })
})
const at = (id: string, provider: string): EndpointRecord | undefined =>
  clouds.find(id)?.endpoints.find(({ providerSlug }) => providerSlug === provider)

test.each([
  ['openai/gpt-5', 'azure', 'gpt-5', undefined],
  ['openai/gpt-5-pro', 'azure', 'gpt-5-pro', ['responses']],
  ['x-ai/grok-4.1-fast-reasoning', 'azure', 'grok-4-1-fast-reasoning', undefined],
  ['google/gemini-2.5-pro', 'google-vertex', 'gemini-2.5-pro', ['gemini']],
  ['anthropic/claude-sonnet-4.5', 'google-vertex', 'claude-sonnet-4-5@20250929', ['messages']],
  ['anthropic/claude-opus-4.6', 'google-vertex', 'claude-opus-4-6@default', ['messages']],
  ['z-ai/glm-5', 'google-vertex', 'zai-org/glm-5-maas', ['chat']],
])('%s at %s', (id, provider, upstreamId, dialects) => {
  const endpoint = at(id, provider)
  expect(endpoint?.upstreamId).toBe(upstreamId)
  expect<unknown>(endpoint?.dialects).toEqual(dialects)
  expect(endpoint?.pricing).not.toBeNull()
})

test('Claude at Vertex: writing to the prompt cache for an hour is twice the input, for long prompts too', () => {
  const pricing = at('anthropic/claude-opus-4.6', 'google-vertex')?.pricing ?? null
  expect(pricingView(pricing)).toMatchObject({
    prompt: '0.000005',
    input_cache_write: '0.00000625',
    input_cache_write_1h: '0.00001',
    overrides: [
      {
        min_prompt_tokens: 200_001,
        prompt: '0.00001',
        input_cache_write: '0.0000125',
        input_cache_write_1h: '0.00002',
      },
    ],
  })
})

test('the express mode offers only models of Google', () => {
  const express = directoryOf({ GOOGLE_VERTEX_API_KEY: 'k' })
  expect(express.list().length).toBeGreaterThan(5)
  expect(express.list().map(({ id }) => id.split('/')[0])).toEqual(express.list().map(() => 'google'))
})

test.each<[id: string, npm: string | null, api: string | null, provider: string, dialect: unknown]>([
  ['gemini-9', null, null, 'google-vertex', 'gemini'],
  ['claude-9@default', '@ai-sdk/google-vertex/anthropic', null, 'google-vertex', 'messages'],
  ['a/b', '@ai-sdk/openai-compatible', 'https://x/endpoints/openapi', 'google-vertex', 'chat'],
  ['gemini-embedding-9', null, null, 'google-vertex', 'gemini'],
  ['gpt-9', null, null, 'azure', null],
  ['gpt-9-codex', null, null, 'azure', 'responses'],
  ['deepseek-v9-pro', null, null, 'azure', null],
  ['kimi', '@ai-sdk/openai-compatible', 'https://x.services.ai.azure.com/models', 'azure', null],
  ['claude', '@ai-sdk/anthropic', 'https://x.services.ai.azure.com/anthropic/v1', 'azure', undefined],
])('%s (%p, %p) at %s: %p', (id, npm, api, provider, dialect) => {
  const override = npm === null && api === null ? null : { npm, api, shape: null }
  expect<unknown>(dialectOf(fact(id, { override }), provider)).toBe(dialect)
})
