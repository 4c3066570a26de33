import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'

/** Google's rules for one schema, beyond the keywords that it knows; `lost` takes the names of what had to go. */

/** Read together with others, or without a meaning for what the model writes. */
export const SILENT: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'strict',
])

/** A property that is demanded and not described is a 400 (`required[0]: property is not defined`). */
export function keepDefined(out: JsonObject, lost: Set<string>): void {
  const { required, properties } = out
  if (!Array.isArray(required)) return
  const known = isObject(properties) ? properties : {}
  const kept = required.filter((name) => isString(name) && Object.hasOwn(known, name))
  if (kept.length < required.length) lost.add('required')
  if (kept.length > 0) out['required'] = kept
  else delete out['required']
}

/** What may stand beside a union: words for the model, which its variants can have as well. */
const BESIDE_UNION: ReadonlySet<string> = new Set([
  'anyOf',
  'nullable',
  'title',
  'description',
  'default',
  'example',
])

/**
 * Vertex takes nothing beside `anyOf` (400 `it must be the only field set`). A schema that says something by itself
 * keeps that and loses the union; of a union alone the variants take over whether it may be null, and the description.
 */
export function standAlone(out: JsonObject, lost: Set<string>): JsonObject {
  const { anyOf, ...rest } = out
  const variants = Array.isArray(anyOf) ? anyOf.filter(isObject) : []
  // One that allows anything allows everything.
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
