import { describe, expect, test } from 'bun:test'
import type { Caller } from '../../../src/core/caller.ts'
import type { ModelRecord } from '../../../src/core/snapshot.ts'
import { withPreset } from '../../../src/inference/request/preset.ts'
import { type Plan, plan } from '../../../src/inference/routing/plan.ts'
import { caller, directory, endpoint, model, pricing, provider, request, snapshot } from '../fixture.ts'

/** Names of models that stand for a choice: variants, the latest of a family, the model of the gateway's choice. */

const made = (id: string, more: Partial<ModelRecord> = {}, price = '0.000001'): ModelRecord => ({
  ...model(id, [endpoint('lab', id, { pricing: pricing(price, price) })]),
  ...more,
})
const facts = {
  tokenizer: 'Other',
  instructType: null,
  huggingFaceId: null,
  knowledgeCutoff: null,
  hasOpenWeights: false,
}
const demo = { ...made('sluice/demo', {}, '0'), endpoints: [endpoint('sluice', 'sluice/demo')] }

const MODELS = [
  made('anthropic/claude-3.5-sonnet', { created: 10 }),
  made('anthropic/claude-sonnet-4.5', { created: 30 }),
  made('anthropic/claude-sonnet-4', { created: 20 }),
  made('anthropic/claude-opus-4.1', { created: 40 }),
  made('google/gemini-3-pro-preview', { created: 50 }),
  made('google/gemini-2.5-pro', { created: 45 }),
  made('openai/gpt-5.1', { created: 60 }),
  made('openai/gpt-5.1-2026-01-01', { created: 60 }),
  made('openai/gpt-5-mini', { created: 70 }),
  made('other/claude-sonnet-9', { created: 90 }),
  demo,
]

const PROVIDERS = [provider('lab'), provider('sluice', { kind: 'demo' })]
const worldOf = (models: ModelRecord[]) => snapshot(PROVIDERS, directory(models))

const planned = (models: string[], of = MODELS, as: Caller = caller(), preferences = {}): Plan =>
  plan({
    request: request({ models }, preferences),
    caller: as,
    snapshot: worldOf(of),
    now: 0,
    cooldownOf: () => null,
    random: () => 0.5,
  })
const modelsOf = ({ attempts }: Plan): string[] => attempts.map(({ model: { id } }) => id)

describe('~author/family-latest', () => {
  test.each([
    ['~anthropic/claude-sonnet-latest', 'anthropic/claude-sonnet-4.5'],
    ['~anthropic/claude-opus-latest', 'anthropic/claude-opus-4.1'],
    ['~google/gemini-pro-latest', 'google/gemini-3-pro-preview'],
    ['~openai/gpt-latest', 'openai/gpt-5.1'],
    ['~openai/gpt-mini-latest', 'openai/gpt-5-mini'],
    ['~anthropic/claude-sonnet-latest:nitro', 'anthropic/claude-sonnet-4.5'],
  ])('%s is %s', (name, id) => {
    const chosen = planned([name])
    expect(modelsOf(chosen)).toEqual([id])
    expect(chosen).toMatchObject({ strategy: 'latest', requested: name })
  })

  test('a family without a model is unknown', () => {
    expect(() => planned(['~anthropic/claude-haiku-latest'])).toThrow('There is no model')
    expect(() => planned(['~anthropic-latest'])).toThrow('There is no model')
  })
})

