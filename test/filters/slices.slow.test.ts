import { expect, test } from 'bun:test'
import {
  type ContentFilters,
  OverBudget,
  type Purpose,
  type ScanBudget,
} from '../../src/core/content-filter.ts'
import { compileFilters, type PatternEntry } from '../../src/filters/compile.ts'
import { turn, withFilters } from '../../src/inference/filters/input/apply.ts'
import { guardrail } from '../inference/fixture.ts'

/** Long prompts are scanned in slices, and what a filter that only flags costs refuses nothing. */

const WORDS = 'the foo quick brown bar writes a report for 35 customers and then some items'.split(' ')

/** Words in an order that never repeats: each place is in a state of its own. */
function prose(length: number): string {
  let seed = 7
  let text = ''
  while (text.length < length) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    text += `${WORDS[(seed >> 8) % WORDS.length]} `
  }
  return text.slice(0, length)
}

const guardrailOf = (patterns: PatternEntry[]) => guardrail({ filters: compileFilters([], patterns) })
const through = async (input: string, patterns: PatternEntry[]) =>
  withFilters({ input }, { key: { guardrails: [guardrailOf(patterns)] } }, false)

const WINDOW = String.raw`(?i)\b(foo|bar)\b.{0,100}\bbaz\b`

test('a window of a hundred characters is searched to the end of 200 kB, whatever the action', async () => {
  const text = `${prose(200_000)} foo and baz`
  const flagged = await through(text, [{ pattern: WINDOW, action: 'flag' }])
  expect(flagged.pipeline).toMatchObject([{ data: { filters: [{ name: WINDOW, action: 'flag' }] } }])
  const redacted = await through(text, [{ pattern: 'foo and baz', action: 'redact' }])
  expect(String(redacted.body['input']).endsWith(' [REDACTED]')).toBe(true)
  const blocked = await through(text, [{ pattern: WINDOW, action: 'block' }]).catch((error: unknown) => error)
  expect(blocked).toMatchObject({ status: 403, metadata: { patterns: [WINDOW] } })
})

test('over its budget a filter that flags stops and the report says so; one that blocks refuses', async () => {
  const scanning = async (exhausts: Purpose) => {
    const filters: ContentFilters = {
      holdOnInput: true,
      *scan(_, __, which) {
        if (which === exhausts) throw new OverBudget()
        yield
        return []
      },
    }
    return withFilters({ input: 'x' }, { key: { guardrails: [{ ...guardrailOf([]), filters }] } }, true)
  }
  const flagged = await scanning('recording')
  expect(flagged.pipeline).toMatchObject([{ summary: expect.stringContaining('stopped before the end') }])
  expect(flagged.body).toEqual({ input: 'x' })
  expect(await scanning('rewriting').catch((error: unknown) => error)).toMatchObject({ status: 403 })
})

/** Counts the units between two pauses. */
function sliced(): { budget: ScanBudget; paused(): void; slices: number; most: number } {
  const meter = {
    slices: 0,
    most: 0,
    paused() {
      meter.slices++
      meter.most = Math.max(meter.most, spent)
      spent = 0
    },
    budget: {
      spend(units: number) {
        spent += units
      },
      get isPauseDue() {
        return spent > SLICE
      },
    },
  }
  let spent = 0
  return meter
}
const SLICE = 1_000_000

test.each([
  ['ordinary words', 200, (index: number) => `(?i)\\bproject\\s+word${index}\\b`, prose(1_000_000)],
  ['long windows', 20, (index: number) => `${WINDOW}${index}`, prose(30_000)],
  ['many states', 60, (index: number) => `(?:a|b)*a(?:a|b){${50 + index}}c`, 'abbabaab'.repeat(10_000)],
  ['characters of many kinds', 60, (index: number) => `\\p{L}{${20 + index}}\\d`, 'Ωмरक漢字éß'.repeat(5_000)],
] as const)('no slice is much longer than another: %s', (_, count, pattern, text) => {
  const patterns = Array.from({ length: count }, (_, index) => ({
    pattern: pattern(index),
    action: 'redact' as const,
  }))
  const meter = sliced()
  const steps = compileFilters([], patterns).scan(text, true, 'rewriting', meter.budget)
  while (!steps.next().done) meter.paused()
  meter.paused()
  expect(meter.most).toBeLessThan(4 * SLICE)
})

test('long requests take turns', async () => {
  const order: string[] = []
  const long = async (name: string) => {
    for (let at = 0; at < 3; at++) {
      await turn()
      order.push(name)
    }
  }
  await Promise.all([long('a'), long('b')])
  expect(order).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
})

test('filters on the answer are compiled in slices before a provider is called', () => {
  const patterns = Array.from({ length: 200 }, (_, index) => ({
    pattern: `.{0,${800 + index}}secret`,
    action: 'redact' as const,
    appliesTo: 'output' as const,
  }))
  const { output } = compileFilters([], patterns)
  let slices = 0
  for (const _ of output?.compile() ?? []) slices++
  expect(slices).toBeGreaterThan(5)
  expect([...(output?.compile() ?? [])]).toEqual([])
})
