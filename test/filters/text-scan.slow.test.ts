import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ContentFilter, Piece } from '../../src/core/content-filter.ts'
import { createBudget } from '../../src/filters/budget.ts'
import { type BuiltinEntry, compileFilters, type PatternEntry } from '../../src/filters/compile.ts'
import { LONGEST, MOST_HELD, openTextScan } from '../../src/filters/text-scan.ts'
import { scanned } from './scanned.ts'

/** A text that comes in pieces is what the same filters make of it when it comes whole. */

const SLUGS = ['email', 'phone', 'ssn', 'credit-card', 'ip-address', 'secrets', 'address']
const BUILTINS: BuiltinEntry[] = SLUGS.map((slug) => ({ slug, action: 'redact', appliesTo: 'both' }))
const PATTERNS: PatternEntry[] = [
  { pattern: String.raw`ACME-\d{6}`, action: 'redact', appliesTo: 'both' },
  { pattern: 'a|ab', action: 'redact', label: '<ab>', appliesTo: 'both' },
  { pattern: '(?m)^BEGIN .*$', action: 'redact', label: '<line>', appliesTo: 'both' },
  { pattern: String.raw`\bend\z`, action: 'redact', label: '<end>', appliesTo: 'both' },
  { pattern: String.raw`\Astart`, action: 'redact', label: '<start>', appliesTo: 'both' },
  { pattern: '.{0,5}zzz', action: 'redact', label: '<zzz>', appliesTo: 'both' },
  { pattern: '😀+x', action: 'redact', label: '<smile>', appliesTo: 'both' },
]

const compiled = new Map<string, ReturnType<typeof compileFilters>>()

/** Compiled once for each choice of filters. */
function filtersOf(builtins: BuiltinEntry[], patterns: PatternEntry[]): ReturnType<typeof compileFilters> {
  const key = JSON.stringify([builtins, patterns])
  const filters = compiled.get(key) ?? compileFilters(builtins, patterns)
  compiled.set(key, filters)
  return filters
}

/** What the filters make of a text that is there at once: as they do with what is asked. */
function whole(builtins: BuiltinEntry[], patterns: PatternEntry[], text: string): string {
  const budget = createBudget()
  budget.grow(text.length * 4)
  const places = scanned(filtersOf(builtins, patterns), text, budget)
    .flatMap(({ filter, spans }) => spans.map((span) => ({ ...span, filter })))
    .sort((a, b) => a.start - b.start || b.end - a.end)
  let result = ''
  let done = 0
  for (const { start, end, filter } of places) {
    if (start >= done) result += text.slice(done, start) + filter.placeholder
    done = Math.max(done, end)
  }
  return result + text.slice(done)
}

interface Read {
  text: string
  found: Map<string, number>
  pieces: Piece[]
  /** The most that was held back after a piece was read. */
  mostHeld: number
}

function streamed(builtins: BuiltinEntry[], patterns: PatternEntry[], chunks: readonly string[]): Read {
  const filters = filtersOf(builtins, patterns)
  const budget = createBudget()
  const found = new Map<string, number>()
  const scan = openTextScan(
    filters.output?.open('rewriting') ?? [],
    budget,
    ({ name }: ContentFilter, times) => found.set(name, (found.get(name) ?? 0) + times),
  )
  const pieces: Piece[] = []
  let [come, gone, mostHeld] = [0, 0, 0]
  const take = (more: readonly Piece[]): void => {
    for (const piece of more) gone += piece.length
    pieces.push(...more)
  }
  for (const chunk of chunks) {
    budget.grow(chunk.length * 4)
    take(scan.push(chunk))
    come += chunk.length
    mostHeld = Math.max(mostHeld, come - gone)
  }
  take(scan.end())
  return { text: pieces.map(({ text }) => text).join(''), found, pieces, mostHeld }
}

function cut(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b)
  return [...ends, text.length].map((end, index) => text.slice(ends[index - 1] ?? 0, end))
}

const PLANTED = [
  'ann@site.example',
  '"joe.o\'neil+x@mail.site.co"',
  '+1 202 555 0147',
  '(202) 555-0147',
  '078-05-1120',
  '4111 1111 1111 1111',
  '4111111111111111',
  '1 4111 1111 1111 1111 2',
  '203.0.113.9',
  'v1.2.3.4',
  'version 1.2.3.4',
  '1.2.3.4.5',
  '2001:db8::1',
  'sk-abcdefghij0123456789ABCDE',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N',
  '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n-----END PRIVATE KEY-----',
  'postgres://user:s3cretPa55@db.site.example/x',
  '221 Baker Street, London, NW1 6XE',
  'ACME-123456',
  'ACME-12345',
  'BEGIN here\nagain',
  'start',
  'end',
  'ab',
  'zzz',
  '😀😀x',
  '\ud83d',
  'icon@2x.png',
  'std::fd',
  '10:20:30',
  'xx@yy',
]

const texts = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...PLANTED) },
      { weight: 3, arbitrary: fc.constantFrom(' ', '. ', ', ', '\n', '-', '.', '1', 'x', 'é', '漢字', ':') },
      { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 5 }) },
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''))

