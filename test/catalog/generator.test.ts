import { describe, expect, test } from 'bun:test'
import {
  dialectOf,
  inputOf,
  outputOf,
  parametersOf,
  reasoningOf,
} from '../../src/catalog/facts/capabilities.ts'
import { composeSeed } from '../../src/catalog/facts/compose.ts'
import { withContextCache } from '../../src/catalog/facts/context-cache.ts'
import type { FactModel } from '../../src/catalog/facts/document.ts'
import { createIdentities, type Identities, partsOf } from '../../src/catalog/facts/identity.ts'
import type { ListedModel } from '../../src/catalog/facts/listed.ts'
import { perUnit, pricingOf } from '../../src/catalog/facts/prices.ts'

const fact = (id: string, more: Partial<FactModel> = {}): FactModel => ({
  id,
  name: id,
  baseModel: null,
  releaseDate: '2025-01-01',
  updated: null,
  knowledge: null,
  reasoning: false,
  efforts: [],
  takesReasoningBudget: false,
  mayStopReasoning: false,
  takesTemperature: true,
  callsTools: false,
  structuredOutput: null,
  openWeights: false,
  input: ['text'],
  output: ['text'],
  context: 1000,
  maxOutput: 100,
  cost: null,
  deprecated: false,
  override: null,
  ...more,
})
const listing = (id: string, canonicalSlug: string, huggingFaceId: string | null = null): ListedModel => ({
  id,
  canonicalSlug,
  name: id,
  huggingFaceId,
  tokenizer: null,
  instructType: null,
  parameters: [],
  webSearch: null,
})

describe('the price of a context cache of Google', () => {
  const written = (id: string, cost: Record<string, unknown>, more: Partial<FactModel> = {}) =>
    pricingOf(withContextCache(fact(id, { cost: { output: 1, ...cost }, ...more })))

  test.each<[what: string, id: string, cost: Record<string, unknown>, expected: string | undefined]>([
    [
      'flash: input and a twelfth of a dollar',
      'gemini-2.5-flash',
      { input: 0.3, cache_read: 0.03 },
      '0.000000383333333333',
    ],
    ['lite too', 'gemini-3.1-flash-lite', { input: 0.25, cache_read: 0.025 }, '0.000000333333333333'],
    ['pro: input and three eighths', 'gemini-3.1-pro-preview', { input: 2, cache_read: 0.2 }, '0.000002375'],
    [
      'what the facts tell holds',
      'gemini-2.5-flash',
      { input: 0.3, cache_read: 0.03, cache_write: 0.4 },
      '0.0000004',
    ],
    ['nobody reads from a cache', 'gemini-2.0-flash-lite', { input: 0.075 }, undefined],
    ['another house', 'gemma-3-27b', { input: 0.3, cache_read: 0.03 }, undefined],
    ['sound', 'gemini-2.5-flash-preview-tts', { input: 0.5, cache_read: 0.1 }, undefined],
  ])('%s', (_, id, cost, expected) => expect(written(id, cost)?.input_cache_write).toBe(expected))

  test('of a model that paints there is none', () => {
    const paints = { output: ['text', 'image'] }
    expect(
      written('gemini-2.5-flash-image', { input: 0.3, cache_read: 0.03 }, paints)?.input_cache_write,
    ).toBeUndefined()
  })

  test.each(['tiers', 'context_over_200k'])('long prompts have a price of their own (%s)', (form) => {
    const over = { input: 2.5, output: 15, cache_read: 0.25 }
    const cost = {
      input: 1.25,
      cache_read: 0.125,
      ...(form === 'tiers' ? { tiers: [{ tier: { size: 200_000 }, ...over }] } : { context_over_200k: over }),
    }
    expect(written('gemini-2.5-pro', cost)).toMatchObject({
      input_cache_write: '0.000001625',
      tiers: [{ min_prompt_tokens: 200_001, prompt: '0.0000025', input_cache_write: '0.000002875' }],
    })
  })

  test('it is told of Google alone: others ask what they like', () => {
    const model = fact('gemini-2.5-flash', { cost: { input: 0.3, output: 2.5, cache_read: 0.03 } })
    const seed = composeSeed(
      new Map([
        ['google', [model]],
        ['vercel', [{ ...model, id: 'google/gemini-2.5-flash' }]],
      ]),
      [],
    )
    const writing = Object.entries(seed.endpoints).map(([slug, rows]) => [
      slug,
      rows.map((row) => (row[7] === null ? null : seed.pricings[row[7]]?.input_cache_write)),
    ])
    expect(Object.fromEntries(writing)).toMatchObject({
      google: ['0.000000383333333333'],
      vercel: [undefined],
    })
  })
})

