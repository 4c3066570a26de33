/** Compares a call of ours with what the vendor's own client sent for the same generation. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorded } from '../../scripts/record-exporters/recorder.ts'
import { isObject } from '../../src/core/json.ts'

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
