/** Pieces of schemas that several resources share. `expects` are the words of a refusal (see validation.ts). */
import { type IntegerOptions, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { t } from 'elysia'

/** A whole number in a body. The framework's own integer takes text too, and its refusals and the API document say so. */
export const integer = (options: IntegerOptions) => Type.Integer(options)

export const nullable = <Schema extends TSchema>(schema: Schema) => t.Union([schema, t.Null()])

/** A whole number in a query: plain digits, no sign, no exponent. It arrives as text. */
export const queryInteger = (minimum: number, maximum: number, description: string) =>
  t.Optional(
    t.String({
      pattern: patternOf(minimum, maximum),
      maxLength: String(maximum).length,
      expects: `an integer from ${minimum} to ${maximum}`,
      documented: { type: 'integer', minimum, maximum },
      description,
    }),
  )

/** Ranges that lists use; others would need a pattern of their own. */
function patternOf(minimum: number, maximum: number): string {
  if (minimum === 1 && maximum === 100) return '^(?:[1-9][0-9]?|100)$'
  if (minimum === 0 && maximum === MAX_OFFSET) return '^[0-9]{1,9}$'
  throw new RangeError(`no pattern for ${minimum} to ${maximum}`)
}

export const MAX_OFFSET = 999_999_999

/** The query of a list: `offset` and `limit`, and what the list has besides. Unknown parameters are ignored. */
export const pageQuery = <Fields extends TProperties>(fields: Fields) =>
  t.Object(
    {
      offset: queryInteger(0, MAX_OFFSET, 'How many to leave out; default 0.'),
      limit: queryInteger(1, 100, 'How many to answer with; default 50.'),
      ...fields,
    },
    { additionalProperties: true },
  )

const DEFAULT_PAGE = 50

/** The part of a list that a query asks for. */
export const pageOf = ({ offset, limit }: { offset?: string | undefined; limit?: string | undefined }) => ({
  offset: Number(offset ?? 0),
  limit: Number(limit ?? DEFAULT_PAGE),
})

export const queryBoolean = (description: string) =>
  t.Optional(
    t.String({
      pattern: '^(?:true|false)$',
      maxLength: 5,
      expects: 'true or false',
      documented: { type: 'boolean' },
      description,
    }),
  )

export const uuid = (description: string) =>
  t.String({
    pattern: '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$',
    maxLength: 36,
    expects: 'a UUID',
    documented: { type: 'string', format: 'uuid' },
    description,
  })

/** An instant in a reply: ISO 8601, UTC. */
export const instant = (description: string) =>
  t.String({ documented: { type: 'string', format: 'date-time' }, description })

export const errorReply = t.Object({
  error: t.Object({
    code: t.Number({ documented: { type: 'integer' }, description: 'The HTTP status.' }),
    message: t.String({ description: 'What was wrong, where, and what is allowed.' }),
    metadata: t.Optional(nullable(t.Record(t.String(), t.Unknown()))),
  }),
})
