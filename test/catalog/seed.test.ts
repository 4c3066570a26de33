import { beforeAll, describe, expect, test } from 'bun:test'
import type { Catalog } from '../../src/catalog/catalog.ts'
import { createDirectory } from '../../src/catalog/directory.ts'
import { loadCatalog } from '../../src/catalog/store.ts'
import { formatPrice, type Price } from '../../src/core/money.ts'
import type { EndpointRecord, ModelDirectory } from '../../src/core/snapshot.ts'
import { vendors } from '../../src/providers/compatible.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { lackedParameters } from '../../src/providers/vendor-quirks.ts'
import { defaults } from '../providers/defaults.ts'

const MODALITIES = [
  'text',
  'image',
  'file',
  'audio',
  'video',
  'embeddings',
  'rerank',
  'ocr',
  'moderation',
  'speech',
  'transcription',
]
const PARAMETERS = (
  'temperature top_p top_k min_p top_a frequency_penalty presence_penalty repetition_penalty max_tokens ' +
  'max_completion_tokens logit_bias logprobs top_logprobs prediction seed response_format structured_outputs stop tools ' +
  'tool_choice parallel_tool_calls include_reasoning reasoning reasoning_effort web_search_options verbosity'
).split(' ')

let catalog: Catalog
let everything: ModelDirectory
beforeAll(() => {
  catalog = loadCatalog()
  const keys = Object.fromEntries(vendors.map(({ keys: [key] }) => [key, 'k']))
  const account = {
    CLOUDFLARE_ACCOUNT_ID: 'a',
    DATABRICKS_HOST: 'h.example',
    SNOWFLAKE_ACCOUNT: 's',
    AWS_REGION: 'us-east-1',
  }
  everything = createDirectory(catalog, environmentProviders({ ...keys, ...account }, defaults).providers, [])
})

const endpoints = (): EndpointRecord[] => everything.list().flatMap((model) => model.endpoints)
const perMillion = (price: Price | undefined): string | undefined =>
  price === undefined ? undefined : formatPrice(price * 1_000_000n)
const at = (id: string, provider: string): EndpointRecord | undefined =>
  everything.find(id)?.endpoints.find(({ providerSlug }) => providerSlug === provider)

