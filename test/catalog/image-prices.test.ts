import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { withImageOutput } from '../../src/catalog/facts/image-prices.ts'
import { loadCatalog } from '../../src/catalog/store.ts'
import { formatPrice } from '../../src/core/money.ts'
import { readUsage } from '../../src/dialects/gemini/usage.ts'
import { costOf, holdOf } from '../../src/inference/admission/price.ts'
import { FIXTURES } from '../recordings.ts'

const catalog = loadCatalog()
const pricingOf = (provider: string, upstreamId: string) => {
  const endpoint = catalog
    .endpointsOf(provider, ['chat', 'gemini'])
    .find((candidate) => candidate.upstreamId === upstreamId)
  if (!endpoint?.pricing) throw new Error(`${provider} has no price for ${upstreamId}`)
  return endpoint.pricing
}

describe("Gemini's image models", () => {
  test.each([
    ['google', 'gemini-2.5-flash-image', '0.0000025', '0.00003'],
    ['google', 'gemini-3-pro-image', '0.000012', '0.00012'],
    ['google', 'gemini-3-pro-image-preview', '0.000012', '0.00012'],
    ['google', 'gemini-3.1-flash-image', '0.000003', '0.00006'],
    ['google', 'gemini-3.1-flash-image-preview', '0.000003', '0.00006'],
    ['google', 'gemini-3.1-flash-lite-image', '0.0000015', '0.00003'],
    ['openrouter', 'google/gemini-3-pro-image', '0.000012', '0.00012'],
    ['vercel', 'google/gemini-3.1-flash-image', '0.000003', '0.00006'],
  ])('%s %s: text at %s, images at %s', (provider, upstreamId, text, image) => {
    const { completion, imageOutput } = pricingOf(provider, upstreamId)
    expect([formatPrice(completion), formatPrice(imageOutput ?? 0n)]).toEqual([text, image])
  })

  test('text, thoughts and images of one reply each cost their own price', async () => {
    const recorded = await Bun.file(join(FIXTURES, 'gemini', 'image.sse')).text()
    const last = recorded.split('\n').findLast((line) => line.includes('usageMetadata')) ?? ''
    const usage = readUsage(JSON.parse(last.slice('data: '.length)).usageMetadata)
    if (!usage) throw new Error('the recording has no usage')
    expect(usage).toMatchObject({ outputTokens: 42, imageOutputTokens: 258 })
    const pricing = pricingOf('google', 'gemini-2.5-flash-image')
    // In nano-dollars: 16 × 300 of the prompt, 42 × 2,500 of text, 258 × 30,000 of the image.
    expect(costOf(usage, pricing).totalNanoUsd).toBe(4_800 + 105_000 + 7_740_000)
    const thoughts = { ...usage, outputTokens: 0, imageOutputTokens: 0, reasoningTokens: 12 }
    expect(costOf(thoughts, pricing).totalNanoUsd).toBe(4_800 + 12 * 2_500)
  })

  test('the reservation is at the price of images', () => {
    const prompt = { text: 0, audio: 0, image: 0 }
    const pricing = pricingOf('google', 'gemini-3-pro-image')
    expect(holdOf(pricing, prompt, 1_000, { audio: false, image: true })).toBe(120_000_000)
  })

  test('a price that is not known to be of text or of images is not changed', () => {
    const pricing = { prompt: '0.0000002', completion: '0.0000018' }
    expect(withImageOutput('google/gemini-2.5-flash-image', pricing)).toBe(pricing)
    expect(withImageOutput('google/gemini-2.5-flash', { ...pricing, completion: '0.00003' }).completion).toBe(
      '0.00003',
    )
  })
})