describe('prices', () => {
  test.each<[value: unknown, power: number, expected: string | undefined]>([
    [1.25, 6, '0.00000125'],
    [0.075, 6, '0.000000075'],
    [10, 6, '0.00001'],
    [0, 6, '0'],
    [1e-7, 6, '0.0000000000001'],
    [3_000_000, 6, '3'],
    [12_345_678, 6, '12.345678'],
    [1e21, 6, '1000000000000000'],
    [0.8999999999999999, 6, '0.0000009'],
    [5, 3, '0.005'],
    [-1, 6, undefined],
    [Number.NaN, 6, undefined],
    ['1', 6, undefined],
    [undefined, 6, undefined],
  ])('%p by 10^%p is %p', (value, power, expected) => expect(perUnit(value, power)).toBe(expected))

  test('buckets, also under their wrong names', () => {
    expect(
      pricingOf({
        input: 1,
        output: 2,
        cache_input: 0.1,
        cached_write: 3,
        reasoning: 4,
        input_audio: 5,
        output_audio: 6,
      }),
    ).toEqual({
      prompt: '0.000001',
      completion: '0.000002',
      input_cache_read: '0.0000001',
      input_cache_write: '0.000003',
      internal_reasoning: '0.000004',
      audio: '0.000005',
      audio_output: '0.000006',
    })
    expect(pricingOf({ input: 1, output: 2, cached_input: 0.5, cache_read: 0.1 })?.input_cache_read).toBe(
      '0.0000001',
    )
  })

  test('no cost, or half of one, is no price; zero is one', () => {
    expect(pricingOf(null)).toBeNull()
    expect(pricingOf({ input: 1 })).toBeNull()
    expect(pricingOf({ input: -1, output: 1 })).toBeNull()
    expect(pricingOf({ input: 0, output: 0 })).toEqual({ prompt: '0', completion: '0' })
  })

  test('tiers in order, from the first token over; the one-tier form where there are none', () => {
    const over = { input: 9, output: 9 }
    expect(
      pricingOf({
        input: 1,
        output: 2,
        tiers: [
          { tier: { size: 256_000 }, input: 4, output: 8 },
          { tier: { type: 'context', size: 32_000 }, input: 2, cache_read: 0.2 },
          { tier: {}, input: 7 },
        ],
        context_over_200k: over,
      })?.tiers,
    ).toEqual([
      { min_prompt_tokens: 32_001, prompt: '0.000002', input_cache_read: '0.0000002' },
      { min_prompt_tokens: 256_001, prompt: '0.000004', completion: '0.000008' },
    ])
    expect(pricingOf({ input: 1, output: 2, context_over_200k: over })?.tiers).toEqual([
      { min_prompt_tokens: 200_001, prompt: '0.000009', completion: '0.000009' },
    ])
  })
})

