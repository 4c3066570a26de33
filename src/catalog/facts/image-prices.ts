import type { SeedPricing } from '../seed.ts'

/**
 * USD per token of text and of images that these models generate; reasoning costs as much as text. The model metadata
 * has one output price: that of images at Google, that of text at its resellers.
 * Source: LiteLLM's model_prices_and_context_window.json of 2026-07-24 (for the Lite model, the text price of OpenRouter
 * and Vercel in the model metadata). Google's own page was not compared.
 */
const OUTPUT_PRICES: Readonly<Record<string, { text: string; image: string }>> = {
  'google/gemini-2.5-flash-image': { text: '0.0000025', image: '0.00003' },
  'google/gemini-3-pro-image': { text: '0.000012', image: '0.00012' },
  'google/gemini-3-pro-image-preview': { text: '0.000012', image: '0.00012' },
  'google/gemini-3.1-flash-image': { text: '0.000003', image: '0.00006' },
  'google/gemini-3.1-flash-image-preview': { text: '0.000003', image: '0.00006' },
  'google/gemini-3.1-flash-lite-image': { text: '0.0000015', image: '0.00003' },
}

/** With separate prices of text and images. A price that is neither of the two is not changed. */
export function withImageOutput(modelId: string, pricing: SeedPricing): SeedPricing {
  const known = OUTPUT_PRICES[modelId]
  if (known === undefined || pricing.image_output !== undefined) return pricing
  if (pricing.completion !== known.image && pricing.completion !== known.text) return pricing
  return { ...pricing, completion: known.text, image_output: known.image }
}
