import { describe, expect, test } from 'bun:test'
import { openCatalog } from '../../src/catalog/catalog.ts'
import { createDirectory } from '../../src/catalog/directory.ts'
import type { Seed, SeedEndpoint, SeedModel } from '../../src/catalog/seed.ts'
import { parsePrice } from '../../src/core/money.ts'
import type { ModelDirectory, ModelOffer } from '../../src/core/snapshot.ts'
import { demoOffer, demoProvider } from '../../src/providers/demo.ts'
import { readEntries } from '../../src/providers/entries.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { defaults } from '../providers/defaults.ts'

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

const catalog = openCatalog(seed)
const vendorsOf = (...keys: string[]) =>
  environmentProviders(Object.fromEntries(keys.map((key) => [key, 'k'])), defaults).providers
const directoryOf = (keys: string[], entries: unknown[] = [], more: ModelOffer[] = []): ModelDirectory => {
  const read = readEntries(entries, {}, defaults)
  expect(read.problems).toEqual([])
  return createDirectory(
    catalog,
    [...vendorsOf(...keys), ...read.providers, demoProvider(defaults)],
    [...read.models, ...more],
  )
}
const lab = (slug: string, ...models: Record<string, unknown>[]) => ({
  slug,
  base_url: 'http://127.0.0.1:9/v1',
  models,
})

describe('finding', () => {
  const directory = directoryOf(['OPENAI_API_KEY', 'GROQ_API_KEY'])
  test.each<[name: string, id: string | undefined]>([
    ['maker/alpha-1.5', 'maker/alpha-1.5'],
    ['maker/alpha-1.5-20250101', 'maker/alpha-1.5'],
    ['other-maker/Alpha-1.5', 'maker/alpha-1.5'],
    ['alpha-1-5', 'maker/alpha-1.5'],
    ['Alpha-One', 'maker/alpha-1.5'],
    ['openai/alpha-1-5', 'maker/alpha-1.5'],
    ['groq/Alpha-One', 'maker/alpha-1.5'],
    ['groq/maker/alpha-1.5', 'maker/alpha-1.5'],
    ['MAKER/Alpha-1.5', 'maker/alpha-1.5'],
    ['alpha-one', 'maker/alpha-1.5'],
    ['maker/beta', 'maker/beta'],
    ['maker/beta:free', 'maker/beta:free'],
    ['beta:free', 'maker/beta:free'],
    ['openai/shared-name', 'maker/gamma'],
    ['groq/shared-name', 'other/gamma'],
    ['shared-name', undefined],
    ['third/only-in-converse', undefined],
    ['groq/the-beta', undefined],
    ['maker', undefined],
    ['', undefined],
    ['__proto__', undefined],
    ['constructor', undefined],
  ])('%s', (name, id) => expect(directory.find(name)?.id).toBe(id))

  test('a name in other letters does not hide the one that is written so', () => {
    const both = directoryOf([], [lab('lab', { id: 'Tiny' }, { id: 'tiny' })])
    expect(both.find('Tiny')?.id).toBe('Tiny')
    expect(both.find('tiny')?.id).toBe('tiny')
  })

  test("a provider's own name that two share is nobody's, until one of them is off", () => {
    expect(directoryOf(['OPENAI_API_KEY']).find('shared-name')?.id).toBe('maker/gamma')
    expect(directoryOf(['GROQ_API_KEY']).find('shared-name')?.id).toBe('other/gamma')
  })
})

