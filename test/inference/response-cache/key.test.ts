import { describe, expect, test } from 'bun:test'
import type { GuardrailRecord } from '../../../src/core/guardrail.ts'
import { type CacheOptions, cacheOptionsOf } from '../../../src/inference/response-cache/cache-options.ts'
import { cacheKey } from '../../../src/inference/response-cache/key.ts'
import { caller, guardrail } from '../fixture.ts'

const someone = caller()
const guarded = (...guardrails: GuardrailRecord[]) => ({ ...someone, key: { ...someone.key, guardrails } })

const BODY = {
  model: 'tiny',
  messages: [{ role: 'user', content: 'Hi' }],
  temperature: 0.5,
  response_format: { type: 'json_schema', json_schema: { schema: { properties: { a: {}, b: {} } } } },
}
const keyOf = (body: object, who = someone, more: object = {}): string =>
  cacheKey({ apiType: 'completions', body: { ...body }, ...more }, who)
const usual = keyOf(BODY)

type Row = [what: string, key: () => string]
const SAME: Row[] = [
  ['the order of fields', () => keyOf(Object.fromEntries(Object.entries(BODY).toReversed()))],
  ['the order of fields further in', () => keyOf({ ...BODY, messages: [{ content: 'Hi', role: 'user' }] })],
  ...['stream', 'stream_options', 'store', 'usage', 'user', 'metadata', 'session_id', 'trace'].map(
    (name): Row => [name, () => keyOf({ ...BODY, [name]: { any: 'thing' } })],
  ),
  ['null in place of nothing', () => keyOf({ ...BODY, top_p: null })],
  ['another key of the workspace', () => keyOf(BODY, { ...someone, key: { ...someone.key, hash: 'other' } })],
  ['a guardrail that only bounds spending', () => keyOf(BODY, guarded(guardrail({ rules: '' })))],
]
const OTHER: Row[] = [
  ['another model', () => keyOf({ ...BODY, model: 'large' })],
  ['another word', () => keyOf({ ...BODY, messages: [{ role: 'user', content: 'Ho' }] })],
  ['another temperature', () => keyOf({ ...BODY, temperature: 0.6 })],
  ['a seed', () => keyOf({ ...BODY, seed: 1 })],
  ['a preference of providers', () => keyOf({ ...BODY, provider: { only: ['lab'] } })],
  ['an unknown field', () => keyOf({ ...BODY, unheard_of: 1 })],
  ['a field aside, further in', () => keyOf({ ...BODY, messages: [{ ...BODY.messages[0], user: 'ann' }] })],
  [
    'the order of turns',
    () =>
      keyOf({
        ...BODY,
        messages: [
          { role: 'system', content: 'Hi' },
          { role: 'user', content: 'Hi' },
        ],
      }),
  ],
  [
    'the order in which a schema has its properties',
    () =>
      keyOf({
        ...BODY,
        response_format: { type: 'json_schema', json_schema: { schema: { properties: { b: {}, a: {} } } } },
      }),
  ],
  ['another API', () => keyOf(BODY, someone, { apiType: 'messages' })],
  ['a beta of the provider', () => keyOf(BODY, someone, { headers: { 'anthropic-beta': 'x' } })],
  [
    'another workspace',
    () => keyOf(BODY, { ...someone, workspace: { ...someone.workspace, id: 'elsewhere' } }),
  ],
  ['a guardrail with rules', () => keyOf(BODY, guarded(guardrail({ rules: 'abc' })))],
  ['a guardrail of unknown rules', () => keyOf(BODY, guarded(guardrail({})))],
]

describe('the same question', () => {
  for (const [what, key] of SAME) test(what, () => expect(key()).toBe(usual))
  test('two guardrails, whichever stands first', () => {
    const [one, two] = [guardrail({ rules: 'one' }), guardrail({ id: 'g2', rules: 'two' })]
    expect(keyOf(BODY, guarded(one, two))).toBe(keyOf(BODY, guarded(two, one)))
  })
})

describe('another question', () => {
  for (const [what, key] of OTHER) test(what, () => expect(key()).not.toBe(usual))
  test('all of them are different', () => {
    expect(new Set(OTHER.map(([, key]) => key())).size).toBe(OTHER.length)
  })
  test('a name cannot run into a value', () => {
    expect(keyOf({ a: 'b","c":"d' })).not.toBe(keyOf({ a: 'b', c: 'd' }))
  })
})

describe('who asks for it', () => {
  const on = { isOn: true, ttlSeconds: 60 }
  const off = { isOn: false, ttlSeconds: 90 }
  type Asked = [
    headers: Record<string, string>,
    workspace: typeof on | undefined,
    asked: CacheOptions | undefined,
  ]
  const fresh = (ttlSeconds: number) => ({ ttlSeconds, isRefreshed: false })
  const name = 'x-openrouter-cache'
  const rows: Asked[] = [
    [{}, undefined, undefined],
    [{}, off, undefined],
    [{}, on, fresh(60)],
    [{ [name]: 'true' }, undefined, fresh(300)],
    [{ [name]: 'true' }, off, fresh(90)],
    [{ [name]: ' TRUE ' }, off, fresh(90)],
    [{ 'x-service-cache': 'true' }, off, fresh(90)],
    [{ [name]: 'false' }, on, undefined],
    [{ 'x-service-cache': 'false', [name]: 'true' }, on, undefined],
    [{ [name]: 'perhaps' }, on, fresh(60)],
    [{ [name]: 'perhaps' }, off, undefined],
    [{ [`${name}-ttl`]: '5' }, on, fresh(5)],
    [{ 'x-service-cache-ttl': '5' }, on, fresh(5)],
    [{ [`${name}-ttl`]: '5' }, off, undefined],
    [{ [`${name}-ttl`]: '0' }, on, fresh(1)],
    [{ [`${name}-ttl`]: '86400' }, on, fresh(86_400)],
    [{ [`${name}-ttl`]: '86401' }, on, fresh(86_400)],
    [{ [`${name}-ttl`]: '7s' }, on, fresh(7)],
    [{ [`${name}-ttl`]: '-7' }, on, fresh(60)],
    [{ [`${name}-ttl`]: 'long' }, on, fresh(60)],
    [{ [`${name}-clear`]: 'true' }, on, { ttlSeconds: 60, isRefreshed: true }],
    [{ [`${name}-clear`]: 'true' }, off, undefined],
  ]
  for (const [headers, responseCache, asked] of rows) {
    test(`${JSON.stringify(headers)} where the workspace says ${JSON.stringify(responseCache)}`, () => {
      const workspace = { ...someone.workspace, ...(responseCache ? { responseCache } : {}) }
      expect(cacheOptionsOf(new Headers(headers), { ...someone, workspace })).toEqual(asked)
    })
  }

  test('a caller that requires zero retention has nothing cached here', () => {
    const who = guarded(guardrail({ zdrAuthors: new Set(['openai']) }))
    expect(cacheOptionsOf(new Headers({ [name]: 'true' }), who)).toBeUndefined()
    expect(cacheOptionsOf(new Headers({ [name]: 'true' }), guarded(guardrail({})))).toEqual(fresh(300))
  })
})
