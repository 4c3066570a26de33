import { type TSchema, Type as t } from '@sinclair/typebox'

/** Building blocks of body schemas: open objects (unknown fields pass at every level), enums, nullable fields. */

/** Unknown fields are kept, so that a caller may use what a provider has and we do not know. */
export const OPEN = { additionalProperties: true } as const

/** A field that may be absent; null is the same as absent. */
export const optional = <T extends TSchema>(schema: T) => t.Optional(t.Union([schema, t.Null()]))

/** A closed set of strings. */
export const oneOf = <const T extends readonly string[]>(values: T) =>
  t.Union(values.map((value) => t.Literal<T[number]>(value)))

/** Any object; its content is not looked into. */
export const anyObject = (description: string) => t.Object({}, { ...OPEN, description })

/** The name of a model. The longest real ones (ARNs, deployment paths) have some 200 characters. */
export const modelName = (description?: string) =>
  t.String({ minLength: 1, maxLength: 1000, ...(description === undefined ? {} : { description }) })
