import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { parse } from './parsed.ts'

describe('models', () => {
  const rows: [JsonObject, string[]][] = [
    [{ model: 'a/b' }, ['a/b']],
    [{ models: ['c/d', 'a/b', 'c/d'] }, ['c/d', 'a/b']],
    [{ model: 'a/b', models: ['c/d', 'a/b'] }, ['a/b', 'c/d']],
    [{ models: [] }, []],
  ]
  test.each(rows)('%j → %j', (fields, models) => expect(parse(fields).models).toEqual(models))
})

describe('reasoning', () => {
  const rows: [JsonObject, unknown][] = [
    [{ reasoning_effort: 'high' }, { effort: 'high' }],
    [{ reasoning_effort: 'high', reasoning: { effort: 'high' } }, { effort: 'high' }],
    [
      { reasoning_effort: 'xhigh', reasoning: { exclude: true } },
      { effort: 'xhigh', exclude: true },
    ],
    [{ reasoning_effort: null, reasoning: { effort: 'low' } }, { effort: 'low' }],
    [
      { reasoning: { max_tokens: 9, enabled: true, summary: 'auto', x: 1 } },
      {
        maxTokens: 9,
        enabled: true,
        summary: 'auto',
        extra: { x: 1 },
      },
    ],
    [{ include_reasoning: false }, { exclude: true }],
    [{ include_reasoning: false, reasoning: { exclude: false } }, { exclude: false }],
    [{ include_reasoning: true }, undefined],
    [{ reasoning: {} }, undefined],
  ]
  test.each(rows)('%j → %j', (fields, reasoning) =>
    expect<unknown>(parse(fields).reasoning).toEqual(reasoning),
  )
})

describe('provider preferences', () => {
  const defaults = { allowFallbacks: true, requireParameters: false }
  const rows: [JsonObject, JsonObject][] = [
    [
      { provider: { order: ['OpenAI'], only: ['DeepInfra/FP8'], ignore: [] } },
      {
        order: ['openai'],
        only: ['deepinfra/fp8'],
      },
    ],
    [
      { provider: { allow_fallbacks: false, require_parameters: true } },
      {
        allowFallbacks: false,
        requireParameters: true,
      },
    ],
    [{ provider: { sort: 'price' } }, { sort: 'price' }],
    [
      { provider: { sort: { by: 'latency', partition: 'none' } } },
      { sort: 'latency', sortPartition: 'none' },
    ],
    [{ route: 'fallback' }, { sortPartition: 'model' }],
    [{ route: 'sort' }, { sortPartition: 'none' }],
    [{ route: 'sort', provider: { sort: { partition: 'model' } } }, { sortPartition: 'model' }],
    [
      { provider: { data_collection: 'deny', zdr: true, enforce_distillable_text: true } },
      {
        dataCollection: 'deny',
        zdr: true,
        enforceDistillableText: true,
      },
    ],
    [
      { provider: { max_price: { prompt: 0.5, completion: '2', image: 1e-7, request: 0 } } },
      {
        maxPrice: { prompt: '0.5', completion: '2', image: '0.0000001', request: '0' },
      },
    ],
    [
      { provider: { preferred_min_throughput: 40, preferred_max_latency: { p90: 2, p50: null } } },
      {
        preferredMinThroughput: { p50: 40 },
        preferredMaxLatency: { p90: 2 },
      },
    ],
    [{ provider: { order: null, sort: null, max_price: {} } }, {}],
  ]
  test.each(rows)('%j', (fields, preferences) =>
    expect(parse(fields).preferences).toEqual({ ...defaults, ...preferences }),
  )
})
