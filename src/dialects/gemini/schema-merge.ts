import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { count, type Expansion, targetOf } from './schema-expansion.ts'
import { SILENT } from './schema-rules.ts'

/** One schema that says what all parts of an `allOf` say, and what stands beside it; each part is read once. */
export function mergeAll(
  own: JsonObject,
  parts: readonly unknown[],
  lost: Set<string>,
  expansion: Expansion | undefined,
): JsonObject {
  const merging: Merging = { merged: { ...own }, properties: null, required: null, lost }
  for (const part of parts) {
    if (!isObject(part)) continue
    const isReference = isString(part['$ref'])
    const target = isReference ? referenced(part['$ref'], expansion) : part
    if (target === undefined || target['allOf'] !== undefined) {
      lost.add('allOf')
      continue
    }
    if (isReference && expansion !== undefined && !count(expansion, sizeOf(target))) break
    for (const [keyword, value] of Object.entries(target)) mergeKeyword(keyword, value, merging)
  }
  const { merged, required } = merging
  return required === null ? merged : { ...merged, required: [...required] }
}

const referenced = (reference: unknown, expansion: Expansion | undefined): JsonObject | undefined =>
  isString(reference) && expansion !== undefined ? targetOf(expansion, reference) : undefined

/** As many steps as it takes to merge it. */
function sizeOf({ properties, required, ...rest }: JsonObject): number {
  const named = isObject(properties) ? Object.keys(properties).length : 0
  return named + (Array.isArray(required) ? required.length : 0) + Object.keys(rest).length
}

interface Merging {
  readonly merged: JsonObject
  /** Those of `merged` once they are of several parts: no copy is made for each further one. */
  properties: JsonObject | null
  required: Set<unknown> | null
  readonly lost: Set<string>
}

function mergeKeyword(keyword: string, value: unknown, merging: Merging): void {
  const { merged, lost } = merging
  const before = merged[keyword]
  if (keyword === 'properties' && isObject(value) && isObject(before)) {
    merging.properties ??= merged[keyword] = { ...before }
    Object.assign(merging.properties, value)
  } else if (keyword === 'required' && Array.isArray(value) && Array.isArray(before)) {
    merging.required ??= new Set(before)
    for (const name of value) merging.required.add(name)
  } else if (before === undefined) {
    merged[keyword] = value
  } else if (!SILENT.has(keyword) && !isDeepStrictEqual(before, value)) {
    lost.add('allOf')
  }
}
