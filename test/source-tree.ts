/** The files of src/ with their code and imports, for the tests that hold the rules of ARCHITECTURE.md. */
import { dirname, join, relative } from 'node:path'
import { Glob } from 'bun'

export const src = join(import.meta.dir, '../src')
interface Source {
  /** Relative to src/. */
  readonly file: string
  readonly text: string
  /** The text without comments, and without the contents of strings. */
  readonly code: string
}
export const sources: Source[] = await Promise.all(
  [...new Glob('**/*.{ts,tsx}').scanSync(src)].sort().map(async (file) => {
    const text = await Bun.file(join(src, file)).text()
    return { file, text, code: codeOf(text) }
  }),
)

/** Line by line, so that a quote in a regular expression affects only its own line. */
function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
    .split('\n')
    .map((line) =>
      line
        .replace(/(^|\s)\/\/.*$/, '')
        .replace(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/g, "''"),
    )
    .join('\n')
}

interface Import {
  readonly file: string
  /** A file is relative to src/. */
  readonly target: string
  readonly isOurs: boolean
}
export const imports: Import[] = sources.flatMap(({ file, text }) =>
  [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([@\w./:-]+)['"]/g)].map(([, target = '']) => ({
    file,
    target: target.startsWith('.') ? relative(src, join(src, dirname(file), target)) : target,
    isOurs: target.startsWith('.'),
  })),
)
export const own = imports.filter(({ target }) => sources.some(({ file }) => file === target))
export const folderOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '')

/** `file:line: text` of each line of code that matches, outside the places where it is allowed. */
export function linesWith(
  pattern: RegExp,
  isAllowed: (file: string) => boolean,
  of: 'code' | 'text' = 'code',
): string[] {
  return sources
    .filter(({ file }) => !isAllowed(file))
    .flatMap((source) =>
      source[of]
        .split('\n')
        .flatMap((line, index) =>
          pattern.test(line) ? [`${source.file}:${index + 1}: ${line.trim()}`] : [],
        ),
    )
}
export const importing = (pattern: RegExp, isAllowed: (file: string) => boolean): string[] =>
  imports
    .filter(({ file, target }) => pattern.test(target) && !isAllowed(file))
    .map(({ file, target }) => `${file} imports ${target}`)
export const nowhere = (): boolean => false

/** Files that import each other, directly or through others: the strongly connected components (Tarjan, 1972). */
export function cycles(): string[][] {
  const targets = Map.groupBy(own, ({ file }) => file)
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const open: string[] = []
  const found: string[][] = []
  const visit = (file: string): number => {
    const index = order.size
    order.set(file, index)
    low.set(file, index)
    open.push(file)
    for (const { target } of targets.get(file) ?? []) {
      if (!order.has(target)) low.set(file, Math.min(low.get(file) ?? 0, visit(target)))
      else if (open.includes(target)) low.set(file, Math.min(low.get(file) ?? 0, order.get(target) ?? 0))
    }
    if (low.get(file) === index) {
      const component = open.splice(open.indexOf(file))
      if (component.length > 1) found.push(component.sort())
    }
    return low.get(file) ?? index
  }
  for (const { file } of sources) if (!order.has(file)) visit(file)
  return found
}
