import type { TSchema } from '@sinclair/typebox'

/**
 * The most entries of one list of a body, and fields of one object. Anthropic takes 100,000 messages, at its own cost:
 * here each is read, filtered, translated and counted on the thread that serves every stream. Numbers are not bounded
 * (embeddings of tokens): the body as a whole is (`core/json-bounds.ts`).
 */
export const MOST_ENTRIES = 20_000
export const MOST_FIELDS = 10_000

/** The schema itself, in which every list and every object without a bound got one. For whole bodies. */
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