describe('what writing to the prompt cache for an hour costs', () => {
  const claude = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 }
  const written = { prompt: '0.000003', completion: '0.000015', input_cache_read: '0.0000003' }
  const SONNET = 'anthropic.claude-sonnet-9-v1:0'
  const seedOf = (facts: string, models: FactModel[]) => composeSeed(new Map([[facts, models]]), [])
  /** The only price that one model has there. */
  const priceOf = (facts: string, id: string, cost: FactModel['cost']): unknown => {
    const seed = seedOf(facts, [fact(id, { cost })])
    const [row] = seed.endpoints[facts]?.filter(([, upstreamId]) => upstreamId === id) ?? []
    return seed.pricings[row?.[7] ?? -1]
  }

  test.each([
    ['anthropic', 'claude-sonnet-9'],
    ['amazon-bedrock', SONNET],
    ['google-vertex', 'claude-sonnet-9@20270101'],
  ])('%s: twice the input, where five minutes are 1.25 times', (provider, id) => {
    expect(priceOf(provider, id, claude)).toEqual({
      ...written,
      input_cache_write: '0.00000375',
      input_cache_write_1h: '0.000006',
    })
  })

  test.each<[input: number, write: number, hour: string | undefined]>([
    [0.8, 1, '0.0000016'],
    [1.1, 1.375, '0.0000022'],
    [0.33, 0.4125, '0.00000066'],
    [0.1, 0.125, '0.0000002'],
    [18.75, 23.4375, '0.0000375'],
    [0.25, 0.3, undefined],
    [3, 0.3, undefined],
    [3, 3.7500001, undefined],
    [3, 3, undefined],
    [3, 6, undefined],
  ])('input %p, five minutes %p: an hour %p', (input, cache_write, hour) => {
    expect(priceOf('anthropic', 'claude-sonnet-9', { input, output: 15, cache_write })).toEqual({
      prompt: perUnit(input, 6),
      completion: '0.000015',
      input_cache_write: perUnit(cache_write, 6),
      ...(hour === undefined ? {} : { input_cache_write_1h: hour }),
    })
  })

  test('each tier by its own prices', () => {
    const tier = (size: number, cost: object) => ({ tier: { type: 'context', size }, ...cost })
    const tiers = [
      tier(200_000, { input: 6, output: 22.5, cache_write: 7.5 }),
      tier(400_000, { input: 9, cache_write: 7.5 }),
      tier(600_000, { input: 12 }),
    ]
    expect(priceOf('google-vertex', 'claude-sonnet-9@default', { ...claude, tiers })).toMatchObject({
      input_cache_write_1h: '0.000006',
      tiers: [
        {
          min_prompt_tokens: 200_001,
          prompt: '0.000006',
          completion: '0.0000225',
          input_cache_write: '0.0000075',
          input_cache_write_1h: '0.000012',
        },
        { min_prompt_tokens: 400_001, prompt: '0.000009', input_cache_write: '0.0000075' },
        { min_prompt_tokens: 600_001, prompt: '0.000012' },
      ],
    })
    const { tiers: shown } = Object(priceOf('google-vertex', 'claude-sonnet-9@default', { ...claude, tiers }))
    expect(shown.map((one: object) => 'input_cache_write_1h' in one)).toEqual([true, false, false])
  })

  test('each profile of Bedrock by its own', () => {
    const eu = { input: 3.3, output: 16.5, cache_write: 4.125 }
    const us = { input: 3, output: 15, cache_write: 3 }
    const seed = seedOf('amazon-bedrock', [
      fact(`eu.${SONNET}`, { cost: eu }),
      fact(`us.${SONNET}`, { cost: us }),
      fact(`global.${SONNET}`, { cost: claude }),
    ])
    const [row] = seed.endpoints['amazon-bedrock']?.filter(([, id]) => id === SONNET) ?? []
    const hours = Object.entries(row?.[10] ?? {}).map(([profile, index]) => [
      profile,
      seed.pricings[index ?? -1]?.input_cache_write_1h,
    ])
    expect(Object.fromEntries(hours)).toEqual({ eu: '0.0000066', us: undefined, global: '0.000006' })
  })

  test.each([
    ['another house', 'openrouter', 'anthropic/claude-sonnet-9'],
    ['another cloud', 'azure', 'claude-sonnet-9'],
    ['another model at Amazon', 'amazon-bedrock', 'amazon.nova-9-v1:0'],
    ['another model at Google', 'google-vertex', 'gemini-9'],
  ])('%s: nobody told, and nothing is added', (_, provider, id) => {
    expect(priceOf(provider, id, claude)).toEqual({ ...written, input_cache_write: '0.00000375' })
  })

  test('no price of writes, or none at all, is none of an hour', () => {
    expect(priceOf('anthropic', 'claude-9', { input: 3, output: 15 })).toEqual({
      prompt: '0.000003',
      completion: '0.000015',
    })
    expect(priceOf('anthropic', 'claude-9', null)).toBeUndefined()
  })
})

