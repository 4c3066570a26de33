import { describe, expect, test } from 'bun:test'
import type { Pricing } from '../../../src/core/snapshot.ts'
import { addedUsage, NO_USAGE, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { embeddingsIngress } from '../../../src/dialects/operations/embeddings.ts'
import { imagesIngress } from '../../../src/dialects/operations/images.ts'
import { rerankIngress } from '../../../src/dialects/operations/rerank.ts'
import { costOf, isPriced } from '../../../src/inference/admission/price.ts'
import { embeddings } from '../../../src/inference/operations/embeddings.ts'
import { imagesBound } from '../../../src/inference/operations/image-meter.ts'
import { rerank } from '../../../src/inference/operations/rerank.ts'
import { canOutput, formatRoute } from '../../../src/inference/routing/kinds.ts'
import { pricing, usd } from '../fixture.ts'

/** What is not counted in tokens: images, seconds, characters, search units. */

const free = (more: Partial<Pricing> = {}): Pricing => pricing('0', '0', more)

describe('the cost of things', () => {
  const rows: [name: string, usage: Partial<Usage>, prices: Pricing, nanoUsd: number][] = [
    ['one fee without units', {}, free({ request: usd('0.002') }), 2_000_000],
    ['a fee for each search unit', { searchUnits: 3 }, free({ request: usd('0.002') }), 6_000_000],
    ['no unit is one fee', { searchUnits: 0 }, free({ request: usd('0.002') }), 2_000_000],
    ['images', { images: 4 }, free({ image: usd('0.04') }), 160_000_000],
    [
      'images with a price each are not charged by their tokens too',
      { images: 1, imageOutputTokens: 1_000, inputTokens: 10 },
      pricing('0.000001', '0.00004', { image: usd('0.04') }),
      40_010_000,
    ],
    [
      'images by their tokens',
      { images: 1, imageOutputTokens: 1_000 },
      pricing('0.000001', '0.00004', { imageOutput: usd('0.00003') }),
      30_000_000,
    ],
    ['seconds with fractions', { audioSeconds: 2.345 }, free({ audioSecond: usd('0.0001') }), 234_500],
    ['seconds without a price', { audioSeconds: 9 }, free(), 0],
    ['characters', { inputCharacters: 7 }, free({ inputCharacter: usd('0.000015') }), 105_000],
  ]
  test.each(rows)('%s', (_, usage, prices, nanoUsd) => {
    expect(costOf({ ...NO_USAGE, ...usage }, prices).totalNanoUsd).toBe(nanoUsd)
  })

  test('the image price of a model that is spoken to is not charged', () => {
    const prices = pricing('0.000001', '0.000002', { image: usd('0.04') })
    expect(costOf({ ...NO_USAGE, inputTokens: 10, imageInputTokens: 5 }, prices).totalNanoUsd).toBe(15_000)
  })

  const priced: [name: string, prices: Partial<Pricing>, isPriced: boolean][] = [
    ['nothing', {}, false],
    ['images', { image: usd('0.01') }, true],
    ['seconds', { audioSecond: usd('0.01') }, true],
    ['characters at 0', { inputCharacter: 0n }, false],
    ['requests', { request: usd('0.01') }, true],
  ]
  test.each(priced)('a price for %s', (_, prices, expected) => {
    expect(isPriced(free(prices))).toBe(expected)
  })
})

describe('the most that a request can use', () => {
  const prices = free()
  const embed = (input: unknown) =>
    embeddings.bound(embeddingsIngress.parse({ model: 'm', input }, new Headers()), prices).inputTokens
  test('texts by their bytes, token ids by their count', () => {
    expect(embed('abcdef')).toBe(4)
    expect(embed(['abcdef', '四十二'])).toBe(4 + 5)
    expect(embed([1, 2, 3])).toBe(5)
    expect(embed([[1], [2, 3]])).toBe(3 + 4)
  })

  test('a ranking counts its query with each document, and long documents several times', () => {
    const asked = (documents: string[]) =>
      rerank.bound(rerankIngress.parse({ model: 'm', query: 'abc', documents }, new Headers()), prices)
    expect(asked(['abc', 'abc'])).toMatchObject({ inputTokens: 2 * (1 + 4 + 1), searchUnits: 1 })
    expect(asked(Array.from({ length: 101 }, () => 'a'))).toMatchObject({ searchUnits: 2 })
    expect(asked(Array.from({ length: 60 }, () => 'a'.repeat(2_000)))).toMatchObject({ searchUnits: 2 })
  })

  test('images by their number, quality and size', () => {
    const bound = (body: object) =>
      imagesBound(imagesIngress.parse({ model: 'm', prompt: 'a', ...body }, new Headers()))
    expect(bound({})).toMatchObject({ images: 1, imageOutputTokens: 6_400 })
    expect(bound({ quality: 'low', n: 3 })).toMatchObject({ images: 3, imageOutputTokens: 3 * 420 })
    expect(bound({ size: '4096x4096' }).imageOutputTokens).toBeGreaterThan(60_000)
    expect(bound({ size: '256x256' })).toMatchObject({ imageOutputTokens: 6_400 })
  })
})

test('usage of several replies is added, whichever of them reports it', () => {
  const left = { ...NO_USAGE, inputTokens: 3, cacheReadTokens: 1, providerCostUsd: 0.5 }
  const right = { ...NO_USAGE, inputTokens: 4, webSearchRequests: 2, providerCostUsd: 0.25 }
  expect(addedUsage(left, right)).toEqual({
    ...NO_USAGE,
    inputTokens: 7,
    cacheReadTokens: 1,
    webSearchRequests: 2,
    providerCostUsd: 0.75,
  })
})

test('passes that are charged apart are kept side by side', () => {
  const [one, two] = [NO_USAGE, { ...NO_USAGE, inputTokens: 9 }]
  const sum = addedUsage({ ...NO_USAGE, passes: [one] }, { ...NO_USAGE, passes: [two] })
  expect([sum.passes, promptTokens(sum)]).toEqual([[one, two], 0])
})

test('tokens cached for an hour are added, and not counted twice: they are a part of the cache writes', () => {
  const five = { ...NO_USAGE, cacheWriteTokens: 5 }
  const eight = { ...NO_USAGE, cacheWriteTokens: 8, cacheWriteHourTokens: 3 }
  const sums = [addedUsage(five, eight), addedUsage(eight, five), addedUsage(eight, eight)]
  expect(sums.map((sum) => [sum.cacheWriteTokens, sum.cacheWriteHourTokens, promptTokens(sum)])).toEqual([
    [13, 3, 13],
    [13, 3, 13],
    [16, 6, 16],
  ])
})

describe('which route serves a model', () => {
  const rows: [outputs: string[], route: string][] = [
    [['embeddings'], ': it is served by POST /embeddings'],
    [['rerank'], ': it is served by POST /rerank'],
    [['speech'], ': it is served by POST /audio/speech'],
    [['transcription'], ': it is served by POST /audio/transcriptions'],
    [['image'], ': it is served by POST /chat/completions or POST /images'],
    [['video'], ''],
  ]
  test.each(rows)('%j%s', (outputs, route) => {
    expect(formatRoute(outputs)).toBe(route)
  })
  test('a model with unknown outputs can be called on all routes', () => {
    expect(canOutput([], 'embeddings')).toBe(true)
    expect(canOutput(['text'], 'embeddings')).toBe(false)
  })
})
