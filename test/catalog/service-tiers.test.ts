import { describe, expect, test } from 'bun:test'
import { withServiceTiers } from '../../src/catalog/facts/service-tiers.ts'
import { loadCatalog } from '../../src/catalog/store.ts'
import { formatPrices } from '../../src/core/pricing.ts'

const catalog = loadCatalog()
const tierOf = (provider: string, upstreamId: string, tier: 'flex' | 'priority') => {
  const endpoint = catalog
    .endpointsOf(provider, ['chat', 'responses', 'gemini'])
    .find((candidate) => candidate.upstreamId === upstreamId)
  const pricing = endpoint?.pricing?.serviceTiers?.[tier]
  return pricing && formatPrices(pricing)
}

describe('service tiers in the catalogue', () => {
  // From openai.com/api-priority-processing and LiteLLM's prices: see service-tiers.ts.
  test.each([
    ['openai', 'gpt-5', 'flex', '0.000000625', '0.000005', '0.0000000625'],
    ['openai', 'gpt-5', 'priority', '0.0000025', '0.00002', '0.00000025'],
    ['openai', 'gpt-5-mini', 'priority', '0.00000045', '0.0000036', '0.000000045'],
    ['openai', 'gpt-5.4', 'flex', '0.00000125', '0.0000075', '0.00000013'],
    ['openai', 'gpt-5.5', 'priority', '0.0000125', '0.000075', '0.00000125'],
    ['openai', 'gpt-5.4-mini', 'priority', '0.0000015', '0.000009', '0.00000015'],
    ['openai', 'gpt-4.1', 'priority', '0.0000035', '0.000014', '0.000000875'],
    ['openai', 'gpt-4o', 'priority', '0.00000425', '0.000017', '0.000002125'],
    ['openai', 'gpt-4o-mini', 'priority', '0.00000025', '0.000001', '0.000000125'],
    ['openai', 'o4-mini', 'priority', '0.000002', '0.000008', '0.0000005'],
    ['google', 'gemini-3-flash-preview', 'priority', '0.0000009', '0.0000054', '0.00000009'],
    ['google', 'gemini-3.1-flash-lite', 'flex', '0.000000125', '0.00000075', '0.0000000125'],
  ] as const)('%s %s %s', (provider, upstreamId, tier, prompt, completion, input_cache_read) => {
    expect(tierOf(provider, upstreamId, tier)).toMatchObject({ prompt, completion, input_cache_read })
  })

  test('gpt-4o has no flex tier', () => expect(tierOf('openai', 'gpt-4o', 'flex')).toBeUndefined())

  test('long prompts, thoughts and images have the price of the tier too; a cache at Google has not', () => {
    const priced = {
      prompt: '0.000002',
      completion: '0.00001',
      internal_reasoning: '0.000012',
      image_output: '0.00012',
      input_cache_write: '0.000002375',
      tiers: [{ min_prompt_tokens: 200_001, prompt: '0.000004', completion: '0.00002' }],
    }
    expect(withServiceTiers('google', 'google/gemini-9', priced).service_tiers?.flex).toEqual({
      prompt: '0.000001',
      completion: '0.000005',
      internal_reasoning: '0.000006',
      image_output: '0.00006',
      tiers: [{ min_prompt_tokens: 200_001, prompt: '0.000002', completion: '0.00001' }],
    })
    expect(withServiceTiers('openai', 'openai/gpt-5.9', priced).service_tiers?.flex).toMatchObject({
      input_cache_write: '0.0000011875',
    })
  })

  test('other vendors, resellers and free models have none', () => {
    const priced = { prompt: '0.000002', completion: '0.00001' }
    for (const [provider, model] of [
      ['anthropic', 'anthropic/claude-9'],
      ['openrouter', 'openai/gpt-5'],
      ['constructor', 'openai/gpt-5'],
    ] as const)
      expect(withServiceTiers(provider, model, priced)).toBe(priced)
    const free = { prompt: '0', completion: '0' }
    expect(withServiceTiers('google', 'google/gemini-9', free)).toBe(free)
  })
})
