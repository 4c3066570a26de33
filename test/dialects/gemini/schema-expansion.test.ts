import { describe, expect, test } from 'bun:test'
import { doublingSchema } from '../../../bench/hostile/shape.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import type { DialectCall } from '../../../src/dialects/dialect.ts'
import { geminiEgress } from '../../../src/dialects/gemini/index.ts'
import { attemptAt } from './attempt.ts'

/** References are expanded in place while the result is small; further ones stay references. */

const HELLO = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }
const build = (rest: JsonObject): DialectCall =>
  geminiEgress.build(chatIngress.parse({ ...HELLO, ...rest }, new Headers()), attemptAt({}))

const asFormat = (schema: unknown) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
})
const asTools = (schemas: readonly unknown[]) => ({
  tools: schemas.map((parameters, index) => ({
    type: 'function',
    function: { name: `t${index}`, parameters },
  })),
})
const refs = (count: number, to = (index: number) => index) =>
  Array.from({ length: count }, (_, index) => ({ $ref: `#/$defs/d${to(index)}` }))
const withDefs = (defs: JsonObject, anyOf: unknown[], more: JsonObject = {}) => ({
  type: 'object',
  properties: { a: { anyOf } },
  $defs: defs,
  ...more,
})
const chain = (count: number) =>
  withDefs(
    Object.fromEntries(
      refs(count, (index) => index + 1).map((a, index) => [
        `d${index}`,
        { type: 'object', properties: { a }, ...(index === count - 1 ? { properties: {} } : {}) },
      ]),
    ),
    refs(1),
  )

/** Each, expanded, exceeds memory or any timeout. */
const hostile: Readonly<Record<string, JsonObject>> = {
  'definitions that double each other': { ...doublingSchema(60) },
  'twelve definitions that all name each other': withDefs(
    Object.fromEntries(refs(12).map((_, index) => [`d${index}`, { anyOf: refs(12) }])),
    refs(12),
  ),
  'one definition of 500 values, 5,000 times': withDefs(
    { d0: { anyOf: Array.from({ length: 500 }, (_, index) => ({ const: `v${index}` })) } },
    refs(5_000, () => 0),
  ),
  'a long description, 5,000 times': withDefs(
    { d0: { type: 'string', description: 'a'.repeat(1_000_000) } },
    refs(5_000, () => 0),
  ),
  'a long list of values, 5,000 times': withDefs(
    { d0: { enum: Array.from({ length: 50_000 }, (_, index) => `v${index}`) } },
    refs(5_000, () => 0),
  ),
  'a chain of 10,000 references': chain(10_000),
}

describe('requests beyond a limit', () => {
  test.each(Object.entries(hostile))('%s stays as it is, with its references', (_, schema) => {
    expect(build(asFormat(schema)).body['generationConfig']).toMatchObject({ responseJsonSchema: schema })
    expect(build(asTools([schema])).body['tools']).toEqual([
      { functionDeclarations: [{ name: 't0', parametersJsonSchema: schema }] },
    ])
  })

  test('is dropped by name if the form with references cannot express it', () => {
    const schema = { ...doublingSchema(60), not: { type: 'string' } }
    expect(() => build(asFormat(schema))).toThrow(
      /^response_format\.json_schema\.schema: must not have more than 20000 keywords .* without not$/,
    )
    expect(() => build(asTools([schema]))).toThrow(/^tools\.parameters: must not/)
  })

  test('an allOf of one large definition many times ends, too', () => {
    const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`p${i}`, {}]))
    const schema = withDefs({ d0: { properties } }, [{ allOf: refs(5_000, () => 0) }])
    expect(() => build(asFormat(schema))).toThrow('without allOf')
  })

  test('all schemas of a request share what may be written out', () => {
    const [declared] = [
      build(asTools(Array.from({ length: 200 }, () => doublingSchema(10)))).body['tools'],
    ].flat()
    const { functionDeclarations } = JSON.parse(JSON.stringify(declared))
    const forms = functionDeclarations.map((one: JsonObject) => 'parametersJsonSchema' in one)
    expect(forms[0]).toBe(false)
    expect(forms.at(-1)).toBe(true)
  })
})

test('a few levels of references are written out', () => {
  const written = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } }
  expect(build(asFormat(doublingSchema(1))).body['generationConfig']).toMatchObject({
    responseSchema: { type: 'object', properties: { a: written } },
  })
})

test('parts of an allOf that the caller wrote out are merged in one pass', () => {
  const allOf = Array.from({ length: 20_000 }, (_, index) => ({
    properties: { [`p${index}`]: { type: 'string' } },
    required: [`p${index}`],
  }))
  const config = build(asFormat({ type: 'object', allOf })).body['generationConfig']
  const { responseSchema } = JSON.parse(JSON.stringify(config))
  expect(Object.keys(responseSchema.properties)).toHaveLength(20_000)
  expect(responseSchema.required).toHaveLength(20_000)
})
