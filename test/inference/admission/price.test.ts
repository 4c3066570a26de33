import { describe, expect, test } from 'bun:test'
import { amountOf, formatPrice, formatUsd, parsePrice, roundedNanoUsd } from '../../../src/core/money.ts'
import type { Pricing, PricingTier } from '../../../src/core/pricing.ts'
import { NO_USAGE, type Usage } from '../../../src/core/usage.ts'
import {
  type CacheWriting,
  costOf,
  holdOf,
  type Kinds,
  outputBoundWithin,
  TEXT_ONLY,
} from '../../../src/inference/admission/price.ts'
import { pricing, usd } from '../fixture.ts'

const usage = (more: Partial<Usage>): Usage => ({ ...NO_USAGE, ...more })

describe('prices', () => {
  test.each(['0', '0.0000025', '1', '12.5', '0.000000000000000001', '999999999.999999999999999999'])(
    '%s survives reading and writing',
    (decimal) => expect(formatPrice(parsePrice(decimal))).toBe(decimal),
  )
  test.each(['', '-1', '+1', '1e-6', '.5', '1.', 'NaN', '0.0000000000000000001', ' 1', '0x1', '١'])(
    '%p is refused',
    (text) => expect(() => parsePrice(text)).toThrow(RangeError),
  )
  test('amounts are written with at least two decimals and no exponent', () => {
    expect([0, 100_000_000, 12_500_000_000, 1, 123_000].map(formatUsd)).toEqual([
      '$0.00',
      '$0.10',
      '$12.50',
      '$0.000000001',
      '$0.000123',
    ])
  })
})

