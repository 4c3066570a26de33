import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { isExhaustive } from '../exhaustive.ts'
import { type Literal, regexLiterals } from './literals.ts'
import { textOf, type Worst, worstOf } from './shapes.ts'

/**
 * Every regular expression of the source takes linear time for the texts that are worst for it. The source is
 * searched for them: a new one is tried without a line here. What only ever meets the operator's own settings may be
 * left out, with a reason.
 */

const src = join(import.meta.dir, '../../src')
interface Pattern extends Literal {
  place: string
}
const patterns: Pattern[] = []
const constructed: string[] = []
for (const file of [...new Glob('**/*.{ts,tsx}').scanSync(src)].sort()) {
  const text = await Bun.file(join(src, file)).text()
  for (const literal of regexLiterals(text)) patterns.push({ ...literal, place: `${file}:${literal.line}` })
  if (/\bRegExp\(/.test(text)) constructed.push(file)
}

/** `file: pattern`, and why no caller and no provider can reach it. */
const EXEMPT: Readonly<Record<string, string>> = {
  [String.raw`providers/settings.ts: /\$\{([^}]*)\}/g`]: 'variables in sluice.yaml, before the start',
}

/** Patterns that are built from parts. */
const CONSTRUCTED: Readonly<Record<string, string>> = {
  'backup/manifest.ts': 'anchored, of bounded length',
  'inference/reply/error-forms.ts': 'alternatives of letters behind a colon',
  'dialects/responses/write-call.ts': 'anchored; what may repeat is followed by what cannot be it',
  'dialects/text-template.ts': 'meets what the gateway wrote itself; blanks between two literal texts',
}

/** Patterns here read what callers and providers send. */
const OUTSIDE =
  /^(?:core|dialects|exporters|files|filters|http|inference|net|plugins|tools|providers\/demo)\//

const threadMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function searchMs({ source, flags }: Pattern, text: string): number {
  const pattern = new RegExp(source, flags)
  const begin = threadMs()
  if (pattern.global) text.replace(pattern, '')
  else pattern.exec(text)
  return threadMs() - begin
}

/** This many times the bound cannot be noise. */
const NOISE_FACTOR = 10

/** The least of three measurements; fewer if one is within the bound, or far beyond it. */
function leastOf(most: number, measure: () => number): number {
  let least = measure()
  for (let time = 1; time < 3 && least > most && least < NOISE_FACTOR * most; time++)
    least = Math.min(least, measure())
  return least
}

const TRIED_CHARACTERS = 32_768
/** A linear search takes less than 1 ms, a quadratic one 20 and more. */
const MOST_TRIED_MS = 5
const LONG_CHARACTERS = isExhaustive ? 20_000_000 : 4_000_000
/** A quadratic search takes minutes at least. */
const MOST_LONG_MS = 1_000
/** Searches that end at once in a text of this length get no longer one. */
const PROBE_CHARACTERS = 1_000_000
const ENDS_AT_ONCE_MS = 1

/** The text that takes longest, or the first that takes too long, and how long. */
function slowest(pattern: Pattern): { worst: Worst; ms: number } {
  let found: { worst: Worst; ms: number } = { worst: { head: '', unit: 'a', tail: '!' }, ms: -1 }
  for (const worst of worstOf(pattern.source, pattern.flags)) {
    const text = textOf(worst, TRIED_CHARACTERS)
    const ms = leastOf(MOST_TRIED_MS, () => searchMs(pattern, text))
    if (ms > found.ms) found = { worst, ms }
    if (ms > MOST_TRIED_MS) break
  }
  return found
}

const nameOf = ({ place, source, flags }: Pattern): string =>
  `${place.replace(/:\d+$/, '')}: /${source}/${flags}`

describe('the search for patterns', () => {
  test('finds them', () => {
    expect(patterns.length).toBeGreaterThan(400)
    const text = `const a = b / c; const d = [/x\\/[/]+$/gi, \`\${e / 2}/f/\`] // /no/\nreturn /y/.test('/z/') ? g / 1 : /w/`
    expect(regexLiterals(text).map(({ source }) => source)).toEqual(['x\\/[/]+$', 'y', 'w'])
  })

  test('knows a quadratic one by its worst texts', () => {
    const quadratic = [
      /\s+$/,
      /^data:([a-z0-9.+-]+)[^,]*;base64,/,
      /<title[^>]*>([^<]*)</,
      /^[a-z\s]+={0,2}\s*$/,
    ]
    for (const { source, flags } of quadratic) {
      const { ms } = slowest({ source, flags, line: 0, place: 'here' })
      expect({ source, isFound: ms > MOST_TRIED_MS }).toEqual({ source, isFound: true })
    }
  }, 60_000)

  test('knows every pattern that is built from parts', () => {
    expect(constructed).toEqual(Object.keys(CONSTRUCTED).sort())
  })

  test('has no exemption without its pattern', () => {
    const names = new Set(patterns.map(nameOf))
    expect(Object.keys(EXEMPT).filter((name) => !names.has(name))).toEqual([])
  })
})

test('every pattern takes linear time, and searches megabytes of its worst text quickly', () => {
  const slow: string[] = []
  for (const pattern of patterns) {
    if (EXEMPT[nameOf(pattern)] !== undefined) continue
    const { worst, ms } = slowest(pattern)
    if (ms > MOST_TRIED_MS) {
      slow.push(
        `${pattern.place} /${pattern.source}/: ${ms.toFixed(0)} ms for 16 kB: ${JSON.stringify(worst)}`,
      )
      continue
    }
    if (!OUTSIDE.test(pattern.place) || searchMs(pattern, textOf(worst, PROBE_CHARACTERS)) < ENDS_AT_ONCE_MS)
      continue
    const text = textOf(worst, LONG_CHARACTERS)
    const longMs = leastOf(MOST_LONG_MS, () => searchMs(pattern, text))
    if (longMs > MOST_LONG_MS)
      slow.push(
        `${pattern.place} /${pattern.source}/: ${longMs.toFixed(0)} ms for ${LONG_CHARACTERS} characters: ${JSON.stringify(worst)}`,
      )
  }
  expect(slow).toEqual([])
}, 120_000)
