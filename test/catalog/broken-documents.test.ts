import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { openCatalog } from '../../src/catalog/catalog.ts'
import { createDirectory } from '../../src/catalog/directory.ts'
import { composeSeed } from '../../src/catalog/facts/compose.ts'
import { readDocument } from '../../src/catalog/facts/document.ts'
import { documentProblems } from '../../src/catalog/facts/problems.ts'
import { offeredEndpoint, offeredOf } from '../../src/catalog/listing.ts'
import { proposalOf } from '../../src/catalog/refresh.ts'
import { model as modelForm } from '../../src/catalog/schema.ts'
import type { Seed } from '../../src/catalog/seed.ts'
import { modelView } from '../../src/catalog/view.ts'
import { isObject } from '../../src/core/json.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { defaults } from '../providers/defaults.ts'
import { document, factModel } from './facts-fixture.ts'

/** A model with every member that is read. */
const complete = (): Record<string, unknown> =>
  factModel('rocket-9', {
    base_model: 'lab/rocket-9',
    knowledge: '2025-06',
    reasoning: true,
    reasoning_options: [
      { type: 'toggle' },
      { type: 'effort', values: ['low', 'high'] },
      { type: 'budget_tokens', min: 0, max: 1000 },
    ],
    temperature: true,
    structured_output: true,
    open_weights: true,
    status: 'beta',
    provider: { npm: '@ai-sdk/openai', shape: 'responses' },
    limit: { context: 128_000, input: 100_000, output: 16_000 },
    modalities: { input: ['text', 'pdf'], output: ['text'] },
    cost: {
      input: 2.5,
      output: 10,
      cache_read: 1.25,
      cache_write: 3,
      reasoning: 12,
      input_audio: 40,
      output_audio: 80,
      request: 5,
      context_over_200k: { input: 5, output: 20 },
      tiers: [{ tier: { type: 'context', size: 200_000 }, input: 5, output: 20, cache_read: 2.5 }],
    },
  })

type Path = readonly (string | number)[]
function pathsOf(value: unknown, at: Path = []): Path[] {
  const below = isObject(value) ? Object.entries(value) : Array.isArray(value) ? [...value.entries()] : []
  return [...(at.length === 0 ? [] : [at]), ...below.flatMap(([key, one]) => pathsOf(one, [...at, key]))]
}
function changed(value: unknown, [key, ...rest]: Path, put: unknown): unknown {
  if (key === undefined) return put
  if (Array.isArray(value)) return value.map((one, index) => (index === key ? changed(one, rest, put) : one))
  return isObject(value) ? { ...value, [key]: changed(value[key], rest, put) } : value
}

const PUT: unknown[] = [
  null,
  true,
  '',
  'x',
  '1',
  'x'.repeat(5_000),
  'a\u0000\ud800',
  '__proto__',
  0,
  -1,
  1.5,
  1e-30,
  0.00333333333333333,
  1e12,
  1e300,
  Number.MAX_SAFE_INTEGER,
  [],
  [1],
  [null],
  [['text']],
  {},
  { a: { a: { a: {} } } },
  JSON.parse('{"__proto__": {"input": -1}}'),
]

/** Every accepted document can be listed, billed and stored. */
function expectUsable(seed: Seed): void {
  expect(JSON.parse(JSON.stringify(seed))).toEqual(seed)
  expect(seed.facts_at).toMatch(/^(\d{4}(-\d\d){0,2})?$/)
  const { providers } = environmentProviders({ OPENAI_API_KEY: 'k' }, defaults)
  const models = createDirectory(openCatalog(seed), providers, []).list()
  expect(new Set(models.map(({ id }) => id)).size).toBe(models.length)
  for (const model of models) {
    const endpoints = model.endpoints.flatMap((record) =>
      providers.map((provider) => offeredEndpoint(record, provider, true)),
    )
    const offered = offeredOf(model, endpoints)
    if (offered === null) throw new Error(`${model.id} has no endpoint`)
    const view = JSON.parse(JSON.stringify(modelView(offered, '/api/v1')))
    expect([...Value.Errors(modelForm, view)]).toEqual([])
    for (const { pricing, contextLength } of model.endpoints) {
      // A price in the facts never becomes a free one.
      if (pricing !== null) expect(pricing.prompt === 0n).toBe(view.pricing.prompt === '0')
      if (contextLength !== null) expect(contextLength).toBeGreaterThan(0)
    }
  }
}

