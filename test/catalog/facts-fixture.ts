/** A document of the models.dev shape with facts of our own: two vendors, one model at both. */
type Json = Record<string, unknown>

export const factModel = (id: string, more: Json = {}): Json => ({
  id,
  name: id,
  release_date: '2026-01-01',
  last_updated: '2027-01-01',
  reasoning: false,
  tool_call: true,
  open_weights: false,
  modalities: { input: ['text'], output: ['text'] },
  limit: { context: 128_000, output: 16_000 },
  cost: { input: 2.5, output: 10, cache_read: 1.25 },
  ...more,
})

export const document = (models: Record<string, Json[]>): Json =>
  Object.fromEntries(
    Object.entries(models).map(([slug, list]) => [
      slug,
      { id: slug, name: slug, models: Object.fromEntries(list.map((model) => [String(model['id']), model])) },
    ]),
  )

export const before = document({
  openai: [factModel('gpt-4o'), factModel('gpt-4o-mini', { cost: { input: 0.15, output: 0.6 } })],
  groq: [factModel('openai/gpt-oss-120b', { cost: { input: 0.15, output: 0.6 } })],
})
