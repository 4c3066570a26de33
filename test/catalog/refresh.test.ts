import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCatalog } from '../../src/catalog/catalog.ts'
import { diffOf } from '../../src/catalog/diff.ts'
import { composeSeed } from '../../src/catalog/facts/compose.ts'
import { readDocument } from '../../src/catalog/facts/document.ts'
import { documentProblems } from '../../src/catalog/facts/problems.ts'
import { supplement } from '../../src/catalog/facts/supplement.ts'
import { warningText } from '../../src/catalog/outliers.ts'
import { packed } from '../../src/catalog/packed.ts'
import { proposalOf, refreshedBy } from '../../src/catalog/refresh.ts'
import type { Seed } from '../../src/catalog/seed.ts'
import { type CatalogInUse, openCatalogStore } from '../../src/catalog/store.ts'
import { before, document, factModel } from './facts-fixture.ts'

const seedOf = (facts: unknown): Seed => composeSeed(readDocument(facts), [])
const inUse = (facts: unknown): CatalogInUse => {
  const seed = seedOf(facts)
  return { seed, catalog: openCatalog(seed), refreshed: null }
}

describe('differences', () => {
  test('the same facts have none', () => {
    expect(diffOf(seedOf(before), seedOf(before))).toMatchObject({
      added: [],
      removed: [],
      priceChanges: [],
      otherChanges: [],
      warnings: [],
      endpointsBefore: 3 + Object.values(supplement).flat().length,
    })
  })

  test('added and removed models, prices, and other fields', () => {
    const after = document({
      openai: [
        factModel('gpt-4o', { cost: { input: 2, output: 10, cache_read: 1.25 } }),
        factModel('gpt-9', { cost: { input: 1, output: 2 } }),
      ],
      groq: [
        factModel('openai/gpt-oss-120b', {
          cost: { input: 0.15, output: 0.6 },
          limit: { context: 64_000, output: 8_000 },
        }),
      ],
    })
    expect(diffOf(seedOf(before), seedOf(after))).toMatchObject({
      added: [{ provider: 'openai', model: 'openai/gpt-9' }],
      removed: [{ provider: 'openai', model: 'openai/gpt-4o-mini' }],
      priceChanges: [
        {
          provider: 'openai',
          model: 'openai/gpt-4o',
          before: { prompt: '0.0000025' },
          after: { prompt: '0.000002', completion: '0.00001', input_cache_read: '0.00000125' },
        },
      ],
      otherChanges: [{ provider: 'groq', model: 'openai/gpt-oss-120b' }],
    })
  })

  test('a price of writes for an hour is new if the facts add one for five minutes', () => {
    const claude = (cost: object) => document({ anthropic: [factModel('claude-sonnet-9', { cost })] })
    const cost = { input: 3, output: 15 }
    expect(diffOf(seedOf(claude(cost)), seedOf(claude({ ...cost, cache_write: 3.75 }))).priceChanges).toEqual(
      [
        {
          provider: 'anthropic',
          model: 'anthropic/claude-sonnet-9',
          before: { prompt: '0.000003', completion: '0.000015' },
          after: {
            prompt: '0.000003',
            completion: '0.000015',
            input_cache_write: '0.00000375',
            input_cache_write_1h: '0.000006',
          },
        },
      ],
    )
  })

  test('a removed price is unknown, not free', () => {
    const after = document({ ...{ groq: [] }, openai: [factModel('gpt-4o', { cost: undefined })] })
    expect(diffOf(seedOf(before), seedOf(after)).priceChanges).toMatchObject([{ after: null }])
  })

  test('only new prices that are more than ten times off cause a warning', () => {
    const model = (id: string, input: number) => factModel(id, { cost: { input, output: 10 } })
    const usual = ['a', 'b', 'c', 'd', 'e'].map((name) => model(`lab/${name}`, 1))
    const old = document({ openai: [...usual, model('lab/odd', 1_000)] })
    const fresh = document({
      openai: [
        ...usual,
        model('lab/odd', 1_000),
        model('lab/million', 1_000_000),
        model('lab/ten', 10),
        model('lab/eleven', 11),
        model('lab/tenth', 0.09),
        model('lab/free', 0),
      ],
    })
    const { warnings } = diffOf(seedOf(old), seedOf(fresh))
    expect(warnings.map(({ model: id, bucket }) => `${id} ${bucket}`)).toEqual([
      'lab/eleven prompt',
      'lab/million prompt',
      'lab/tenth prompt',
    ])
    expect(warnings.map(warningText)).toContain(
      'lab/million at openai: prompt 1 USD a token is 1000000 times the median of its kind, 0.000001',
    )
  })

  test('if three other providers offer the model, prices are compared with their median', () => {
    const at = (input: number) => [factModel('acme/rocket', { cost: { input, output: 60 } })]
    const expensive = {
      deepinfra: at(50),
      togetherai: at(60),
      'fireworks-ai': at(55),
      openai: [factModel('x')],
    }
    const old = document(expensive)
    const { warnings } = diffOf(seedOf(old), seedOf(document({ ...expensive, groq: at(0.5) })))
    expect(warnings).toMatchObject([{ provider: 'groq', bucket: 'prompt', of: 'model', median: '0.000055' }])
    const usual = document({ ...expensive, groq: at(40) })
    expect(diffOf(seedOf(old), seedOf(usual)).warnings).toEqual([])
  })
})