describe('the complete seed', () => {
  test('hundreds of models at thousands of endpoints, of nearly every vendor', () => {
    expect(everything.list().length).toBeGreaterThan(800)
    expect(endpoints().length).toBeGreaterThan(2000)
    const text = endpoints().filter(({ outputModalities }) => outputModalities.includes('text'))
    // The seed knows a new vendor's models only after the next `scripts/catalog/build-seed.ts`.
    expect(new Set(text.map(({ providerSlug }) => providerSlug)).size).toBeGreaterThanOrEqual(67)
  })

  test('ids are author/slug, in order, once each', () => {
    const ids = catalog.models.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort())
    expect(ids.filter((id) => !/^[a-z0-9][a-z0-9-]*\/[a-z0-9][a-z0-9._+-]*(?::[a-z]+)?$/.test(id))).toEqual(
      [],
    )
  })

  test('every model is found by each of its names', () => {
    const lost = catalog.models.flatMap(({ id, canonical_slug, aliases }) =>
      [id, canonical_slug, ...aliases].filter((name) => catalog.named(name) === undefined),
    )
    expect(lost).toEqual([])
    expect(catalog.models.filter(({ id }) => catalog.named(id)?.id !== id).map(({ id }) => id)).toEqual([])
  })

  test('a provider has a model once', () => {
    const ids = endpoints().map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  test('names, dates and limits make sense', () => {
    const [from, to] = [Date.UTC(2020, 0) / 1000, Date.UTC(2027, 0) / 1000]
    expect(
      catalog.models.filter(({ created }) => created < from || created > to).map(({ id }) => id),
    ).toEqual([])
    expect(catalog.models.filter(({ name }) => !/\S/.test(name))).toEqual([])
    const wrong = endpoints().filter(({ contextLength, maxCompletionTokens }) =>
      [contextLength, maxCompletionTokens].some(
        (count) => count !== null && !(Number.isInteger(count) && count > 0),
      ),
    )
    expect(wrong).toEqual([])
  })

  test('modalities and parameters are known words', () => {
    const used = new Set(endpoints().flatMap((one) => [...one.inputModalities, ...one.outputModalities]))
    expect([...used].filter((name) => !MODALITIES.includes(name))).toEqual([])
    const parameters = new Set(endpoints().flatMap((one) => one.supportedParameters ?? []))
    expect([...parameters].filter((name) => !PARAMETERS.includes(name))).toEqual([])
  })

  test('prices are per token: below a thousand dollars a million, never negative', () => {
    const expensive = endpoints().filter(
      ({ pricing }) => pricing !== null && pricing.completion > 1_000_000_000_000_000n,
    )
    expect(expensive.map(({ id }) => id)).toEqual([])
    for (const { pricing } of endpoints()) {
      for (const price of Object.values(pricing ?? {}))
        if (typeof price === 'bigint') expect(price >= 0n).toBe(true)
    }
  })

  test('an unknown provider has nothing', () => {
    for (const slug of ['nobody', '__proto__', 'constructor', ''])
      expect(catalog.endpointsOf(slug, ['chat'])).toEqual([])
  })
})

describe('facts that are public', () => {
  test.each<
    [id: string, provider: string, prompt: string, completion: string, cacheRead: string | undefined]
  >([
    ['openai/gpt-4o-mini', 'openai', '0.15', '0.6', '0.075'],
    ['openai/gpt-5', 'openai', '1.25', '10', '0.125'],
    ['anthropic/claude-sonnet-4.5', 'anthropic', '3', '15', '0.3'],
    ['google/gemini-2.5-flash', 'google', '0.3', '2.5', '0.03'],
    ['meta-llama/llama-3.3-70b-instruct', 'groq', '0.59', '0.79', undefined],
  ])('%s at %s costs %s and %s a million', (id, provider, prompt, completion, cacheRead) => {
    const pricing = at(id, provider)?.pricing
    expect([perMillion(pricing?.prompt), perMillion(pricing?.completion)]).toEqual([prompt, completion])
    expect(perMillion(pricing?.inputCacheRead)).toBe(cacheRead)
  })

  test('long prompts have the higher price of the vendor', () => {
    expect(
      at('google/gemini-2.5-pro', 'google')?.pricing?.tiers?.map((tier) => [
        tier.minPromptTokens,
        perMillion(tier.prompt),
      ]),
    ).toEqual([[200_001, '2.5']])
  })

  test.each<[id: string, provider: string, minutes: string, hour: string | undefined]>([
    ['anthropic/claude-sonnet-4.5', 'anthropic', '3.75', '6'],
    ['anthropic/claude-haiku-4.5', 'anthropic', '1.25', '2'],
    ['anthropic/claude-opus-4.5', 'anthropic', '6.25', '10'],
    ['anthropic/claude-sonnet-4.5', 'amazon-bedrock', '3.75', '6'],
    // 1.2 times the input: the price for an hour is unknown.
    ['anthropic/claude-3-haiku-20240307', 'anthropic', '0.3', undefined],
    ['anthropic/claude-sonnet-4.5', 'openrouter', '3.75', undefined],
  ])('%s at %s: writing to the cache costs %p a million, for an hour %p', (id, provider, minutes, hour) => {
    const pricing = at(id, provider)?.pricing
    expect(perMillion(pricing?.inputCacheWrite)).toBe(minutes)
    expect(perMillion(pricing?.inputCacheWriteHour)).toBe(hour)
  })

  test('web searches have a price if the list of models has it', () => {
    expect(at('openai/gpt-5.5', 'openrouter')?.pricing?.webSearch).toBe(10_000_000_000_000_000n)
    expect(at('openai/gpt-5.5', 'openai')?.pricing?.webSearch).toBeUndefined()
  })

  test('an unknown price is not free', () => {
    expect(
      endpoints().some(({ providerSlug, pricing }) => providerSlug === 'ollama-cloud' && pricing !== null),
    ).toBe(false)
    expect(endpoints().some(({ pricing }) => pricing?.prompt === 0n)).toBe(true)
  })

  test('one model at all providers, under every spelling', () => {
    const served = (id: string): number => everything.find(id)?.endpoints.length ?? 0
    expect(served('openai/gpt-oss-120b')).toBeGreaterThan(20)
    expect(served('deepseek/deepseek-v4-pro')).toBeGreaterThan(10)
    for (const name of [
      'accounts/fireworks/models/deepseek-v4-pro',
      'deepseek-ai/DeepSeek-V4-Pro',
      'together/deepseek-ai/DeepSeek-V4-Pro',
    ]) {
      expect(everything.find(name)?.id).toBe('deepseek/deepseek-v4-pro')
    }
    expect(everything.find('gpt-oss:120b')?.id).toBe('openai/gpt-oss-120b')
    expect(everything.find('claude-sonnet-4-5')?.id).toBe('anthropic/claude-sonnet-4.5')
    expect(everything.find('anthropic/claude-4.5-sonnet-20250929')?.id).toBe('anthropic/claude-sonnet-4.5')
  })

  test('siblings stay apart', () => {
    for (const [left, right] of [
      ['moonshotai/kimi-k2.7-code', 'moonshotai/kimi-k2.7-code-highspeed'],
      ['openai/gpt-5', 'openai/gpt-5-mini'],
      ['qwen/qwen3-coder', 'qwen/qwen3-coder:free'],
    ] as const) {
      expect(everything.find(left)?.id).toBe(left)
      expect(everything.find(right)?.id).toBe(right)
    }
  })

  test('a model of another dialect is known, and not offered in chat', () => {
    const offered = (dialects: readonly ('chat' | 'responses')[]) =>
      catalog.endpointsOf('openai', dialects).find(({ modelId }) => modelId === 'openai/gpt-5-pro')
    expect(offered(['chat'])).toBeUndefined()
    expect(offered(['chat', 'responses'])?.dialects).toEqual(['responses'])
    expect(everything.isKnown('openai/gpt-5-pro')).toBe(true)
    expect(catalog.endpointsOf('cohere', ['chat']).map(({ upstreamId }) => upstreamId)).not.toContain(
      'rerank-v3.5',
    )
    expect(at('cohere/rerank-v3.5', 'cohere')).toMatchObject({ outputModalities: ['rerank'] })
  })

  test('parameters that a vendor never accepts are not listed for its models', () => {
    for (const [provider, lacked] of Object.entries(lackedParameters)) {
      const rows = endpoints().filter(({ providerSlug }) => providerSlug === provider)
      expect(rows.length).toBeGreaterThan(3)
      const taken = rows.flatMap(({ supportedParameters }) => supportedParameters ?? [])
      expect(taken.filter((name) => lacked.includes(name))).toEqual([])
    }
  })

  test('embedding models have the output embeddings', () => {
    expect(at('openai/text-embedding-3-small', 'openai')?.outputModalities).toEqual(['embeddings'])
  })
})
