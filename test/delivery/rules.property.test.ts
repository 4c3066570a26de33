import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { compileRules, type RuleFacts } from '../../src/delivery/rules.ts'
import { runs } from '../exhaustive.ts'

/** Random rules on random rows, against an interpreter that is written as plainly as possible. */

const TEXTS = [
  'model',
  'provider',
  'session_id',
  'user_id',
  'api_key_name',
  'finish_reason',
  'input',
  'output',
] as const
const NUMBERS = ['total_cost', 'total_tokens', 'prompt_tokens', 'completion_tokens'] as const

/** Few letters, so that rules hold about as often as they do not. */
const word = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '\n', '.'), maxLength: 4 })
const amount = fc.constantFrom(0, 0.5, 1, 1.5, 2)
const absent = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 3 })

const facts: fc.Arbitrary<RuleFacts> = fc.record({
  model: absent(word),
  provider: absent(word),
  session_id: absent(word),
  user_id: absent(word),
  api_key_name: absent(word),
  finish_reason: absent(word),
  input: absent(word),
  output: absent(word),
  total_cost: absent(amount),
  total_tokens: absent(amount),
  prompt_tokens: absent(amount),
  completion_tokens: absent(amount),
})

const pattern = fc.constantFrom('a', '^a', 'b$', 'a+b', '[ab]{2}', '(?i)bb', '^$', '\\.', 'a|b\\n')
const textRule = fc.oneof(
  fc.record({
    field: fc.constantFrom(...TEXTS),
    operator: fc.constantFrom(
      'equals' as const,
      'not_equals' as const,
      'contains' as const,
      'not_contains' as const,
      'starts_with' as const,
      'ends_with' as const,
    ),
    value: word,
  }),
  fc.record({ field: fc.constantFrom(...TEXTS), operator: fc.constant('regex' as const), value: pattern }),
)
const numberRule = fc.record({
  field: fc.constantFrom(...NUMBERS),
  operator: fc.constantFrom(
    'equals' as const,
    'not_equals' as const,
    'gt' as const,
    'gte' as const,
    'lt' as const,
    'lte' as const,
  ),
  value: amount,
})
const presence = fc.record({
  field: fc.constantFrom(...TEXTS, ...NUMBERS),
  operator: fc.constantFrom('exists' as const, 'not_exists' as const),
})
const rule = fc.oneof(textRule, numberRule, presence)
type AnyRule = { field: keyof RuleFacts; operator: string; value?: string | number }
const group = fc.record(
  {
    logic: fc.constantFrom('and' as const, 'or' as const),
    rules: fc.array(rule, { minLength: 1, maxLength: 4 }),
  },
  { requiredKeys: ['rules'] },
)
const rules = fc.record(
  { enabled: fc.boolean(), groups: fc.array(group, { maxLength: 3 }) },
  { requiredKeys: ['groups'] },
)

function holds({ field, operator, value }: AnyRule, row: RuleFacts): boolean {
  const fact = row[field]
  if (operator === 'exists') return fact !== null
  if (operator === 'not_exists') return fact === null
  if (operator === 'not_equals') return fact === null || fact !== value
  if (operator === 'not_contains')
    return fact === null || (value !== '' && String(fact).split(String(value)).length === 1)
  if (fact === null) return false
  if (operator === 'equals') return fact === value
  if (operator === 'gt') return Number(fact) > Number(value)
  if (operator === 'gte') return Number(fact) >= Number(value)
  if (operator === 'lt') return Number(fact) < Number(value)
  if (operator === 'lte') return Number(fact) <= Number(value)
  const [text, given] = [String(fact), String(value)]
  if (operator === 'contains') return text.indexOf(given) >= 0
  if (operator === 'starts_with') return text.slice(0, given.length) === given
  if (operator === 'ends_with') return given === '' || text.slice(-given.length) === given
  // Of the patterns above both engines find the same.
  const ignoresCase = given.startsWith('(?i)')
  return new RegExp(ignoresCase ? given.slice(4) : given, ignoresCase ? 'i' : '').test(text)
}

test('rules take what the plain interpreter takes', () => {
  let taken = 0
  let all = 0
  fc.assert(
    fc.property(rules, facts, (some, row) => {
      const expected =
        some.enabled === false ||
        some.groups.every((each) => {
          const results = each.rules.map((one) => holds(one, row))
          return each.logic === 'or' ? results.includes(true) : !results.includes(false)
        })
      const compiled = compileRules(some)
      expect(compiled.takes(row)).toBe(expected)
      expect(compiled.needsContent).toBe(
        some.enabled !== false &&
          some.groups.some((each) => each.rules.some(({ field }) => field === 'input' || field === 'output')),
      )
      all += 1
      if (expected) taken += 1
    }),
    { seed: 18, numRuns: runs(10_000, 200_000) },
  )
  // Neither nearly always nor nearly never.
  expect(taken / all).toBeGreaterThan(0.2)
  expect(taken / all).toBeLessThan(0.8)
})

const NOTHING: RuleFacts = {
  model: null,
  provider: null,
  session_id: null,
  user_id: null,
  api_key_name: null,
  finish_reason: null,
  input: null,
  output: null,
  total_cost: null,
  total_tokens: null,
  prompt_tokens: null,
  completion_tokens: null,
}

test('a pattern that others search for ever takes no time, and only the beginning of a text is searched', () => {
  const evil = compileRules({
    groups: [{ rules: [{ field: 'input', operator: 'regex', value: '^(a+)+$' }] }],
  })
  expect(evil.takes({ ...NOTHING, input: `${'a'.repeat(50_000)}b` })).toBe(false)
  expect(evil.takes({ ...NOTHING, input: 'a'.repeat(50) })).toBe(true)
  const late = compileRules({ groups: [{ rules: [{ field: 'input', operator: 'regex', value: 'needle' }] }] })
  expect(late.takes({ ...NOTHING, input: `${'x'.repeat(99_000)}needle` })).toBe(true)
  expect(late.takes({ ...NOTHING, input: `${'x'.repeat(200_000)}needle` })).toBe(false)
})

test('rules that are null or without groups take everything', () => {
  expect(compileRules(null).takes(NOTHING)).toBe(true)
  expect(compileRules({ groups: [] }).takes(NOTHING)).toBe(true)
})

test('large patterns are searched in fewer characters, so that a generation does not hold the others up', () => {
  const isFound = (pattern: string, at: number): boolean => {
    const rules = {
      groups: [{ rules: [{ field: 'input' as const, operator: 'regex' as const, value: pattern }] }],
    }
    return compileRules(rules).takes({ ...NOTHING, input: `${'a'.repeat(at)}z` })
  }
  expect([isFound('z', 99_999), isFound('z', 100_000)]).toEqual([true, false])
  expect([isFound('x{1000}|z', 9_000), isFound('x{1000}|z', 50_000)]).toEqual([true, false])
})
