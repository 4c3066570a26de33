import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { measureJson, UNBOUNDED } from '../../src/core/json-bounds.ts'

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom('\\n', '\\"', '\\\\', '\\u00e9', 'é'),
    fc.integer({ min: 0, max: 60 }).map((length) => 'a'.repeat(length)),
  ),
  { maxLength: 40 },
)

test('escape sequences are counted exactly, near and far from each other', () => {
  fc.assert(
    fc.property(pieces, fc.integer({ min: 0, max: 3 }), (parts, less) => {
      const bytes = Buffer.from(`"${parts.join('')}"`)
      const count = parts.filter((part) => part.startsWith('\\')).length
      const escapes = Math.max(0, count - less)
      const { excess } = measureJson(bytes, { ...UNBOUNDED, escapes })
      expect(excess).toBe(count > escapes ? 'escapes' : null)
    }),
  )
})

test('blanks between values are skipped, and a long number is still found behind them', () => {
  const blanks = ' \n\t\r'.repeat(1000)
  const json = `${blanks}[${blanks}1${blanks},${blanks}"a${blanks}"${blanks}]${blanks}`
  expect(measureJson(Buffer.from(json), UNBOUNDED)).toEqual({ excess: null, containers: 1, parts: 2 })
  expect(measureJson(Buffer.from(`[${blanks}12345]`), { ...UNBOUNDED, run: 3 }).excess).toBe('run')
  expect(measureJson(Buffer.from(`[${blanks}12 ]`), { ...UNBOUNDED, run: 3 }).excess).toBeNull()
})
