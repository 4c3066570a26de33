import { join } from 'node:path'
import type { Span } from '../src/core/content-filter.ts'
import { finished } from '../src/filters/budget.ts'
import { compileFilters } from '../src/filters/compile.ts'

/** How well the built-in filters tell what they look for from what looks like it. */

interface Samples {
  /** `found` are the parts of the text that are to be found. */
  positive: { text: string; found: string[] }[]
  negative: string[]
}

export interface Quality {
  slug: string
  /** Parts that are to be found. */
  wanted: number
  found: number
  /** Found where nothing is to be found. */
  wrong: number
  precision: number
  recall: number
}

const FILE = join(import.meta.dir, '../test/fixtures/filters/samples.json')

export async function samplesBySlug(): Promise<Record<string, Samples>> {
  return Bun.file(FILE).json()
}

export async function qualities(): Promise<Quality[]> {
  return Object.entries(await samplesBySlug()).map(([slug, samples]) => qualityOf(slug, samples))
}

export function spansIn(slug: string, text: string): Span[] {
  const filters = compileFilters([{ slug, action: 'redact' }], [])
  return finished(filters.scan(text, true, 'rewriting', { spend: () => undefined })).flatMap(({ spans }) => [
    ...spans,
  ])
}

/** A part is found when all of it would be redacted; of a sentence that attacks, any part will do. */
function qualityOf(slug: string, { positive, negative }: Samples): Quality {
  const isPartEnough = slug === 'regex-prompt-injection'
  let [wanted, found, wrong] = [0, 0, 0]
  for (const { text, found: parts } of [...positive, ...negative.map((text) => ({ text, found: [] }))]) {
    const spans = spansIn(slug, text)
    const places = parts.map((part) => ({ start: text.indexOf(part), end: text.indexOf(part) + part.length }))
    wanted += places.length
    found += places.filter((place) =>
      spans.some((span) =>
        isPartEnough ? overlap(span, place) : span.start <= place.start && span.end >= place.end,
      ),
    ).length
    wrong += spans.filter((span) => !places.some((place) => overlap(span, place))).length
  }
  return { slug, wanted, found, wrong, precision: found / (found + wrong), recall: found / wanted }
}

const overlap = (a: Span, b: Span): boolean => a.start < b.end && a.end > b.start