describe('costs', () => {
  const table: [string, Usage, ReturnType<typeof pricing>, number][] = [
    [
      'prompt and completion',
      usage({ inputTokens: 10, outputTokens: 5 }),
      pricing('0.000001', '0.000002'),
      20_000,
    ],
    ['the request fee is added', usage({}), pricing('0', '0', { request: usd('0.005') }), 5_000_000],
    [
      'cached tokens at their own price',
      usage({ inputTokens: 10, cacheReadTokens: 100 }),
      pricing('0.000001', '0', { inputCacheRead: usd('0.0000001') }),
      20_000,
    ],
    [
      'cached tokens fall back to the prompt price',
      usage({ cacheReadTokens: 100 }),
      pricing('0.000001', '0'),
      100_000,
    ],
    [
      'written tokens fall back to the prompt price',
      usage({ cacheWriteTokens: 7 }),
      pricing('0.000001', '0'),
      7_000,
    ],
    [
      'reasoning at its own price',
      usage({ reasoningTokens: 10 }),
      pricing('0', '0.000001', { internalReasoning: usd('0.000003') }),
      30_000,
    ],
    [
      'a reasoning price of 0 means the completion price',
      usage({ reasoningTokens: 10 }),
      pricing('0', '0.000001', { internalReasoning: 0n }),
      10_000,
    ],
    [
      'half a nano-dollar is rounded up, once for the sum',
      usage({ inputTokens: 1, outputTokens: 1 }),
      pricing('0.00000000025', '0.00000000025'),
      1,
    ],
    ['a quarter is rounded down', usage({ inputTokens: 1 }), pricing('0.00000000025', '0'), 0],
    [
      'the tier that is reached holds for the whole prompt',
      usage({ inputTokens: 150_000, cacheReadTokens: 60_000 }),
      pricing('0.000001', '0', {
        tiers: [{ minPromptTokens: 200_000, prompt: usd('0.000002'), inputCacheRead: usd('0.000001') }],
      }),
      360_000_000,
    ],
  ]
  test.each(table)('%s', (_, used, prices, nanoUsd) => {
    expect(costOf(used, prices).totalNanoUsd).toBe(nanoUsd)
  })

  describe('what is written to a cache for an hour', () => {
    const claude = { inputCacheWrite: usd('0.00000375'), inputCacheWriteHour: usd('0.000006') }
    const long = {
      minPromptTokens: 200_001,
      prompt: usd('0.000006'),
      inputCacheWrite: usd('0.0000075'),
      inputCacheWriteHour: usd('0.000012'),
    }
    const rows: [what: string, written: number, hour: number, prices: Partial<Pricing>, nanoUsd: number][] = [
      ['at its own price, the rest at that of minutes', 100, 40, claude, 60 * 3_750 + 40 * 6_000],
      ['all of it', 40, 40, claude, 40 * 6_000],
      ['none of it', 40, 0, claude, 40 * 3_750],
      ['never more than was written', 10, 40, claude, 10 * 6_000],
      [
        'without a price of its own: as minutes',
        100,
        40,
        { inputCacheWrite: claude.inputCacheWrite },
        100 * 3_750,
      ],
      ['without either: as the prompt', 100, 40, {}, 100 * 3_000],
      [
        'with its own price alone',
        100,
        40,
        { inputCacheWriteHour: claude.inputCacheWriteHour },
        60 * 3_000 + 40 * 6_000,
      ],
      [
        'rounded once, with the rest',
        2,
        1,
        // Each alone would be rounded up, to 47 and 76.
        { inputCacheWrite: usd('0.0000000466'), inputCacheWriteHour: usd('0.0000000756') },
        122,
      ],
      [
        'below a tier: at the usual price',
        200_000,
        100_000,
        { ...claude, tiers: [long] },
        100_000 * 3_750 + 100_000 * 6_000,
      ],
      [
        'in a tier: at the price of the tier, whose length it counts to once',
        200_001,
        100_000,
        { ...claude, tiers: [long] },
        100_001 * 7_500 + 100_000 * 12_000,
      ],
    ]
    test.each(rows)('%s', (_, cacheWriteTokens, cacheWriteHourTokens, prices, nanoUsd) => {
      const used = usage({ cacheWriteTokens, cacheWriteHourTokens })
      expect(costOf(used, pricing('0.000003', '0', prices)).totalNanoUsd).toBe(nanoUsd)
    })

    test.each<[what: string, tier: Omit<PricingTier, 'minPromptTokens'>, nanoUsd: number]>([
      ['neither: both as without it', { prompt: usd('0.000006') }, 60 * 3_750 + 40 * 6_000],
      [
        'minutes alone, dearer than the hour was: the hour is no cheaper',
        { inputCacheWrite: long.inputCacheWrite },
        100 * 7_500,
      ],
      [
        'minutes alone, cheaper than the hour was: the hour stays',
        { inputCacheWrite: usd('0.000005') },
        60 * 5_000 + 40 * 6_000,
      ],
    ])('a tier tells %s', (_, tier, nanoUsd) => {
      const prices = pricing('0.000003', '0', { ...claude, tiers: [{ minPromptTokens: 1, ...tier }] })
      const used = usage({ cacheWriteTokens: 100, cacheWriteHourTokens: 40 })
      expect(costOf(used, prices).totalNanoUsd).toBe(nanoUsd)
    })

    test('it is a part of the prompt, and of what the cache saved or cost', () => {
      const prices = pricing('0.000003', '0', { ...claude, inputCacheRead: usd('0.0000003') })
      const used = usage({ cacheReadTokens: 100, cacheWriteTokens: 50, cacheWriteHourTokens: 20 })
      expect(costOf(used, prices)).toEqual({
        totalNanoUsd: 262_500,
        promptNanoUsd: 262_500,
        completionNanoUsd: 0,
        cacheDiscountNanoUsd: 450_000 - 262_500,
      })
      const written = usage({ cacheWriteTokens: 20, cacheWriteHourTokens: 20 })
      expect(costOf(written, prices).cacheDiscountNanoUsd).toBe(-60_000)
    })
  })

  test('the parts never exceed the whole', () => {
    const cost = costOf(usage({ inputTokens: 3, outputTokens: 3 }), pricing('0.0000000005', '0.0000000005'))
    expect(cost).toMatchObject({ totalNanoUsd: 3, promptNanoUsd: 2, completionNanoUsd: 1 })
  })

  test('the cache discount is what reading saved', () => {
    const prices = pricing('0.000001', '0', { inputCacheRead: usd('0.0000001') })
    expect(costOf(usage({ cacheReadTokens: 100 }), prices).cacheDiscountNanoUsd).toBe(90_000)
    expect(costOf(usage({ inputTokens: 100 }), prices).cacheDiscountNanoUsd).toBeNull()
  })

  test('what a call of its own wrote is charged as written and as read', () => {
    const prices = pricing('0.000001', '0', {
      inputCacheRead: usd('0.0000001'),
      inputCacheWrite: usd('0.0000013'),
      tiers: [{ minPromptTokens: 201, prompt: usd('0.000002') }],
    })
    // 200 tokens of prompt: to have been written and read makes it no longer, and no tier is reached.
    const used = usage({
      inputTokens: 50,
      cacheReadTokens: 50,
      cacheWriteTokens: 100,
      writtenApartTokens: 100,
    })
    expect(costOf(used, prices)).toMatchObject({
      totalNanoUsd: 50_000 + 5_000 + 130_000 + 10_000,
      cacheDiscountNanoUsd: 150_000 - 5_000 - 130_000 - 10_000,
    })
    const unpriced = pricing('0.000001', '0')
    expect(costOf(used, unpriced).totalNanoUsd).toBe(200_000 + 100_000)
  })

  test('further passes are charged at the rates of their own prompts', () => {
    const prices = pricing('0.000001', '0.000005', {
      tiers: [{ minPromptTokens: 1_000, prompt: usd('0.000002') }],
    })
    const passes = [usage({ inputTokens: 2_000, outputTokens: 30 }), usage({ inputTokens: 10 })]
    expect(costOf(usage({ inputTokens: 100, outputTokens: 7, passes }), prices)).toMatchObject({
      totalNanoUsd: 100_000 + 35_000 + 4_000_000 + 150_000 + 10_000,
      promptNanoUsd: 100_000 + 4_000_000 + 10_000,
    })
  })

  test('large sums are exact', () => {
    expect(roundedNanoUsd(amountOf(9_007_199, parsePrice('0.999999999')))).toBe(9_007_198_990_992_801)
  })
})

