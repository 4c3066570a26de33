import { type TSchema, Type as t } from '@sinclair/typebox'
import type { JsonObject } from '../../src/core/events.ts'
import { fullSampleOf, nameOf, range, sampleOf, variantsOf } from './samples.ts'

/** A place in a body whose number of entries the caller decides: a list, or the fields of an object. */
export interface Place {
  /** `messages[] user.content[] text` */
  name: string
  /** The body with n things there. */
  body(n: number): JsonObject
}

interface Spot {
  at: string
  wrap(value: unknown): JsonObject
  /** False for a body that is refused: such an entry is left out of lists of several kinds. */
  takes(body: JsonObject): boolean
}

/**
 * Every list and map of a body that the schema describes, with each form that their entries may have: a new field of a
 * schema is measured from its first day. `base` holds what the body requires.
 */
export function placesIn(schema: TSchema, base: JsonObject, takes: (body: JsonObject) => boolean): Place[] {
  const wrap = (value: unknown): JsonObject => ({ ...base, ...asObject(value) })
  return inObject(schema, base, { at: '', wrap, takes })
}

function inObject(schema: TSchema, sample: JsonObject, spot: Spot): Place[] {
  const places: Place[] = []
  if (schema.additionalProperties !== false) places.push(...fieldsOf(sample, spot))
  for (const [name, property] of Object.entries<TSchema>(schema.properties ?? {})) {
    const at = spot.at === '' ? name : `${spot.at}.${name}`
    // Required messages come first: a list of nothing but tool results would be rejected.
    const first: unknown[] = spot.at === '' && Array.isArray(sample[name]) ? sample[name] : []
    const wrap = (value: unknown): JsonObject =>
      spot.wrap({ ...sample, [name]: Array.isArray(value) ? [...first, ...value] : value })
    places.push(...inValue(property, { ...spot, at, wrap }))
  }
  return places
}

/** Fields that are in no schema, and forms in which a JSON schema is large. */
function fieldsOf(sample: JsonObject, { at, wrap }: Spot): Place[] {
  const unknown: Place = {
    name: `${at}.*`,
    body: (n) => wrap({ ...Object.fromEntries(range(n, (i) => [`unknown_${i}`, i])), ...sample }),
  }
  if (!/(?:schema|parameters)$/.test(at)) return [unknown]
  const shapes = Object.entries(JSON_SCHEMAS)
  return [
    unknown,
    ...shapes.map(([name, of]) => ({ name: `${at}: ${name}`, body: (n: number) => wrap(of(n)) })),
  ]
}

const ANY = t.Object({})
const TEXT = { type: 'string' }
const named = <T>(n: number, value: T) => Object.fromEntries(range(n, (i) => [`p${i}`, value]))

const JSON_SCHEMAS: Readonly<Record<string, (n: number) => JsonObject>> = {
  properties: (n) => ({ type: 'object', properties: named(n, TEXT) }),
  required: (n) => ({
    type: 'object',
    properties: named(n, TEXT),
    required: range(n, (i) => `p${i}`),
    additionalProperties: false,
  }),
  anyOf: (n) => ({ type: 'object', properties: { a: { anyOf: range(n, () => TEXT) } } }),
  allOf: (n) => ({
    type: 'object',
    allOf: range(n, (i) => ({ properties: { [`p${i}`]: TEXT }, required: [`p${i}`] })),
  }),
  enum: (n) => ({ type: 'object', properties: { a: { type: 'string', enum: range(n, (i) => `e${i}`) } } }),
  $defs: (n) => ({ type: 'object', properties: { a: { $ref: '#/$defs/p1' } }, $defs: named(n, TEXT) }),
  $ref: (n) => ({ type: 'object', properties: named(n, { $ref: '#/$defs/d' }), $defs: { d: TEXT } }),
}

function inValue(schema: TSchema, spot: Spot): Place[] {
  const variants = variantsOf(schema)
  if (variants.length > 0) {
    const isOne = variants.length === 1
    return variants.flatMap((each) => inValue(each, isOne ? spot : { ...spot, at: spot.at + nameOf(each) }))
  }
  if (schema.type === 'array') return inArray(schema.items, spot)
  if (schema.patternProperties !== undefined) return [recordOf(schema, spot)]
  if (schema.type !== 'object') return []
  const full = asObject(fullSampleOf(schema, 0, spot.at))
  const isTaken = spot.takes(spot.wrap(full))
  return inObject(schema, isTaken ? full : asObject(sampleOf(schema, 0, spot.at)), spot)
}

function recordOf(schema: TSchema, { at, wrap }: Spot): Place {
  const [value] = Object.values<TSchema>(schema.patternProperties ?? {})
  const entry = (i: number) => [`key_${i}`, value ? sampleOf(value, i, '') : i]
  return { name: `${at}{}`, body: (n) => wrap(Object.fromEntries(range(n, entry))) }
}

function inArray(items: TSchema, spot: Spot): Place[] {
  const { at, wrap, takes } = spot
  const all = flattened(items)
  // Words of one enumeration are one form.
  const variants = all.every((each) => each.const !== undefined) ? all.slice(0, 1) : all
  const places = variants.flatMap((variant) => [
    {
      name: `${at}[]${nameOf(variant)}`,
      body: (n: number) => wrap(range(n, (i) => sampleOf(variant, i, at))),
    },
    {
      name: `${at}[]${nameOf(variant)} with all fields`,
      body: (n: number) => wrap(range(n, (i) => fullSampleOf(variant, i, at))),
    },
  ])
  const taken = variants.filter((variant) => takes(wrap([fullSampleOf(variant, 0, at)])))
  if (taken.length > 1) places.push(...mixed(taken, spot))
  for (const variant of variants) {
    const inOne = { takes, at: `${at}[]${nameOf(variant)}`, wrap: (value: unknown) => wrap([value]) }
    places.push(...inValue(variant, inOne))
  }
  return places
}

/** Alternating, and grouped by kind: an entry that refers to another finds it. */
function mixed(variants: readonly TSchema[], { at, wrap }: Spot): Place[] {
  const count = variants.length
  const sample = (kind: number, i: number) => fullSampleOf(variants.at(kind) ?? ANY, i, at)
  const inBlocks = (name: string, kindOf: (block: number) => number): Place => ({
    name: `${at}[]: ${name}`,
    body: (n) => {
      const each = Math.ceil(n / count)
      return wrap(range(n, (i) => sample(kindOf(Math.floor(i / each)), i % each)))
    },
  })
  return [
    {
      name: `${at}[]: each in turn`,
      body: (n) => wrap(range(n, (i) => sample(i % count, Math.floor(i / count)))),
    },
    inBlocks('one kind after the other', (block) => block),
    inBlocks('the last kind first', (block) => -1 - block),
  ]
}

/** Unions within unions are one list of forms. */
function flattened(schema: TSchema): TSchema[] {
  const variants = variantsOf(schema)
  return variants.length === 0 ? byRole(schema) : variants.flatMap(flattened)
}

/** The role decides how a message is parsed. */
function byRole(schema: TSchema): TSchema[] {
  const role: TSchema | undefined = schema.properties?.role
  const roles = role ? variantsOf(role) : []
  if (roles.length === 0) return [schema]
  return roles.map((each) => ({ ...schema, properties: { ...schema.properties, role: each } }))
}

const asObject = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null ? { ...value } : {}
