import { describe, expect, test } from 'bun:test'
import {
  asAmount,
  asCount,
  asFilledText,
  asList,
  asNumber,
  asObject,
  asText,
  fieldsOf,
  objectsIn,
  parseJson,
  parseObject,
  parseUnchecked,
  textsIn,
} from '../../src/core/json.ts'

const VALUES: unknown[] = [
  undefined,
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 60,
  Number.NaN,
  '',
  'a',
  [],
  ['a', {}],
  {},
  { a: 1 },
]

describe('the readers of JSON of unknown form', () => {
  test('return values of their type as they are, and undefined for the others', () => {
    const taken = (read: (value: unknown) => unknown) =>
      VALUES.filter((value) => read(value) === value && value !== undefined)
    expect(taken(asObject)).toEqual([{}, { a: 1 }])
    expect(taken(asText)).toEqual(['', 'a'])
    expect(taken(asFilledText)).toEqual(['a'])
    expect(taken(asNumber)).toEqual([0, -1, 1.5, 2 ** 60])
    expect(taken(asAmount)).toEqual([0, 1.5, 2 ** 60])
    expect(taken(asCount)).toEqual([0])
    for (const read of [asObject, asText, asFilledText, asNumber, asAmount, asCount])
      expect(VALUES.every((value) => [undefined, value].includes(read(value)))).toBe(true)
  })

  test('read lists and fields of another type as empty', () => {
    expect(VALUES.map((value) => asList(value).length)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0])
    expect(objectsIn(['a', {}, [], { a: 1 }])).toEqual([{}, { a: 1 }])
    expect(textsIn(['a', {}, '', 1])).toEqual(['a', ''])
    expect(objectsIn('a')).toEqual([])
    expect(fieldsOf({ a: 1 })['a']).toBe(1)
    expect(fieldsOf(['a'])).toEqual({})
  })

  test('parse text, undefined if it is not JSON or too deep', () => {
    expect([parseJson('1'), parseJson('{'), parseObject('[]'), parseObject('{"a":1}')]).toEqual([
      1,
      undefined,
      undefined,
      { a: 1 },
    ])
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`
    expect(parseJson(deep)).toBeUndefined()
    expect(parseUnchecked(deep)).toBeDefined()
  })
})
