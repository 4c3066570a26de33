/** Compares a call of ours with what the vendor's own client sent for the same generation. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorded } from '../../scripts/record-exporters/recorder.ts'
import { isObject, parseJson } from '../../src/core/json.ts'

/** The calls in test/fixtures/exporters, which `bun run record:exporters` writes. */
export function recordedCalls(kind: string): readonly Recorded[] {
  const file = join(import.meta.dir, '../fixtures/exporters', kind, 'sdk.json')
  return JSON.parse(readFileSync(file, 'utf8'))
}

/**
 * One line for each place where the two differ: `missing` (they have it, we do not), `extra` (we have it, they do not),
 * `other` (both have it, with other values). Lists are compared item by item.
 */
export function differencesOf(theirs: unknown, ours: unknown, path = ''): string[] {
  if (Object.is(theirs, ours)) return []
  if (isTree(theirs) && isTree(ours) && Array.isArray(theirs) === Array.isArray(ours)) {
    const [left, right] = [new Map(Object.entries(theirs)), new Map(Object.entries(ours))]
    return [...new Set([...left.keys(), ...right.keys()])].flatMap((key) => {
      const place = path === '' ? key : `${path}.${key}`
      if (!right.has(key)) return [`missing: ${place}`]
      if (!left.has(key)) return [`extra: ${place}`]
      return differencesOf(left.get(key), right.get(key), place)
    })
  }
  return [`other: ${path}`]
}

const isTree = (value: unknown): value is object => isObject(value) || Array.isArray(value)

/** The differences that `meant` does not name, and what it names in vain. A name may end with `*`. */
export function unexplained(
  differences: readonly string[],
  meant: Readonly<Record<string, string>>,
): { readonly unexplained: string[]; readonly inVain: string[] } {
  const matches = (name: string, line: string): boolean =>
    name.endsWith('*') ? line.startsWith(name.slice(0, -1)) : line === name
  const names = Object.keys(meant)
  return {
    unexplained: differences.filter((line) => !names.some((name) => matches(name, line))),
    inVain: names.filter((name) => !differences.some((line) => matches(name, line))),
  }
}

/** Attributes with the JSON that they hold as text. */
export const readAttributes = (attributes: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => {
      const parsed = typeof value === 'string' && /^[[{"]/.test(value) ? parseJson(value) : undefined
      return [name, parsed ?? value]
    }),
  )

/** The values of `tree` at the paths of `same`, under the names there; all else under its own path, after `their:`. */
export function renamed(
  tree: unknown,
  same: Readonly<Record<string, string>>,
  path = '',
): Record<string, unknown> {
  const name = same[path]
  if (name !== undefined) return { [name]: tree }
  if (!isObject(tree) || Object.keys(tree).length === 0) return { [`their:${path}`]: tree }
  return Object.assign(
    {},
    ...Object.entries(tree).map(([key, value]) => renamed(value, same, path === '' ? key : `${path}.${key}`)),
  )
}