describe('identity', () => {
  test.each<[upstreamId: string, author: string, bare: string, variant: string, quantization: string | null]>(
    [
      ['gpt-4o', 'openai', 'gpt-4o', '', null],
      ['meta-llama/Llama-3.3-70B-Instruct', 'meta-llama', 'llama-3.3-70b-instruct', '', null],
      ['meta/llama-3_3-70b-instruct', 'meta-llama', 'llama-3.3-70b-instruct', '', null],
      ['zai-org/GLM-5.1-FP8', 'z-ai', 'glm-5.1', '', 'fp8'],
      ['accounts/fireworks/models/glm-5p1', 'z-ai', 'glm-5.1', '', null],
      ['@cf/meta/llama-3.1-8b-instruct-fp8', 'meta-llama', 'llama-3.1-8b-instruct', '', 'fp8'],
      ['hf:moonshotai/Kimi-K2.6', 'moonshotai', 'kimi-k2.6', '', null],
      ['moonshotai/chat-completion/models/Kimi-K2_6', 'moonshotai', 'kimi-k2.6', '', null],
      ['gpt-oss:120b', 'openai', 'gpt-oss-120b', '', null],
      ['qwen/qwen3-coder:free', 'qwen', 'qwen3-coder', ':free', null],
      ['databricks-claude-opus-4-1', 'anthropic', 'claude-opus-4-1', '', null],
      ['moonshotai/Kimi-K2.5-TEE', 'moonshotai', 'kimi-k2.5', '', null],
      ['in-house-thing', 'fallback', 'in-house-thing', '', null],
    ],
  )('%s', (upstreamId, author, bare, variant, quantization) => {
    expect(partsOf(upstreamId, 'fallback')).toEqual({ author, bare, variant, quantization })
  })

  const identities = (): Identities =>
    createIdentities([
      listing('qwen/qwen3-coder', 'qwen/qwen3-coder-480b-a35b-07-25', 'Qwen/Qwen3-Coder-480B-A35B-Instruct'),
      listing(
        'qwen/qwen3-coder:free',
        'qwen/qwen3-coder-480b-a35b-07-25',
        'Qwen/Qwen3-Coder-480B-A35B-Instruct',
      ),
      listing('anthropic/claude-sonnet-4.5', 'anthropic/claude-4.5-sonnet-20250929'),
      listing('moonshotai/kimi-k2.7-code', 'moonshotai/kimi-k2.7-code-20260601'),
    ])

  test.each<[upstreamId: string, expected: string]>([
    ['Qwen/Qwen3-Coder-480B-A35B-Instruct', 'qwen/qwen3-coder'],
    ['qwen3-coder-480b-a35b-instruct', 'qwen/qwen3-coder'],
    ['qwen/qwen3-coder:free', 'qwen/qwen3-coder:free'],
    ['claude-sonnet-4-5', 'anthropic/claude-sonnet-4.5'],
    ['claude-4-5-sonnet', 'anthropic/claude-sonnet-4.5'],
    ['claude-sonnet-4-5-20250929', 'anthropic/claude-sonnet-4-5-20250929'],
    ['llama-3.3-70b-versatile', 'meta-llama/llama-3.3-70b-instruct'],
  ])('%s is %s', (upstreamId, expected) =>
    expect(identities().idOf(fact(upstreamId), 'somebody')).toBe(expected),
  )

  test('inheritance in the facts joins the same and not siblings', () => {
    const base = 'moonshotai/kimi-k2.7-code'
    expect(identities().idOf(fact('kimi-k2.7-code-tee', { baseModel: base }), 'x')).toBe(base)
    expect(identities().idOf(fact('moonshotai/K2.7-Code-Instruct', { baseModel: base }), 'x')).toBe(base)
    expect(identities().idOf(fact('kimi-k2.7-code-highspeed', { baseModel: base }), 'x')).toBe(
      `${base}-highspeed`,
    )
  })

  test('a model that nobody lists is the same at its second provider', () => {
    const known = identities()
    expect(known.idOf(fact('acme/Rocket-2.0'), 'one')).toBe('acme/rocket-2.0')
    expect(known.idOf(fact('acme/rocket-2-0'), 'two')).toBe('acme/rocket-2.0')
  })
})