describe.each(['sluice/auto', 'openrouter/auto'])('%s', (name) => {
  const ranked = [
    made('a/plain', { created: 5 }, '0'),
    made('a/dear', { facts }, '0.00002'),
    made('a/cheap', { facts }, '0.000001'),
    made('a/good', { facts, scores: { intelligenceIndex: 40 } }, '0.0001'),
    made('a/best', { scores: { intelligenceIndex: 50 } }, '0.001'),
    demo,
  ]

  test('is ordered by benchmark, then by price, and has three models', () => {
    const chosen = planned([name], ranked)
    expect(modelsOf(chosen)).toEqual(['a/best', 'a/good', 'a/cheap'])
    expect(chosen).toMatchObject({ strategy: 'auto', requested: name })
  })

  test('begins with the default model of the workspace', () => {
    const as = caller({}, { defaultTextModel: 'a/dear' })
    expect(modelsOf(planned([name], ranked, as))).toEqual(['a/dear', 'a/best', 'a/good'])
  })

  test('leaves out models that cannot serve the request', () => {
    expect(modelsOf(planned([name], ranked, caller(), { maxPrice: { prompt: '2' } }))).toEqual([
      'a/cheap',
      'a/plain',
      'sluice/demo',
    ])
    expect(() => planned([name], ranked, caller(), { only: ['elsewhere'] })).toThrow('"provider.only"')
  })

  test('a model of this name at a provider comes first', () => {
    expect(modelsOf(planned([name], [...ranked, made(name)]))).toEqual([name])
  })

  test('after other models it adds only what they are not', () => {
    expect(modelsOf(planned(['a/best', name], ranked))).toEqual(['a/best', 'a/good', 'a/cheap'])
  })
})

test(':extended prefers the longest context, whatever the price', () => {
  const at = (slug: string, contextLength: number | null) => endpoint(slug, 'a/m', { contextLength })
  const long = model('a/m', [
    at('unknown', null),
    at('short', 8_000),
    at('long', 1_000_000),
    at('middle', 200_000),
  ])
  const world = snapshot(
    ['unknown', 'short', 'long', 'middle'].map((slug) => provider(slug)),
    directory([long]),
  )
  const slugs = (more: object) =>
    plan({
      request: request({ models: ['a/m:extended'] }, more),
      caller: caller(),
      snapshot: world,
      now: 0,
      cooldownOf: () => null,
      random: () => 0.5,
    }).attempts.map((attempt) => attempt.provider.slug)
  expect(slugs({})).toEqual(['long', 'middle', 'short', 'unknown'])
  expect(slugs({ order: ['short'] })).toEqual(['short', 'long', 'middle', 'unknown'])
  expect(slugs({ allowFallbacks: false })).toEqual(['long'])
})

describe(':thinking', () => {
  const world = worldOf([made('a/m'), made('a/exact:thinking')])
  const bodyOf = (
    body: Record<string, unknown>,
    dialect: 'chat' | 'responses' | 'messages' | 'gemini' = 'chat',
  ) => withPreset({ model: 'a/m:thinking', ...body }, dialect, caller(), world).body

  test('turns reasoning on in the words of each dialect', () => {
    expect(bodyOf({})).toMatchObject({ model: 'a/m:thinking', reasoning: { enabled: true } })
    expect(bodyOf({}, 'responses')).toMatchObject({ reasoning: { enabled: true } })
    expect(bodyOf({}, 'messages')).toMatchObject({ thinking: { type: 'adaptive' } })
    expect(bodyOf({ generationConfig: { topK: 3 } }, 'gemini')).toMatchObject({
      generationConfig: { topK: 3, thinkingConfig: { thinkingBudget: -1 } },
    })
    expect(bodyOf({ model: undefined, models: ['a/m:thinking'] })).toHaveProperty('reasoning.enabled', true)
  })

  test('keeps the reasoning that the request sets', () => {
    expect(bodyOf({ reasoning_effort: 'low' })).toEqual({ model: 'a/m:thinking', reasoning_effort: 'low' })
    expect(bodyOf({ reasoning: { effort: 'high' } })).toHaveProperty('reasoning', { effort: 'high' })
    expect(bodyOf({ thinking: { type: 'disabled' } }, 'messages')).toHaveProperty('thinking.type', 'disabled')
  })

  test('is not a variant where a model has this name, or none has the name without it', () => {
    expect(bodyOf({ model: 'a/exact:thinking' })).not.toHaveProperty('reasoning')
    expect(bodyOf({ model: 'a/unknown:thinking' })).not.toHaveProperty('reasoning')
  })
})
