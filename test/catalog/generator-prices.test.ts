import { describe, expect, test } from 'bun:test'
import { composeSeed } from '../../src/catalog/facts/compose.ts'
import { withContextCache } from '../../src/catalog/facts/context-cache.ts'
import type { FactModel } from '../../src/catalog/facts/document.ts'
import { perUnit, pricingOf } from '../../src/catalog/facts/prices.ts'
import { fact } from './fact.ts'

describe('the price of a Google context cache', () => {
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
      'a price in the facts wins',
      'gemini-2.5-flash',
      { input: 0.3, cache_read: 0.03, cache_write: 0.4 },
      '0.0000004',
    ],
    ['no price for cache reads', 'gemini-2.0-flash-lite', { input: 0.075 }, undefined],
    ['another vendor', 'gemma-3-27b', { input: 0.3, cache_read: 0.03 }, undefined],
    ['sound', 'gemini-2.5-flash-preview-tts', { input: 0.5, cache_read: 0.1 }, undefined],
  ])('%s', (_, id, cost, expected) => expect(written(id, cost)?.input_cache_write).toBe(expected))

  test('image models have none', () => {
    const paints = { output: ['text', 'image'] }
    expect(
      written('gemini-2.5-flash-image', { input: 0.3, cache_read: 0.03 }, paints)?.input_cache_write,
    ).toBeUndefined()
  })

  test.each(['tiers', 'context_over_200k'])('long prompts have their own price (%s)', (form) => {
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

  test('only Google’s own endpoints get it', () => {
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

  test('buckets, also under misspelled names', () => {
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

  test('without a complete cost there is no price; zero is a price', () => {
    expect(pricingOf(null)).toBeNull()
    expect(pricingOf({ input: 1 })).toBeNull()
    expect(pricingOf({ input: -1, output: 1 })).toBeNull()
    expect(pricingOf({ input: 0, output: 0 })).toEqual({ prompt: '0', completion: '0' })
  })

  test('tiers in order, from the first token over the limit; else the form with one tier', () => {
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

describe('the price of a cache write for an hour', () => {
  const claude = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 }
  const written = { prompt: '0.000003', completion: '0.000015', input_cache_read: '0.0000003' }
  const SONNET = 'anthropic.claude-sonnet-9-v1:0'
  const seedOf = (facts: string, models: FactModel[]) => composeSeed(new Map([[facts, models]]), [])
  /** The price of the model at this provider. */
  const priceOf = (facts: string, id: string, cost: FactModel['cost']): unknown => {
    const seed = seedOf(facts, [fact(id, { cost })])
    const [row] = seed.endpoints[facts]?.filter(([, upstreamId]) => upstreamId === id) ?? []
    return seed.pricings[row?.[7] ?? -1]
  }

  test.each([
    ['anthropic', 'claude-sonnet-9'],
    ['amazon-bedrock', SONNET],
    ['google-vertex', 'claude-sonnet-9@20270101'],
  ])('%s: twice the input price, if five minutes cost 1.25 times', (provider, id) => {
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

  test('each tier has its own', () => {
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

  test('each profile of Bedrock has its own', () => {
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
    ['another vendor', 'openrouter', 'anthropic/claude-sonnet-9'],
    ['another cloud', 'azure', 'claude-sonnet-9'],
    ['another model at Amazon', 'amazon-bedrock', 'amazon.nova-9-v1:0'],
    ['another model at Google', 'google-vertex', 'gemma-9'],
  ])('%s: not in the facts, so not added', (_, provider, id) => {
    expect(priceOf(provider, id, claude)).toEqual({ ...written, input_cache_write: '0.00000375' })
  })

  test('without a price of writes there is no price for an hour', () => {
    expect(priceOf('anthropic', 'claude-9', { input: 3, output: 15 })).toEqual({
      prompt: '0.000003',
      completion: '0.000015',
    })
    expect(priceOf('anthropic', 'claude-9', null)).toBeUndefined()
  })
})