describe('capabilities', () => {
  test('pdf is a file; embeddings, reranking and speech are told by name', () => {
    expect(inputOf(fact('a', { input: ['text', 'pdf', 'image'] }))).toEqual(['text', 'file', 'image'])
    expect(outputOf(fact('text-embedding-3-small'))).toEqual(['embeddings'])
    expect(outputOf(fact('BAAI/bge-m3'))).toEqual(['embeddings'])
    expect(outputOf(fact('rerank-v3.5'))).toEqual(['rerank'])
    expect(outputOf(fact('whisper-large-v3'))).toEqual(['transcription'])
    expect(outputOf(fact('gemini-2.5-flash-preview-tts'))).toEqual(['speech'])
    expect(outputOf(fact('gpt-5', { output: ['text', 'image'] }))).toEqual(['text', 'image'])
  })

  test('the list of parameters follows the listing, but for what the endpoint denies', () => {
    const listed = ['max_tokens', 'seed', 'tools', 'tool_choice']
    expect(parametersOf(fact('a', { callsTools: true }), listed)).toEqual([
      'max_tokens',
      'seed',
      'tool_choice',
      'tools',
    ])
    expect(parametersOf(fact('a'), listed)).toEqual(['max_tokens', 'seed'])
    expect(parametersOf(fact('a', { reasoning: true, structuredOutput: true }), listed)).toEqual([
      'include_reasoning',
      'max_tokens',
      'reasoning',
      'seed',
      'structured_outputs',
    ])
  })

  test('what is not known of an unlisted model is not denied', () => {
    const open = parametersOf(fact('a', { callsTools: true }), undefined)
    for (const name of ['logprobs', 'top_k', 'seed', 'stop', 'temperature']) expect(open).toContain(name)
    const closed = parametersOf(fact('a', { takesTemperature: false, structuredOutput: false }), undefined)
    for (const name of ['temperature', 'top_p', 'tools', 'structured_outputs', 'reasoning'])
      expect(closed).not.toContain(name)
  })

  test.each<[id: string, facts: Partial<FactModel>, mandatory: boolean]>([
    ['claude-sonnet-4-5', { takesReasoningBudget: true }, false],
    ['anthropic.claude-opus-4-7', { efforts: ['low', 'high'] }, false],
    ['claude-fable-5', { efforts: ['low', 'high'] }, true],
    ['gemini-2.5-pro', { takesReasoningBudget: true }, true],
    ['gemini-2.5-flash', { takesReasoningBudget: true, mayStopReasoning: true }, false],
    ['gpt-5', { efforts: ['minimal', 'low'] }, true],
    ['gpt-5.1', { efforts: ['none', 'low'] }, false],
  ])('%s with %p: reasoning is mandatory: %p', (id, facts, mandatory) => {
    expect(reasoningOf(fact(id, { reasoning: true, ...facts }))?.mandatory).toBe(mandatory)
  })

  test('models that their provider serves elsewhere are left out', () => {
    const override = (npm: string | null, api: string | null = null, shape: string | null = null) =>
      dialectOf(fact('a', { override: { npm, api, shape } }), 'x')
    expect(override('@ai-sdk/openai-compatible')).toBeNull()
    expect(override('@ai-sdk/anthropic')).toBe('messages')
    expect(override(null, null, 'responses')).toBe('responses')
    expect(override('@ai-sdk/google')).toBeUndefined()
    expect(override('@ai-sdk/openai-compatible', 'https://elsewhere.example')).toBeUndefined()
    expect(dialectOf(fact('gpt-5-pro'), 'openai')).toBe('responses')
    expect(dialectOf(fact('gpt-5.3-codex'), 'openai')).toBe('responses')
    expect(dialectOf(fact('gpt-5-mini'), 'openai')).toBeNull()
    expect(dialectOf(fact('grok-4.20-multi-agent-0309'), 'xai')).toBe('responses')
    expect(dialectOf(fact('grok-4.3'), 'xai')).toBeNull()
    expect(dialectOf(fact('gpt-5-pro'), 'poe')).toBeNull()
  })
})

describe('models that the facts lack', () => {
  const priced = (cost: FactModel['cost']) => {
    const seed = composeSeed(new Map([['openai', [fact('tts-1', { cost }), fact('gpt-4o')]]]), [])
    const rows = seed.endpoints['openai']?.filter(([, upstreamId]) => upstreamId === 'tts-1') ?? []
    return rows.map(([, , , , , output, , pricing]) => [
      seed.modalities[output],
      pricing === null ? null : seed.pricings[pricing],
    ])
  }

  test('are there with their price, whether nobody tells them or nobody their price', () => {
    const ours = [[['speech'], { prompt: '0', completion: '0', input_character: '0.000015' }]]
    expect(priced(null)).toEqual(ours)
    expect(priced({ input: 1, output: 2 })).toEqual([
      [['speech'], { prompt: '0.000001', completion: '0.000002' }],
    ])
    const { endpoints, pricings } = composeSeed(new Map(), [])
    const [, , , , , , , whisper] = endpoints['openai']?.find(([, id]) => id === 'whisper-1') ?? []
    expect(pricings[whisper ?? -1]).toEqual({ prompt: '0', completion: '0', audio_second: '0.0001' })
  })
})