describe('a document', () => {
  const broken = (more: Record<string, unknown>) => document({ openai: [factModel('m', more)] })
  test.each<[what: string, document: unknown, path: string]>([
    ['not an object', [], 'document'],
    ['an error page', { error: { message: 'down' } }, 'error.models'],
    ['only an unknown provider', document({ nobody: [factModel('m')] }), 'document'],
    ['known, but empty', document({ openai: [] }), 'document'],
    ['a provider without models', { openai: {} }, 'openai.models'],
    ['a model that is a text', { openai: { models: { m: 'x' } } }, 'openai.models["m"]'],
    ['a negative price', broken({ cost: { input: -1, output: 1 } }), 'openai.models["m"].cost.input'],
    ['a price as text', broken({ cost: { input: '1', output: 1 } }), 'openai.models["m"].cost.input'],
    [
      'a negative price in a tier',
      broken({ cost: { input: 1, output: 1, tiers: [{ tier: { size: 9 }, output: -2 }] } }),
      'openai.models["m"].cost.tiers[0].output',
    ],
    ['a negative limit', broken({ limit: { context: -5 } }), 'openai.models["m"].limit.context'],
    ['modalities as text', broken({ modalities: 'text' }), 'openai.models["m"].modalities'],
  ])('%s is rejected with its path', async (_, facts, path) => {
    expect(documentProblems(facts).map((problem) => problem.path)).toContain(path)
    await expect(proposalOf(facts, inUse(before))).rejects.toThrow('The document is rejected')
  })

  test('unknown fields may have any value', () =>
    expect(documentProblems(broken({ cost: { input: 0, output: 0, note: 'x' }, future: -1 }))).toEqual([]))

  test('at most ten of a hundred wrong models are listed', () => {
    const many = Array.from({ length: 100 }, (_, index) => factModel(`m${index}`, { limit: { context: -1 } }))
    expect(documentProblems(document({ openai: many })).length).toBe(10)
  })
})

describe('the data folder', () => {
  let folder: string
  let logged: string[]
  const open = () => openCatalogStore(folder, (why) => logged.push(why))
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-catalog-'))
    logged = []
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('stores a refreshed catalogue; without one the built-in catalogue is used', async () => {
    const store = open()
    expect(store.current().refreshed).toBeNull()
    const proposal = await proposalOf(before, store.current())
    store.replace(refreshedBy(proposal, 'a test', 1_000, store.current()))
    const again = open().current()
    expect(again.refreshed).toMatchObject({ source: 'a test', refreshedAt: 1_000 })
    const ours = Object.entries(supplement).flatMap(([slug, models]) =>
      models.map(({ id }) => `${slug === 'mistral' ? 'mistralai' : slug}/${id}`),
    )
    expect(again.seed.models.map(({ id }) => id)).toEqual(
      [...ours, 'openai/gpt-4o', 'openai/gpt-4o-mini', 'openai/gpt-oss-120b'].sort(),
    )
    expect((await proposalOf(before, again)).diff).toMatchObject({ added: [], removed: [], priceChanges: [] })
    // A removed model is retired, not unknown.
    expect(again.catalog.isRetired('anthropic/claude-sonnet-4.5')).toBe(true)
    expect(again.catalog.isRetired('openai/gpt-4o')).toBe(false)

    store.replace(null)
    expect(open().current().refreshed).toBeNull()
    expect(logged).toEqual([])
  })

  test('older facts that the operator chose stay, even if the built-in ones are newer', async () => {
    const store = open()
    const old = document({ openai: [factModel('gpt-4o', { last_updated: '2020-01-01' })] })
    store.replace(refreshedBy(await proposalOf(old, store.current()), 'a test', 1, store.current()))
    expect(open().current().seed.facts_at).toBe('2020-01-01')
    expect(logged).toEqual([])
  })

  test('a file that is damaged, of another version or older is logged and not used', () => {
    const path = join(folder, 'catalog.json.gz')
    writeFileSync(path, 'no gzip')
    expect(open().current().refreshed).toBeNull()
    writeFileSync(path, packed({ seed: { version: 99 } }))
    expect(open().current().refreshed).toBeNull()
    const old = { ...seedOf(before), facts_at: '2020-01-01' }
    writeFileSync(path, packed({ seed: old, source: 'x', refreshed_at: 1, retired: [] }))
    expect(open().current().seed.models.length).toBeGreaterThan(900)
    expect(logged.map((why) => why.slice(path.length + 1, path.length + 15))).toEqual([
      'cannot be read',
      'is not a catal',
      'has facts of 2',
    ])
  })
})
