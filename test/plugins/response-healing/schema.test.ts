import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { isObject } from '../../../src/core/json.ts'
import { checkSchema } from '../../../src/plugins/response-healing/schema-check.ts'
import { runs } from '../../exhaustive.ts'

const name = fc.constantFrom('a', 'b', 'c')
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, 0, 1, 2, 2.5, -3, '', 'a', 'ab', 'zzz', '😀'),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(name, tie('any'), { maxKeys: 3 }),
  ),
})).any

/** Schemas of the keywords that structured output allows, and more. */
const schema = fc.letrec((tie) => {
  const inner = tie('any')
  const size = fc.integer({ min: 0, max: 3 })
  const some = fc.array(inner, { minLength: 1, maxLength: 3 })
  const types = fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object')
  return {
    any: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(true, false, {}),
      fc.record(
        {
          type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })),
          enum: fc.uniqueArray(fc.constantFrom('a', 'ab', 1, null, true), { minLength: 1 }),
          const: fc.constantFrom('a', 0, null, true),
          minimum: size,
          maximum: size,
          exclusiveMinimum: size,
          exclusiveMaximum: size,
          multipleOf: fc.constantFrom(1, 2, 0.5),
          minLength: size,
          maxLength: size,
          pattern: fc.constantFrom('^a', 'b$', '^[a-z]*$', '.'),
          minItems: size,
          maxItems: size,
          uniqueItems: fc.boolean(),
          items: inner,
          prefixItems: some,
          contains: inner,
          minProperties: size,
          maxProperties: size,
          required: fc.uniqueArray(name, { maxLength: 2 }),
          properties: fc.dictionary(name, inner),
          patternProperties: fc.dictionary(fc.constantFrom('^a', 'b|c'), inner),
          additionalProperties: inner,
          propertyNames: fc.constantFrom({ maxLength: 1 }, { enum: ['a', 'b'] }),
          dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 })),
          dependentSchemas: fc.dictionary(name, inner),
          allOf: some,
          anyOf: some,
          oneOf: some,
          not: inner,
          if: inner,
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: inner,
          else: inner,
          $ref: fc.constantFrom('#/$defs/flag', '#/$defs/short~1name'),
        },
        { requiredKeys: [] },
      ),
    ),
  }
}).any

const defs = { flag: { type: 'boolean' }, 'short/name': { type: 'string', maxLength: 1 } }

test('agrees with Ajv', () => {
  const ajv = new Ajv({ strict: false, validateSchema: false, logger: false })
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 20, maxLength: 20 }), (made, values) => {
      const whole = isObject(made) ? { ...made, $defs: defs } : made === true
      // Compiling takes Ajv longer than everything else here.
      const isValid = ajv.compile(whole)
      for (const given of values) {
        const { problem, unchecked } = checkSchema(given, whole)
        expect(unchecked).toEqual([])
        expect(problem === null).toBe(isValid(given) === true)
      }
    }),
    { seed: 17, numRuns: runs(40, 5_000) },
  )
})

describe('older drafts', () => {
  test('lists of items, exclusive bounds as flags, nullable', () => {
    expect(
      checkSchema([1, 'a'], { items: [{ type: 'number' }], additionalItems: { type: 'string' } }).problem,
    ).toBeNull()
    expect(checkSchema([1, 2], { items: [{ type: 'number' }], additionalItems: false }).problem).toBe(
      '[1] is not allowed',
    )
    expect(checkSchema(1, { minimum: 1, exclusiveMinimum: true }).problem).toBe(
      'the answer must be more than 1',
    )
    expect(checkSchema(null, { type: 'string', enum: ['a'], nullable: true }).problem).toBeNull()
  })
})

describe('a hostile schema', () => {
  test('that doubles with each reference ends, and says that it was not checked', () => {
    const $defs: Record<string, unknown> = { a0: { type: 'object' } }
    for (let i = 1; i < 60; i++) {
      $defs[`a${i}`] = { allOf: [{ $ref: `#/$defs/a${i - 1}` }, { $ref: `#/$defs/a${i - 1}` }] }
    }
    expect(checkSchema({}, { $ref: '#/$defs/a59', $defs })).toEqual({ problem: null, unchecked: ['schema'] })
  })

  test('that refers to itself ends', () => {
    expect(checkSchema({}, { $ref: '#' })).toEqual({ problem: null, unchecked: ['schema'] })
    expect(checkSchema({}, { anyOf: [{ $ref: '#' }, { $ref: '#' }] })).toEqual({
      problem: null,
      unchecked: ['schema'],
    })
  })

  test('whose pattern takes a backtracking matcher ages is matched at once', () => {
    expect(checkSchema('a'.repeat(5_000), { pattern: '^(a+)+$' }).problem).toBeNull()
    expect(checkSchema(`${'a'.repeat(5_000)}!`, { pattern: '^(a+)+$' }).problem).toBe(
      'the answer must match "^(a+)+$"',
    )
  })

  test('names what it cannot check', () => {
    expect(checkSchema('ab', { pattern: '(?=a)b' })).toEqual({ problem: null, unchecked: ['pattern'] })
    expect(checkSchema({}, { $ref: 'https://site.example/schema.json' })).toEqual({
      problem: null,
      unchecked: ['$ref'],
    })
    expect(checkSchema({}, { unevaluatedProperties: false }).unchecked).toEqual(['unevaluatedProperties'])
  })

  test('compares long lists within its bound', () => {
    const long = Array.from({ length: 150_000 }, (_, i) => ({ i }))
    expect(checkSchema(long, { uniqueItems: true })).toEqual({ problem: null, unchecked: ['schema'] })
  })
})
