import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { RE2JS, RE2Set } from 're2js'
import { OverBudget, type ScanBudget } from '../../src/core/content-filter.ts'
import { createBudget, finished } from '../../src/filters/budget.ts'
import { createDetector, createFinder } from '../../src/filters/search.ts'

/** Our automata against RE2JS's own search, which they must agree with. */

const unlimited: ScanBudget = { spend: () => undefined }

const detected = (patterns: readonly string[], text: string, budget = unlimited): ReadonlySet<number> =>
  finished(finished(createDetector(patterns))(text, budget))

function spansOf(pattern: string, text: string): [number, number][] {
  const find = createFinder(pattern)
  const spans: [number, number][] = []
  const next = (from: number) => finished(find(text, from, unlimited))
  for (let span = next(0); span !== null; span = next(span.end)) {
    spans.push([span.start, span.end])
  }
  return spans
}

function expectedOf(pattern: string, text: string): [number, number][] {
  const matcher = RE2JS.compile(pattern).matcher(text)
  const spans: [number, number][] = []
  while (matcher.find()) if (matcher.end() > matcher.start()) spans.push([matcher.start(), matcher.end()])
  return spans
}

const rows: [pattern: string, text: string][] = [
  ['abc', 'xxabcxabc'],
  ['abcd|bc', 'zabcd bc abc'],
  ['a|ab', 'ab abb'],
  ['ab|a', 'ab abb'],
  ['a+?', 'aaa'],
  ['a+', 'aaa b aa'],
  ['\\bcat\\b', 'cat concat cat, scat'],
  ['\\Bcat', 'cat concat'],
  ['^a', 'a\na'],
  ['(?m)^a$', 'a\na\nb a\na'],
  ['\\Aa|b\\z', 'ab ab'],
  ['(?i)straße', 'STRAßE Straße strasse'],
  ['(?i)k', 'k K \u212a'],
  ['.', 'a\n😀é'],
  ['(?s).', 'a\n😀'],
  ['[^a]', 'ba😀'],
  ['\\p{Greek}+', 'abc αβγ δ'],
  ['\\d{3}-\\d{2}', '1234-56 123-4 999-99'],
  ['(a*)*b', 'aaab aac b'],
  ['.*secret', 'my secret is a secret\nno\nsecret'],
  ['secret.*', 'my secret is a secret\nno\nsecret'],
  ['(?:a|b)+$', 'abab ba'],
  ['x{2,3}', 'xxxxxxx'],
  ['😀+', 'a😀😀b😀'],
  ['[[:alpha:]]+\\s', 'ab cd  e'],
  ['(?U)a+b', 'aab'],
]

test.each(rows)('%s in %j', (pattern, text) => {
  expect(spansOf(pattern, text)).toEqual(expectedOf(pattern, text))
})

/** Patterns that never match an empty text, so that ours and RE2JS's have the same next place. */
const atom = fc.constantFrom(
  'a',
  'b',
  'c',
  '.',
  '[ab]',
  '[^a]',
  '\\w',
  '\\d',
  '\\bb',
  'a\\b',
  '(?i:A)',
  'é',
  '😀',
  'a$',
  '^b',
)
const { pattern: patterns } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `${a}${b}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
    tie('pattern').map((a) => `(?:${a})+`),
    tie('pattern').map((a) => `(?:${a})+?`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a})*${b}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `${a}(?:${b})?`),
    tie('pattern').map((a) => `(?:${a}){2,3}`),
  ),
}))
const texts = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', 'A', ' ', '\n', '1', 'é', '😀'),
  maxLength: 24,
})

test('any pattern in any text is found where RE2JS finds it', () => {
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      expect(spansOf(pattern, text)).toEqual(expectedOf(pattern, text))
    }),
    { numRuns: 2000, seed: 6 },
  )
})

test('many patterns at once match what a set of RE2JS matches', () => {
  fc.assert(
    fc.property(fc.array(patterns, { minLength: 1, maxLength: 6 }), texts, (list, text) => {
      const set = new RE2Set()
      for (const pattern of list) set.add(pattern)
      expect([...detected(list, text)].sort()).toEqual(set.match(text))
    }),
    { numRuns: 500, seed: 6 },
  )
})

test('an empty match does not count', () => {
  expect(spansOf('a*', 'bb')).toEqual([])
  expect(spansOf('|abc', 'abc')).toEqual([[0, 3]])
  expect([...detected(['a*', '', '^', 'b?'], 'ccb')]).toEqual([3])
})

test('what would take too long is given up, whatever the pattern and the text', () => {
  const hostile = Array.from({ length: 200 }, (_, index) => `(?:a|b)*a(?:a|b){${100 + index}}c`)
  const text = 'abbabaab'.repeat(125_000)
  const budget = createBudget()
  budget.grow(text.length)
  const detect = finished(createDetector(hostile))
  expect(() => finished(detect(text, budget))).toThrow(OverBudget)
  // One budget that is used up spoils no later scan.
  expect([...finished(detect('abbb', createBudget()))]).toEqual([])
})

test('states that are forgotten change no answer', () => {
  const pattern = '(?:a|b)*a(?:a|b){12}c'
  const text = `${'abbabaabbbaababbaaab'.repeat(300)}aabbabbababbac`
  expect([...detected([pattern], text)]).toEqual(RE2JS.compile(pattern).test(text) ? [0] : [])
  expect(spansOf(pattern, text)).toEqual(expectedOf(pattern, text))
})
