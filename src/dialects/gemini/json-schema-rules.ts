import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../core/events.ts'
import { fieldsOf, isObject, isString, objectsIn } from '../../core/json.ts'
import { words } from '../../core/words.ts'

/** Google's rules for one schema, beyond the keywords that it knows. `lost` collects the keywords that are removed. */

/** Handled with other keywords, or without effect on what the model writes. */
export const SILENT: ReadonlySet<string> = new Set(
  words('$schema $id $anchor $comment $defs definitions examples deprecated readOnly writeOnly strict'),
)

/** Removes required names without a property, which are a 400 (`required[0]: property is not defined`). */
export function keepDefined(out: JsonObject, lost: Set<string>): void {
  const { required, properties } = out
  if (!Array.isArray(required)) return
  const known = fieldsOf(properties)
  const kept = required.filter((name) => isString(name) && Object.hasOwn(known, name))
  if (kept.length < required.length) lost.add('required')
  if (kept.length > 0) out['required'] = kept
  else delete out['required']
}

/** Keywords that may accompany a union: its variants can have them as well. */
const BESIDE_UNION: ReadonlySet<string> = new Set(words('anyOf nullable title description default example'))

/**
 * Vertex accepts no keyword beside `anyOf` (400 `it must be the only field set`). A schema with constraints of its own
 * keeps those and loses the union. Otherwise the variants take over `nullable` and the description.
 */
export function standAlone(out: JsonObject, lost: Set<string>): JsonObject {
  const { anyOf, ...rest } = out
  const variants = objectsIn(anyOf)
  // A variant without constraints makes the union meaningless.
  const saysAnything = variants.length > 0 && variants.every((variant) => Object.keys(variant).length > 0)
  if (!saysAnything || Object.keys(rest).some((keyword) => !BESIDE_UNION.has(keyword))) {
    if (saysAnything) lost.add('anyOf')
    return rest
  }
  const { nullable, description } = rest
  return {
    anyOf: variants.map((variant) => ({
      ...(description === undefined ? {} : { description }),
      ...variant,
      ...(nullable === true ? { nullable } : {}),
    })),
  }
}

/** Merges the parts of an `allOf` into the schema that holds it. Each part is read once. */
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

/** The number of steps that merging it takes. */
function sizeOf({ properties, required, ...rest }: JsonObject): number {
  const named = isObject(properties) ? Object.keys(properties).length : 0
  return named + (Array.isArray(required) ? required.length : 0) + Object.keys(rest).length
}

interface Merging {
  readonly merged: JsonObject
  /** Those of `merged`, once copied for the first merge: further parts make no copy. */
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

/** Bounds on expanding the references of all schemas of one request; real ones stay below a tenth. */
export const MAX_EXPANDED_KEYWORDS = 20_000
export const MAX_EXPANDED_CHARACTERS = 1_000_000
/** References within references. */
const MAX_DEPTH = 24
/** Longer pointers do not resolve. */
const MAX_POINTER_CHARACTERS = 1_000

/** The remaining budget for expanding references; one for each request. */
export interface SchemaBudget {
  keywords: number
  characters: number
}

export const createSchemaBudget = (): SchemaBudget => ({
  keywords: MAX_EXPANDED_KEYWORDS,
  characters: MAX_EXPANDED_CHARACTERS,
})

/** The references of one schema. */
export interface Expansion {
  readonly root: JsonObject
  readonly budget: SchemaBudget
  /** Cache: each pointer is resolved once. */
  readonly targets: Map<string, JsonObject | undefined>
  /** The budget is exceeded: nothing more is expanded, and the result is not used. */
  isOver: boolean
}

export const createExpansion = (root: JsonObject, budget: SchemaBudget): Expansion => ({
  root,
  budget,
  targets: new Map(),
  isOver: false,
})

/** Charges keywords and the value of one to the budget; false once it is exceeded. */
export function count(expansion: Expansion, keywords: number, value?: unknown): boolean {
  if (expansion.isOver) return false
  const { budget } = expansion
  budget.keywords -= keywords
  if (typeof value === 'string') budget.characters -= value.length
  else if (value !== undefined) budget.characters -= JSON.stringify(value).length
  expansion.isOver = budget.keywords < 0 || budget.characters < 0
  return !expansion.isOver
}

/** False if references are nested too deeply. */
export function within(expansion: Expansion, depth: number): boolean {
  if (depth >= MAX_DEPTH) expansion.isOver = true
  return !expansion.isOver
}

/** The target of `#/$defs/Name`, or of another pointer into the same schema. */
export function targetOf({ root, targets }: Expansion, reference: string): JsonObject | undefined {
  if (reference.length > MAX_POINTER_CHARACTERS) return undefined
  if (!targets.has(reference)) targets.set(reference, resolve(reference, root))
  return targets.get(reference)
}

function resolve(reference: string, root: JsonObject): JsonObject | undefined {
  if (!reference.startsWith('#')) return undefined
  let value: unknown = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  if (!isObject(value)) return undefined
  if (value !== root) return value
  const { $defs: _defs, definitions: _definitions, ...rest } = value
  return rest
}