const CHOICES: [BuiltinEntry[], PatternEntry[]][] = [
  [BUILTINS, []],
  [[], PATTERNS],
  [BUILTINS, PATTERNS],
  [BUILTINS.slice(3, 5), PATTERNS.slice(2, 6)],
  [BUILTINS.slice(0, 1), PATTERNS.slice(1, 2)],
]

test('random texts, cut at random places', () => {
  fc.assert(
    fc.property(
      texts,
      fc.array(fc.nat(), { maxLength: 12 }),
      fc.constantFrom(...CHOICES),
      (text, places, [builtins, patterns]) => {
        const expected = whole(builtins, patterns, text)
        expect(streamed(builtins, patterns, cut(text, places)).text).toBe(expected)
        expect(streamed(builtins, patterns, [...text.split('')]).text).toBe(expected)
      },
    ),
    { numRuns: 800 },
  )
})

test('every planted match, cut at every place', () => {
  for (const planted of PLANTED) {
    const text = `So: ${planted} end`
    const expected = whole(BUILTINS, PATTERNS, text)
    for (let at = 0; at <= text.length; at++) {
      expect(streamed(BUILTINS, PATTERNS, [text.slice(0, at), text.slice(at)]).text).toBe(expected)
    }
  }
})

const one = (pattern: string, action: PatternEntry['action'] = 'redact'): PatternEntry[] => [
  { pattern, action, label: '#', appliesTo: 'output' },
]
const parted = (text: string, size: number): string[] => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []

test('what blocks ends the text where it begins, and nothing is answered after it', () => {
  const patterns: PatternEntry[] = [
    { pattern: 'secret', action: 'block', appliesTo: 'output' },
    { pattern: 'the s', action: 'redact', label: '#', appliesTo: 'output' },
  ]
  const text = 'Now the secret is out, and the story goes on'
  for (let size = 1; size <= text.length; size++) {
    const { pieces, found } = streamed([], patterns, parted(text, size))
    expect(pieces.map(({ text: out }) => out).join('')).toBe('Now #')
    expect(pieces.at(-1)?.kind).toBe('blocked')
    expect(found.get('secret')).toBe(0)
  }
})

test('text that no filter can still want goes out at once', () => {
  const { pieces } = streamed(BUILTINS, [], ['Hello, ', 'world. ', 'call 12'])
  expect(pieces.map(({ text }) => text)).toEqual(['Hello, ', 'world. ', 'call ', '12'])
})

test('a filter that may match anywhere withholds at most as much as it can match', () => {
  const text = 'no such word in here, '.repeat(1_000)
  const { text: out, mostHeld } = streamed([], one('.{0,50}internal only'), parted(text, 7))
  expect(out).toBe(text)
  expect(mostHeld).toBeLessThan(160)
})

test.each([
  ['begins and never ends', '<<(?s:.)*>>', `ok <<${'x '.repeat(20_000)}`],
  ['goes on and on', 'a+b', 'a'.repeat(30_000)],
])('%s: at most the bound is held back', (_, pattern, text) => {
  const { text: out, mostHeld, found } = streamed([], one(pattern), parted(text, 5))
  expect(out).toBe(text)
  expect(mostHeld).toBeLessThanOrEqual(MOST_HELD + 5)
  expect(found.size).toBe(0)
})

test('a match as long as is promised is found whole', () => {
  const long = `x${'a'.repeat(LONGEST - 2)}b`
  for (const size of [1, 3, 1_000, 5_000]) {
    expect(streamed([], one('xa*b'), parted(`${long} ${long}.`, size)).text).toBe('# #.')
  }
})

test('of a longer one only the start can have been sent', () => {
  const text = `${'-'.repeat(50)}x${'a'.repeat(3 * MOST_HELD)}b!`
  for (const size of [1, 7, 999]) {
    const { text: out } = streamed([], one('xa*b'), parted(text, size))
    expect(out).toMatch(/^-{50}xa*#!$/)
    expect(text.length - out.length).toBeGreaterThanOrEqual(LONGEST - size)
    expect(streamed([], one('xa*b', 'block'), parted(text, size)).pieces.at(-1)?.kind).toBe('blocked')
  }
})

test('a long text that matches from its beginning is removed and reported once', () => {
  const text = `Key: sk-${'a1b2c3d4'.repeat(3_000)} end`
  const { text: out, found } = streamed(BUILTINS, [], parted(text, 6))
  expect(out).toBe('Key: [REDACTED:secrets] end')
  expect(found.get('secrets')).toBe(1)
})

test('what would take too long is given up, and a long clean text is not', () => {
  const hostile = Array.from(
    { length: 40 },
    (_, index) => one(`(?:a|b)*a(?:a|b){${50 + index}}c`)[0],
  ).flatMap((entry) => entry ?? [])
  let seed = 7
  const bits = Array.from({ length: 40_000 }, () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return seed & 0x10000 ? 'a' : 'b'
  })
  expect(() => streamed([], hostile, parted(bits.join(''), 9)).mostHeld).toThrow(/budget/)
  const text = 'The report of 2024 names 4,711 items, and Ann wrote: fine. '.repeat(8_000)
  expect(streamed(BUILTINS, PATTERNS.slice(0, 1), parted(text, 6)).text).toBe(text)
})
