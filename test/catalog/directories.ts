import { expect } from 'bun:test'
import { openCatalog } from '../../src/catalog/catalog.ts'
import { createDirectory } from '../../src/catalog/directory.ts'
import type { Seed, SeedEndpoint, SeedModel } from '../../src/catalog/seed.ts'
import type { ModelDirectory, ModelOffer } from '../../src/core/snapshot.ts'
import { demoProvider } from '../../src/providers/demo.ts'
import { readEntries } from '../../src/providers/entries.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { defaults } from '../providers/defaults.ts'

/** A catalogue of six models at two providers, and the directories that configurations make of it. */

const model = (id: string, canonical = id, aliases: string[] = []): SeedModel => ({
  id,
  canonical_slug: canonical,
  name: `Name of ${id}`,
  created: 1_700_000_000,
  aliases,
  tokenizer: 'Other',
  instruct_type: null,
  hugging_face_id: null,
  knowledge_cutoff: null,
  open_weights: false,
  reasoning: null,
})

const row = (
  index: number,
  upstreamId: string,
  pricing: number | null = 0,
  dialect: string | null = null,
): SeedEndpoint => [index, upstreamId, 1000, 100, 0, 0, 0, pricing, null, dialect]

const seed: Seed = {
  version: 1,
  facts_at: '2026-01-01',
  modalities: [['text']],
  parameters: [['temperature']],
  pricings: [
    {
      prompt: '0.000001',
      completion: '0.000002',
      input_cache_read: '0.0000001',
      input_cache_write_1h: '0.000002',
      tiers: [{ min_prompt_tokens: 200_001, prompt: '0.000002', input_cache_write_1h: '0.000004' }],
    },
  ],
  models: [
    model('maker/alpha-1.5', 'maker/alpha-1.5-20250101', ['other-maker/Alpha-1.5']),
    model('maker/beta'),
    model('maker/beta:free', 'maker/beta'),
    model('maker/gamma'),
    model('other/gamma'),
    model('third/only-in-converse'),
  ],
  endpoints: {
    openai: [row(0, 'alpha-1-5'), row(1, 'the-beta'), row(3, 'shared-name'), row(5, 'r', 0, 'converse')],
    groq: [row(0, 'Alpha-One'), row(4, 'shared-name'), row(2, 'beta:free'), row(1, 'beta-x', null)],
  },
}

export const catalog = openCatalog(seed)

export const vendorsOf = (...keys: string[]) =>
  environmentProviders(Object.fromEntries(keys.map((key) => [key, 'k'])), defaults).providers

export const directoryOf = (
  keys: string[],
  entries: unknown[] = [],
  more: ModelOffer[] = [],
): ModelDirectory => {
  const read = readEntries(entries, {}, defaults)
  expect(read.problems).toEqual([])
  return createDirectory(
    catalog,
    [...vendorsOf(...keys), ...read.providers, demoProvider(defaults)],
    [...read.models, ...more],
  )
}

/** An entry with these models. */
export const lab = (slug: string, ...models: Record<string, unknown>[]) => ({
  slug,
  base_url: 'http://127.0.0.1:9/v1',
  models,
})