describe('endpoints', () => {
  test('are those of configured providers, in their order', () => {
    const slugs = (keys: string[]) =>
      directoryOf(keys)
        .find('maker/alpha-1.5')
        ?.endpoints.map(({ providerSlug }) => providerSlug)
    expect(slugs(['OPENAI_API_KEY', 'GROQ_API_KEY'])).toEqual(['openai', 'groq'])
    expect(slugs(['GROQ_API_KEY'])).toEqual(['groq'])
    expect(slugs([])).toBeUndefined()
  })

  test('carry exact prices, tiers, limits; an unpriced one carries none', () => {
    const directory = directoryOf(['OPENAI_API_KEY', 'GROQ_API_KEY'])
    expect(directory.find('maker/alpha-1.5')?.endpoints[0]).toEqual({
      id: 'openai/maker/alpha-1.5',
      providerSlug: 'openai',
      modelId: 'maker/alpha-1.5',
      upstreamId: 'alpha-1-5',
      contextLength: 1000,
      maxCompletionTokens: 100,
      inputModalities: ['text'],
      outputModalities: ['text'],
      supportedParameters: ['temperature'],
      pricing: {
        prompt: parsePrice('0.000001'),
        completion: parsePrice('0.000002'),
        request: 0n,
        inputCacheRead: parsePrice('0.0000001'),
        inputCacheWriteHour: parsePrice('0.000002'),
        tiers: [
          {
            minPromptTokens: 200_001,
            prompt: parsePrice('0.000002'),
            inputCacheWriteHour: parsePrice('0.000004'),
          },
        ],
      },
      quantization: null,
      isZdr: false,
    })
    const beta = directory.find('maker/beta')?.endpoints
    expect(beta?.map(({ pricing }) => pricing === null)).toEqual([false, true])
  })
})

describe('known and configured are two things', () => {
  const directory = directoryOf(['GROQ_API_KEY'])
  test.each<[name: string, isKnown: boolean, isFound: boolean]>([
    ['maker/alpha-1.5', true, true],
    ['maker/gamma', true, false],
    ['Maker/Gamma', true, false],
    ['third/only-in-converse', true, false],
    ['other-maker/alpha.1.5', true, false],
    ['only-in-converse', false, false],
    ['gamma', false, false],
    ['maker/delta', false, false],
  ])('%s', (name, isKnown, isFound) => {
    expect(directory.isKnown(name)).toBe(isKnown)
    expect(directory.find(name) !== undefined).toBe(isFound)
  })
})

describe("an entry's models", () => {
  test('answer to their id and to the entry and the id', () => {
    const directory = directoryOf([], [lab('lab', { id: 'tiny', upstream_id: 'tiny-7b', name: 'Tiny' })])
    for (const name of ['tiny', 'lab/tiny', 'LAB/Tiny', 'tiny-7b', 'lab/tiny-7b']) {
      expect(directory.find(name)).toMatchObject({ id: 'tiny', name: 'Tiny', canonicalSlug: 'tiny' })
    }
    expect(directory.list().map(({ id }) => id)).toContain('tiny')
    expect(directory.find('tiny')?.endpoints.map(({ id, upstreamId }) => [id, upstreamId])).toEqual([
      ['lab/tiny', 'tiny-7b'],
    ])
  })

  test('of one id in two entries are one model with two endpoints', () => {
    const directory = directoryOf(
      [],
      [lab('lab', { id: 'tiny' }), lab('mirror', { id: 'tiny', upstream_id: 't2' })],
    )
    expect(directory.list().filter(({ id }) => id === 'tiny')).toHaveLength(1)
    expect(directory.find('tiny')?.endpoints.map(({ id }) => id)).toEqual(['lab/tiny', 'mirror/tiny'])
    expect(directory.find('mirror/tiny')).toBe(directory.find('lab/tiny'))
  })

  test.each([['maker/alpha-1.5'], ['alpha-1.5'], ['maker/alpha-1.5-20250101'], ['other-maker/alpha-1.5']])(
    'that the catalogue knows as %s join it, beside the vendors',
    (id) => {
      const directory = directoryOf(
        ['OPENAI_API_KEY'],
        [lab('lab', { id, pricing: { prompt: '0', completion: '0' } })],
      )
      const found = directory.find(id)
      expect(found).toMatchObject({
        id: 'maker/alpha-1.5',
        name: 'Name of maker/alpha-1.5',
        created: 1_700_000_000,
      })
      expect(
        found?.endpoints.map((endpoint) => [endpoint.id, endpoint.upstreamId, endpoint.modelId]),
      ).toEqual([
        ['openai/maker/alpha-1.5', 'alpha-1-5', 'maker/alpha-1.5'],
        ['lab/maker/alpha-1.5', id, 'maker/alpha-1.5'],
      ])
      expect(directory.find(`lab/${id}`)).toBe(found)
      expect(directory.find('maker/alpha-1.5')).toBe(found)
    },
  )

  test('two of one entry do not become two endpoints of one model', () => {
    const directory = directoryOf([], [lab('lab', { id: 'maker/beta' }, { id: 'beta' })])
    expect(directory.find('maker/beta')?.endpoints.map(({ upstreamId }) => upstreamId)).toEqual([
      'maker/beta',
    ])
    expect(directory.find('beta')?.endpoints.map(({ upstreamId }) => upstreamId)).toEqual(['beta'])
  })

  test("replace the vendor's own list when the entry has the vendor's slug", () => {
    const withModels = directoryOf([], [lab('openai', { id: 'tiny' })])
    expect(withModels.find('maker/beta')).toBeUndefined()
    expect(withModels.find('openai/tiny')?.id).toBe('tiny')
    expect(directoryOf([], [lab('openai')]).find('maker/beta')?.endpoints).toHaveLength(1)
  })
})

