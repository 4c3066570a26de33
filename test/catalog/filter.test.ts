import { describe, expect, test } from 'bun:test'
import { filtered } from '../../src/catalog/filter.ts'
import { type Offered, offeredEndpoint, offeredOf } from '../../src/catalog/listing.ts'
import type { ModelsQuery, Sort } from '../../src/catalog/query/schema.ts'
import { sorted } from '../../src/catalog/sort.ts'
import type { Measurements } from '../../src/core/measurements.ts'
import { parsePrice } from '../../src/core/money.ts'
import type { EndpointRecord, ModelFacts, ProviderRecord } from '../../src/core/snapshot.ts'
import { demoOffer, demoProvider } from '../../src/providers/demo.ts'
import { defaults } from '../providers/defaults.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const day = 86_400
const facts: ModelFacts = {
  tokenizer: 'Other',
  instructType: null,
  huggingFaceId: null,
  knowledgeCutoff: null,
  hasOpenWeights: false,
}

const { isDistillable: _, ...plain } = demoOffer.endpoint

interface Given extends Partial<EndpointRecord> {
  at: string
}
function offered(
  id: string,
  given: Given[],
  rest: { created?: number; facts?: Partial<ModelFacts> } = {},
): Offered {
  const endpoints = given.map(({ at, ...fields }) => {
    const provider: ProviderRecord = { ...demoProvider(defaults), slug: at, name: at.toUpperCase() }
    const record: EndpointRecord = {
      ...plain,
      supportedParameters: [],
      isZdr: false,
      ...fields,
      id: `${at}/${id}`,
      providerSlug: at,
      modelId: id,
    }
    return offeredEndpoint(record, provider, true)
  })
  const model = {
    id,
    canonicalSlug: id,
    name: id,
    created: rest.created ?? 0,
    endpoints: endpoints.map(({ record }) => record),
    facts: { ...facts, ...rest.facts },
  }
  const made = offeredOf(model, endpoints)
  if (made === null) throw new Error(`${id} has no endpoints`)
  return made
}
const price = (prompt: string, completion: string) => ({
  prompt: parsePrice(prompt),
  completion: parsePrice(completion),
  request: 0n,
})

describe('facts that are known', () => {
  const listing = [
    offered('a/european', [{ at: 'one', regions: ['eu'], isDistillable: false }, { at: 'two' }]),
    offered('A/american', [{ at: 'one', regions: ['us'], isDistillable: true }], {
      created: now / 1000 - 20 * day,
      facts: { tokenizer: 'Llama4', instructType: 'chatml' },
    }),
    offered('a/global', [{ at: 'one', regions: ['eu', 'us'], isZdr: true }], {
      created: now / 1000 - 5 * day,
      facts: { tokenizer: 'Claude' },
    }),
    offered('a/silent', [{ at: 'two', contextLength: null, pricing: null }]),
  ]
  const rows: [query: ModelsQuery, slugs: string][] = [
    [{ region: 'eu' }, 'european global'],
    [{ region: 'us' }, 'american global'],
    [{ region: 'eu', zdr: 'true' }, 'global'],
    [{ region: 'eu', providers: 'two' }, ''],
    [{ region: 'eu', distillable: 'false' }, 'european'],
    [{ distillable: 'true' }, 'american'],
    [{ distillable: 'false' }, 'european'],
    [{ arch: 'llama4' }, 'american'],
    [{ arch: 'ChatML' }, 'american'],
    [{ arch: 'Claude' }, 'global'],
    [{ min_age_days: '10' }, 'american'],
    [{ max_age_days: '10' }, 'global'],
    [{ min_age_days: '1', max_age_days: '20' }, 'american global'],
    [{ model_authors: 'A' }, 'european american global silent'],
    [{ context: '1' }, 'european american global'],
    [{ max_price: '0' }, 'european american global'],
    [{ min_price: '0' }, 'european american global'],
  ]
  for (const [query, slugs] of rows) {
    test(JSON.stringify(query), () => {
      expect(
        filtered(listing, query, now)
          .map(({ model }) => model.id.slice(2))
          .join(' '),
      ).toBe(slugs)
    })
  }

  test('a model shows only endpoints that match, and the same one each time', () => {
    const seen = () => filtered(listing, { region: 'eu' }, now)[0]
    expect(seen()?.endpoints.map(({ provider }) => provider.slug)).toEqual(['one'])
    expect(seen()).toBe(seen())
    expect(listing[0]?.endpoints.length).toBe(2)
  })
})

describe('sorts', () => {
  const listing = [
    offered('b/none', [{ at: 'one', pricing: null, contextLength: null }]),
    offered('b/dear', [{ at: 'one', pricing: price('0.00001', '0.00001'), contextLength: 10 }], {
      created: 5,
    }),
    offered(
      'b/cheap',
      [
        { at: 'one', pricing: price('0.00002', '0.00009'), contextLength: 30 },
        { at: 'two', pricing: price('0.000001', '0.000009'), contextLength: 20 },
      ],
      { created: 9 },
    ),
    offered('b/equal', [{ at: 'one', pricing: price('0.000009', '0.000001'), contextLength: 30 }], {
      created: 9,
    }),
  ]
  const popularity = new Map([
    ['b/equal', 3],
    ['b/none', 7],
  ])
  const alike = (value: number | undefined) =>
    value === undefined ? null : { p50: value, p75: value, p90: value, p99: value }
  const measured: Record<string, { latency?: number; speed?: number }> = {
    'one/b/equal': { latency: 100 },
    'one/b/cheap': { latency: 900, speed: 30 },
    'two/b/cheap': { latency: 300, speed: 80 },
    'one/b/none': { speed: 50 },
  }
  const measurements: Measurements = {
    of(id) {
      const one = measured[id]
      if (one === undefined) return null
      const [latencyMs, tokensPerSecond] = [alike(one.latency), alike(one.speed)]
      return { latencyMs, tokensPerSecond, uptime5m: null, uptime30m: null, uptime1d: null }
    },
  }
  const rows: [sort: Sort | undefined, slugs: string][] = [
    [undefined, 'none dear cheap equal'],
    ['pricing-low-to-high', 'cheap equal dear none'],
    ['pricing-high-to-low', 'dear equal cheap none'],
    ['context-high-to-low', 'cheap equal dear none'],
    ['newest', 'cheap equal dear none'],
    ['most-popular', 'none equal dear cheap'],
    ['top-weekly', 'none equal dear cheap'],
    ['latency-low-to-high', 'equal cheap none dear'],
    ['throughput-high-to-low', 'cheap none dear equal'],
    ['intelligence-high-to-low', 'none dear cheap equal'],
  ]
  for (const [sort, slugs] of rows) {
    test(String(sort), () => {
      expect(
        sorted(listing, sort, { popularity, measurements })
          .map(({ model }) => model.id.slice(2))
          .join(' '),
      ).toBe(slugs)
    })
  }
})
