import { type ObjectOptions, type TProperties, type TSchema, Type as t } from '@sinclair/typebox'

/** Building blocks of body schemas: open objects (unknown fields pass at every level), enums, nullable fields. */

/** Unknown fields are kept, so that a caller may use what a provider has and we do not know. */
const OPEN = { additionalProperties: true } as const

/** An object that keeps unknown fields. */
export const openObject = <T extends TProperties>(fields: T, options?: ObjectOptions) =>
  t.Object(fields, { ...options, ...OPEN })

/** A field that may be absent; null is the same as absent. */
export const optional = <T extends TSchema>(schema: T) => t.Optional(t.Union([schema, t.Null()]))

/** A closed set of strings. */
export const oneOf = <const T extends readonly string[]>(values: T) =>
  t.Union(values.map((value) => t.Literal<T[number]>(value)))

/** Any object; its fields are not checked. */
export const anyObject = (description: string) => t.Object({}, { ...OPEN, description })

/** The name of a model. The longest real ones (ARNs, deployment paths) have some 200 characters. */
export const modelName = (description?: string) =>
  t.String({ minLength: 1, maxLength: 1000, ...(description === undefined ? {} : { description }) })

/**
 * The most entries of one list of a body, and fields of one object. Anthropic takes 100,000 messages, at its own cost:
 * here each is read, filtered, translated and counted on the thread that serves every stream. Numbers are not bounded
 * (embeddings of tokens): `core/json-bounds.ts` bounds the body.
 */
export const MOST_ENTRIES = 20_000
export const MOST_FIELDS = 10_000

/** The same schema; every list and object without a bound gets one. For complete bodies. */
export function bounded<T extends TSchema>(schema: T): T {
  bind(schema, new Set())
  return schema
}

function bind(schema: TSchema, seen: Set<TSchema>): void {
  if (seen.has(schema)) return
  seen.add(schema)
  if (schema.type === 'array' && !isOfNumbers(schema.items)) schema.maxItems ??= MOST_ENTRIES
  if (schema.type === 'object') schema.maxProperties ??= MOST_FIELDS
  for (const inner of innerOf(schema)) bind(inner, seen)
}

/** The schemas within a schema. */
export const innerOf = (schema: TSchema): TSchema[] => [
  ...(schema.items === undefined ? [] : [schema.items]),
  ...(schema.anyOf ?? []),
  ...Object.values<TSchema>(schema.properties ?? {}),
  ...Object.values<TSchema>(schema.patternProperties ?? {}),
]

export const isOfNumbers = ({ type }: TSchema): boolean => type === 'integer' || type === 'number'