describe('offers that do not join', () => {
  const offer = (providerSlug: string, upstreamId: string): ModelOffer => ({
    ...demoOffer,
    endpoint: {
      ...demoOffer.endpoint,
      id: `${providerSlug}/${upstreamId}`,
      modelId: `${providerSlug}/${upstreamId}`,
      providerSlug,
      upstreamId,
    },
    aliases: [upstreamId],
  })

  test('keep out of the catalogue model of the same name, which keeps its name', () => {
    const directory = createDirectory(
      catalog,
      [...vendorsOf('OPENAI_API_KEY'), { ...demoProvider(defaults), slug: 'near' }],
      [offer('near', 'maker/beta'), offer('near', 'small')],
    )
    expect(directory.find('maker/beta')?.endpoints.map(({ providerSlug }) => providerSlug)).toEqual([
      'openai',
    ])
    expect(directory.find('near/maker/beta')?.endpoints.map(({ providerSlug }) => providerSlug)).toEqual([
      'near',
    ])
    expect(directory.find('small')?.id).toBe('near/small')
  })
})

test('the demo is there with nothing configured', () => {
  const directory = directoryOf([], [], [demoOffer])
  expect(directory.list().map(({ id }) => id)).toEqual(['sluice/demo'])
  expect(directory.find('sluice/demo')?.endpoints).toEqual([demoOffer.endpoint])
  expect(directory.find('Sluice/Demo')?.created).toBeGreaterThan(1_700_000_000)
})

test('the list is in order of id and has no model twice', () => {
  const ids = directoryOf(['OPENAI_API_KEY', 'GROQ_API_KEY'], [], [demoOffer])
    .list()
    .map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)].sort())
  expect(ids).toEqual([
    'maker/alpha-1.5',
    'maker/beta',
    'maker/beta:free',
    'maker/gamma',
    'other/gamma',
    'sluice/demo',
  ])
})

describe('nearest', () => {
  const directory = directoryOf(['OPENAI_API_KEY', 'GROQ_API_KEY'], [], [demoOffer])
  test.each([
    ['maker/alpha-15', 'maker/alpha-1.5'],
    ['alpha_1.5', 'maker/alpha-1.5'],
    ['makr/betta', 'maker/beta'],
    ['sluice/dmo', 'sluice/demo'],
    ['GAMMA', 'maker/gamma'],
  ])('%s → %s', (name, best) => expect(directory.nearest(name, 3)[0]).toBe(best))

  test('what can be called comes before what is only known', () => {
    expect(directoryOf([], [], [demoOffer]).nearest('maker/gama', 1)).toEqual(['maker/gamma'])
    expect(directoryOf([], [lab('lab', { id: 'gamma-local' })]).nearest('gamma', 1)).toEqual(['gamma-local'])
  })

  test('never more than asked for, and nothing for nonsense', () => {
    expect(directory.nearest('maker/beta', 1)).toHaveLength(1)
    expect(directory.nearest('maker/beta', 0)).toEqual([])
    expect(directory.nearest('zzzzqqq', 3)).toEqual([])
    expect(directory.nearest('', 3)).toEqual([])
    expect(directory.nearest('x'.repeat(1_000_000), 3)).toEqual([])
  })
})
