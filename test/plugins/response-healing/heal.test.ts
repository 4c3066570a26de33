import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { brokenAnswers, wholeAnswers } from '../../../bench/healing-corpus.ts'
import { heal, schemaOf } from '../../../src/plugins/response-healing/heal.ts'
import { runs } from '../../exhaustive.ts'

const healedText = (answer: string, schema: Record<string, unknown> | null = null): string => {
  const healed = heal(answer, schema)
  return healed.kind === 'healed' ? healed.text : `${healed.kind}: ${JSON.stringify(healed)}`
}

describe('the corpus', () => {
  test('of more than 300 broken answers is repaired, each to what it was, by kind', () => {
    const answers = brokenAnswers()
    expect(answers.length).toBeGreaterThanOrEqual(300)
    const wrong = answers.filter(({ seed, answer, isRight }) => {
      const healed = heal(answer, { ...seed.schema })
      return healed.kind !== 'healed' || !isRight(JSON.parse(healed.text))
    })
    expect(wrong.map(({ kind, seed }) => `${kind}: ${seed.name}`)).toEqual([])
  })

  test('of 300 whole answers stays as it is, with its schema and without', () => {
    const answers = wholeAnswers()
    expect(answers.length).toBeGreaterThanOrEqual(300)
    for (const { seed, answer } of answers) {
      expect(heal(answer, { ...seed.schema })).toMatchObject({ kind: 'whole' })
      expect(heal(answer, null)).toMatchObject({ kind: 'whole' })
    }
  })
})

test('no JSON object or list is ever changed', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.object(), fc.array(fc.jsonValue())),
      fc.integer({ min: 0, max: 4 }),
      (value, indent) => {
        const answer = JSON.stringify(value, null, indent)
        expect(heal(answer, null)).toEqual({ kind: 'whole', unchecked: [] })
      },
    ),
    { seed: 17, numRuns: runs(300, 20_000) },
  )
})

test('any text gives JSON or a reason, and what is repaired is whole', () => {
  const piece = fc.constantFrom(
    ...'{}[]",:\'`\\/#*()=+-.0 1\nabc“”'.split(''),
    '"a"',
    'null',
    'True',
    '```json',
    '//',
    '\\"',
    '\\u00',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const healed = heal(pieces.join(''), null)
      if (healed.kind === 'healed') expect(heal(healed.text, null)).toMatchObject({ kind: 'whole' })
      else if (healed.kind === 'failed') expect(healed.reason).toBeString()
    }),
    { seed: 17, numRuns: runs(2_000, 200_000) },
  )
})

describe('a repair', () => {
  test('invents nothing: a key without a value at the end of the text is left out', () => {
    expect(healedText('{"a": 1, "b')).toBe('{"a": 1}')
    expect(healedText('{"a": 1, "b":')).toBe('{"a": 1}')
    expect(healedText('{"a": [1, {"b": "half')).toBe('{"a": [1, {"b": "half"}]}')
  })

  test('keeps numbers as they were written, also those that JavaScript cannot hold', () => {
    expect(healedText('{"id": 12345678901234567890, "price": 1.50,}')).toBe(
      '{"id": 12345678901234567890, "price": 1.50}',
    )
  })

  test('makes a text of a number with leading zeros', () => {
    expect(healedText('{zip: 01099}')).toBe('{"zip": "01099"}')
  })

  test('takes quotes inside a text for its own', () => {
    expect(healedText('{"a": "he said "no", twice", "b": 2}')).toBe(
      '{"a": "he said \\"no\\", twice", "b": 2}',
    )
  })

  test('ends a text at its line if the next line begins with a key', () => {
    expect(healedText('{"a": "one,\n "b": "two"}')).toBe('{"a": "one",\n "b": "two"}')
  })

  test('prefers the value that matches the schema to a longer one', () => {
    const schema = { type: 'object', required: ['city'] }
    const answer = 'Your example {"name": "a very long example of something else"} becomes {"city": "Rome"}'
    expect(healedText(answer, schema)).toBe('{"city": "Rome"}')
    expect(healedText('{"city": "Rome"} is better than {"city": "Romx"}', schema)).toBe('{"city": "Romx"}')
  })

  test('names what it did', () => {
    expect(heal("```json\n{'a': True,}\n```", null)).toMatchObject({
      kind: 'healed',
      repairs: ['quotes', 'literals', 'commas', 'code_fence'],
    })
  })
})

describe('an answer that cannot be repaired', () => {
  test.each([
    ['nothing', '', 'is not JSON: it is empty'],
    ['prose', 'I cannot help with that.', 'is not JSON: it contains no JSON'],
    ['a text', '"only a text"', 'is not JSON: it contains no object and no list'],
    ['a number', '42', 'is not JSON: it contains no object and no list'],
    ['deep lists', '['.repeat(300), 'is not JSON: it is nested deeper than 200 levels'],
    ['a long one', `{"a": ${'x'.repeat(100_000)}`, 'is longer than the 100,000 characters that are repaired'],
  ])('says why: %s', (_, answer, reason) => {
    expect(heal(answer, null)).toEqual({ kind: 'failed', reason })
  })

  test('names the place that does not match the schema', () => {
    const schema = {
      type: 'object',
      properties: { items: { type: 'array', items: { type: 'object', required: ['price'] } } },
    }
    const reason = 'does not match the schema: items[1] must have "price"'
    expect(heal('{"items": [{"price": 1}, {}]}', schema)).toEqual({ kind: 'failed', reason })
    expect(heal("{'items': [{'price': 1}, {}]}", schema)).toEqual({ kind: 'failed', reason })
  })
})

test('a format without JSON asks for nothing', () => {
  expect(schemaOf(undefined)).toBeUndefined()
  expect(schemaOf({ type: 'text' })).toBeUndefined()
  expect(schemaOf({ type: 'grammar', grammar: 'x' })).toBeUndefined()
  expect(schemaOf({ type: 'json_object' })).toBeNull()
  expect(schemaOf({ type: 'json_schema', json_schema: { name: 'a' } })).toBeNull()
  expect(schemaOf({ type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } })).toEqual({
    type: 'object',
  })
})
