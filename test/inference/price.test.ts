import { describe, expect, test } from 'bun:test'
import { costNanoUsd, formatPrice, parsePrice, sayUsd } from '../../src/core/money.ts'
import { NO_USAGE, type Usage } from '../../src/core/usage.ts'
import {
  type CacheWriting,
  costOf,
  holdOf,
  type Kinds,
  outputBoundWithin,
  WORDS_ALONE,
} from '../../src/inference/price.ts'
import { pricing, usd } from './fixture.ts'

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
  test('amounts are said with at least two decimals and no exponent', () => {
    expect([0, 100_000_000, 12_500_000_000, 1, 123_000].map(sayUsd)).toEqual([
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

  test('large sums are exact', () => {
    expect(costNanoUsd([[9_007_199, parsePrice('0.999999999')]])).toBe(9_007_198_990_992_801)
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
    })
    const at = (writes?: CacheWriting, prices = written) => holdOf(prices, TEN, 0, { ...WORDS_ALONE, writes })
    expect(at()).toBe(10_000)
    expect(at('with-the-answer')).toBe(13_000)
    expect(at('apart')).toBe(14_000)
    // Without prices of their own they are the prompt's.
    expect(at('with-the-answer', pricing('0.000001', '0'))).toBe(10_000)
    expect(at('apart', pricing('0.000001', '0'))).toBe(20_000)
    const kinds: Kinds = { ...WORDS_ALONE, writes: 'apart' }
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
