import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import manifest from '../package.json' with { type: 'json' }

/** The limits of size and the names of test files. biome.json holds the limit of functions (60 lines). */

const root = join(import.meta.dir, '..')

/** Lines of all of `src`. Lower it when the code shrinks; raise it for a feature only, in a commit of its own. The goal: 64,000. */
const MOST_SOURCE_LINES = 108_592
const LONGEST_FILE_LINES = 300
const MEDIAN_FILE_LINES = 120
const P90_FILE_LINES = 250

/** Test files that are still longer than 300 lines. Split them; add none. */
const LONG_TEST_FILES: readonly string[] = []

interface Counted {
  readonly file: string
  readonly lines: number
}

const counted = async (pattern: string): Promise<Counted[]> =>
  Promise.all(
    [...new Glob(pattern).scanSync(root)].sort().map(async (file) => {
      const text = await Bun.file(join(root, file)).text()
      return { file, lines: text.split('\n').length - 1 }
    }),
  )

const tooLong = (files: readonly Counted[]): string[] =>
  files.filter(({ lines }) => lines > LONGEST_FILE_LINES).map(({ file }) => file)

describe('source files', async () => {
  const files = (await counted('src/**/*.{ts,tsx}')).filter(({ file }) => !file.includes('/generated/'))
  const sizes = files.map(({ lines }) => lines).sort((a, b) => a - b)
  const quantile = (part: number): number => sizes[Math.floor(sizes.length * part)] ?? 0

  test('together have no more lines than the ceiling', () => {
    expect(sizes.length).toBeGreaterThan(100)
    expect(sizes.reduce((sum, lines) => sum + lines, 0)).toBeLessThanOrEqual(MOST_SOURCE_LINES)
  })

  test('are short: the median, nine tenths and every one of them', () => {
    expect(quantile(0.5)).toBeLessThanOrEqual(MEDIAN_FILE_LINES)
    expect(quantile(0.9)).toBeLessThanOrEqual(P90_FILE_LINES)
    expect(tooLong(files)).toEqual([])
  })
})

describe('test files', async () => {
  const files = await counted('test/**/*.ts')

  test('have at most 300 lines, except those that are still to be split', () => {
    expect(tooLong(files).filter((file) => !LONG_TEST_FILES.includes(file))).toEqual([])
  })

  test('start no process in the fast suite', async () => {
    // The fast suite leaves out these folders and every `.slow.test.ts`.
    const ignored = [...manifest.scripts['test:fast'].matchAll(/--path-ignore-patterns='([^']+)'/g)].map(
      ([, pattern]) => new Glob(pattern ?? ''),
    )
    expect(ignored.length).toBeGreaterThan(1)
    const fast = files.filter(
      ({ file }) => file.endsWith('.test.ts') && !ignored.some((glob) => glob.match(file)),
    )
    expect(fast.length).toBeGreaterThan(100)
    const starts = /\bBun\.spawn|node:child_process|\b(?:sluice|startServer)\b.*from '.*\/process\.ts'/
    const wrong: string[] = []
    for (const { file } of fast) {
      if (file !== 'test/limits.test.ts' && starts.test(await Bun.file(join(root, file)).text()))
        wrong.push(file)
    }
    expect(wrong).toEqual([])
  })
})