describe('holds', () => {
  const TEN = { text: 10, audio: 0, image: 0 }
  const prices = pricing('0.000001', '0.000002', {
    internalReasoning: usd('0.000004'),
    request: usd('0.001'),
  })
  test('the dearer of completion and reasoning, plus the fee', () => {
    expect(holdOf(prices, TEN, 100)).toBe(10_000 + 400_000 + 1_000_000)
  })
  test('sound and images at their own price where it is dearer', () => {
    const dear = pricing('0.000001', '0.000002', {
      audio: usd('0.00004'),
      imageInput: usd('0.0000005'),
      audioOutput: usd('0.00008'),
      imageOutput: usd('0.00003'),
    })
    const mixed = { text: 10, audio: 5, image: 7 }
    expect(holdOf(dear, mixed, 0)).toBe(10_000 + 5 * 40_000 + 7_000)
    expect(holdOf(dear, mixed, 100)).toBe(217_000 + 200_000)
    expect(holdOf(dear, mixed, 100, { audio: true, image: false })).toBe(217_000 + 8_000_000)
    expect(holdOf(dear, mixed, 100, { audio: false, image: true })).toBe(217_000 + 3_000_000)
    const both = { audio: true, image: true }
    const bound = outputBoundWithin(dear, mixed, 5_000_000, both)
    expect(holdOf(dear, mixed, bound, both)).toBeLessThanOrEqual(5_000_000)
    expect(holdOf(dear, mixed, bound + 1, both)).toBeGreaterThan(5_000_000)
  })
  test('a prompt that may be written to a cache, at the price of that where it is dearer', () => {
    const written = pricing('0.000001', '0.000002', {
      inputCacheRead: usd('0.0000001'),
      inputCacheWrite: usd('0.0000013'),
      inputCacheWriteHour: usd('0.000002'),
    })
    const at = (writes?: CacheWriting, prices = written) => holdOf(prices, TEN, 0, { ...TEXT_ONLY, writes })
    expect(at()).toBe(10_000)
    expect(at('for-minutes')).toBe(13_000)
    expect(at('for-an-hour')).toBe(20_000)
    expect(at('apart')).toBe(14_000)
    // Without prices of their own they are the prompt's.
    expect(at('for-minutes', pricing('0.000001', '0'))).toBe(10_000)
    expect(at('for-an-hour', pricing('0.000001', '0'))).toBe(10_000)
    expect(at('apart', pricing('0.000001', '0'))).toBe(20_000)
    const kinds: Kinds = { ...TEXT_ONLY, writes: 'apart' }
    const bound = outputBoundWithin(written, TEN, 50_000, kinds)
    expect(holdOf(written, TEN, bound, kinds)).toBeLessThanOrEqual(50_000)
    expect(holdOf(written, TEN, bound + 1, kinds)).toBeGreaterThan(50_000)
  })
  test('the largest bound that fits does fit, and one more token does not', () => {
    const bound = outputBoundWithin(prices, TEN, 5_000_000)
    expect(holdOf(prices, TEN, bound)).toBeLessThanOrEqual(5_000_000)
    expect(holdOf(prices, TEN, bound + 1)).toBeGreaterThan(5_000_000)
  })
  test('nothing fits when the prompt alone is too dear; everything when output is free', () => {
    expect(outputBoundWithin(prices, TEN, 1_000)).toBe(0)
    expect(outputBoundWithin(pricing('0', '0'), TEN, 0)).toBe(Number.POSITIVE_INFINITY)
  })
})