describe('one wrong value anywhere', () => {
  for (const path of pathsOf(complete())) {
    test(`${path.join('.')}: is rejected with its path, or leaves the rest usable`, () => {
      let refusals = 0
      for (const put of PUT) {
        const model = changed(complete(), path, put)
        const facts = { openai: { models: { 'rocket-9': model } } }
        const problems = documentProblems(facts)
        for (const problem of problems) {
          expect(problem.path).toStartWith('openai.models["rocket-9"]')
          expect(problem.message.length).toBeLessThan(120)
        }
        if (problems.length > 0) refusals += 1
        else expectUsable(composeSeed(readDocument(facts), []))
      }
      const isRead =
        !['max'].includes(String(path.at(-1))) && path.at(-2) !== 'values' && path.at(-1) !== 'type'
      if (isRead) expect(refusals).toBeGreaterThan(0)
    })
  }
})

describe('names', () => {
  const named = (name: string) => JSON.parse(`{${JSON.stringify(name)}: {"cost": {"input": 1, "output": 2}}}`)

  test.each([
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'a/__proto__',
    'constructor/m',
    '../../etc/passwd',
  ])('%s is a model like any other', async (name) => {
    const facts = { openai: { models: named(name) } }
    expect(documentProblems(facts)).toEqual([])
    const seed = composeSeed(readDocument(facts), [])
    expectUsable(seed)
    expect(seed.endpoints['openai']?.map(([, upstreamId]) => upstreamId)).toContain(name)
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  test.each(['', 'a\nb', '\u0000', 'x'.repeat(201), '\ud800'])('%j is not a name', (name) =>
    expect(documentProblems({ openai: { models: named(name) } })).toHaveLength(1),
  )

  test('__proto__ is an unknown provider', () => {
    const facts = JSON.parse(
      `{"__proto__": {"models": {"m": {}}}, "openai": {"models": {"gpt-4o": {"cost": {"input": 1, "output": 1}}}}}`,
    )
    expect(documentProblems(facts)).toEqual([])
    expect(composeSeed(readDocument(facts), []).models.map(({ id }) => id)).toContain('openai/gpt-4o')
  })

  test('the same model in another case is one model, and no model is there twice', () => {
    const seed = composeSeed(
      readDocument(
        document({ openai: [factModel('gpt-4o'), factModel('GPT-4o'), factModel('openai/gpt-4o')] }),
      ),
      [],
    )
    expectUsable(seed)
    const rows = seed.endpoints['openai'] ?? []
    expect(new Set(rows.map(([model]) => model)).size).toBe(rows.length)
  })

  test('an id that differs from its key is rejected', () =>
    expect(documentProblems({ openai: { models: { a: factModel('b') } } })).toEqual([
      { path: 'openai.models["a"].id', message: 'must equal its key' },
    ]))
})

test('a document nested deeper than a stack is rejected or read, without a crash', async () => {
  const depth = 100_000
  const deep = JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)
  for (const facts of [deep, { openai: deep }, { openai: { models: { m: { limit: deep } } } }]) {
    expect(documentProblems(facts).length).toBeGreaterThan(0)
  }
  const inside = { openai: { models: { m: { future: deep, cost: { input: 1, output: 1, note: deep } } } } }
  const before = composeSeed(readDocument(document({ openai: [factModel('gpt-4o')] })), [])
  const { seed } = await proposalOf(inside, { seed: before, catalog: openCatalog(before), refreshed: null })
  expectUsable(seed)
})
