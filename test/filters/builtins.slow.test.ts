import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { qualities, samplesBySlug, spansIn } from '../../bench/filter-samples.ts'
import { passesLuhn } from '../../src/filters/builtins/credit-card.ts'
import { builtins } from '../../src/filters/builtins/index.ts'
import { compileFilters } from '../../src/filters/compile.ts'
import { scanned } from './scanned.ts'

const samples = await samplesBySlug()
const found = (slug: string, text: string): string[] =>
  spansIn(slug, text).map(({ start, end }) => text.slice(start, end))

test('every built-in filter has samples of both kinds', () => {
  expect(Object.keys(samples).sort()).toEqual(Object.keys(builtins).sort())
  for (const { positive, negative } of Object.values(samples)) {
    expect(positive.length).toBeGreaterThanOrEqual(6)
    expect(negative.length).toBeGreaterThanOrEqual(10)
  }
})

/** What docs/guardrails-and-filters.md states; the samples include what is missed and what is found wrongly. */
async function stated(): Promise<Record<string, number[]>> {
  const page = await Bun.file(join(import.meta.dir, '../../docs/guardrails-and-filters.md')).text()
  const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| +(\d\.\d\d) \| +(\d\.\d\d) \|/gm)]
  return Object.fromEntries(
    rows.map(([, slug, precision, recall]) => [slug, [Number(precision), Number(recall)]]),
  )
}

test('precision and recall are those of docs/guardrails-and-filters.md', async () => {
  const round = (share: number): number => Math.round(share * 100) / 100
  const measured = (await qualities()).map(({ slug, precision, recall }) => [
    slug,
    [round(precision), round(recall)],
  ])
  expect(Object.fromEntries(measured)).toEqual(await stated())
})

const rows: [slug: string, text: string, parts: string[]][] = [
  ['email', 'a@b.example, c@d.example', ['a@b.example', 'c@d.example']],
  ['phone', 'T: +1 (202) 555-0147.', ['+1 (202) 555-0147']],
  ['phone', '2024-11-21 12:30:45', []],
  ['credit-card', '12 4111-1111-1111-1111 99', ['4111-1111-1111-1111']],
  ['credit-card', '4111 1111 1111 1111 5500 0055 5555 5559', ['4111 1111 1111 1111', '5500 0055 5555 5559']],
  ['credit-card', '4111 1111 1111 1112', []],
  ['ip-address', '10.0.0.1,10.0.0.2', ['10.0.0.1', '10.0.0.2']],
  ['ip-address', '[::ffff:192.0.2.1]:80', ['::ffff:192.0.2.1']],
  ['ssn', '219-09-9999/219-09-9998', ['219-09-9999', '219-09-9998']],
  [
    'secrets',
    'A=sk-abcdefghij0123456789xyz B=AKIAIOSFODNN7BWRTPQS',
    ['sk-abcdefghij0123456789xyz', 'AKIAIOSFODNN7BWRTPQS'],
  ],
  ['address', 'Musterstraße 1, 20 rue de l’Église', ['Musterstraße 1', '20 rue de l’Église']],
]
test.each(rows)('%s in %j', (slug, text, parts) => {
  expect(found(slug, text)).toEqual(parts)
})

describe("Luhn's check", () => {
  test.each([
    ['4111111111111111', true],
    ['79927398713', true],
    ['79927398710', false],
    ['0', true],
    ['18', true],
    ['81', false],
  ] as const)('%s: %p', (digits, passes) => {
    expect(passesLuhn(digits)).toBe(passes)
  })

  test('one wrong digit never passes', () => {
    const digit = fc.integer({ min: 0, max: 9 })
    fc.assert(
      fc.property(
        fc.array(digit, { minLength: 2, maxLength: 19 }),
        fc.nat(),
        fc.integer({ min: 1, max: 9 }),
        (digits, place, by) => {
          const at = place % digits.length
          const wrong = digits.map((value, index) => (index === at ? (value + by) % 10 : value))
          expect(passesLuhn(digits.join('')) && passesLuhn(wrong.join(''))).toBe(false)
        },
      ),
      { seed: 6 },
    )
  })
})

test('five megabytes of anything are read in one go', () => {
  const budget = { spend: () => undefined }
  const all = compileFilters(
    Object.keys(builtins).map((slug) => ({ slug, action: 'redact' as const })),
    [],
  )
  for (const unit of ['a', '1 ', '-', '@', ' \n', 'a.', ':', '+1', 'é😀']) {
    expect(scanned(all, unit.repeat(5_000_000 / unit.length / 5), budget)).toEqual([])
  }
})

test('an invalid filter is reported where it would be used', () => {
  const scanning = (slug: string) => () =>
    compileFilters([{ slug, action: 'block' }], [])
      .scan('x', true, 'rewriting', { spend: () => undefined })
      .next()
  expect(scanning('moods')).toThrow('this version does not know: moods')
  expect(scanning('person-name')).toThrow('no list of them: SLUICE_PERSON_NAMES')
})
