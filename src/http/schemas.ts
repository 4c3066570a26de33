/** Schemas that several resources share. `expects` describes the rule in error messages (see validation.ts). */
import { type IntegerOptions, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { type Static, t } from 'elysia'

/** An integer in a body. The framework's integer also accepts text, and its messages and the API document show that. */
export const integer = (options: IntegerOptions) => Type.Integer(options)

export const nullable = <Schema extends TSchema>(schema: Schema) => t.Union([schema, t.Null()])

export const uuid = (description: string) =>
  t.String({
    pattern: '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$',
    maxLength: 36,
    expects: 'a UUID',
    documented: { type: 'string', format: 'uuid' },
    description,
  })

const EMAIL = '^[^\\s@<>"]+@[^\\s@<>"]+$'
export const email = (description: string) =>
  t.String({
    minLength: 3,
    maxLength: 254,
    pattern: EMAIL,
    expects: 'an e-mail address',
    documented: { type: 'string', format: 'email', maxLength: 254 },
    description,
  })

/** An integer in a query: plain digits, no sign, no exponent. It arrives as text. */
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

/** Patterns exist only for the ranges in use. */
function patternOf(minimum: number, maximum: number): string {
  if (minimum === 1 && maximum === 100) return '^(?:[1-9][0-9]?|100)$'
  if (minimum === 1 && maximum === 1000) return '^(?:[1-9][0-9]{0,2}|1000)$'
  if (minimum === 0 && maximum === MAX_OFFSET) return '^[0-9]{1,9}$'
  throw new RangeError(`no pattern for ${minimum} to ${maximum}`)
}

export const MAX_OFFSET = 999_999_999

/** The longest value that a list is sorted by is a name of 1,000 characters, each of 6 bytes as JSON. */
const MAX_CURSOR_LENGTH = 10_000

/**
 * The query of a list: paging, sorting, search, and the list's `filters`. Other parameters are rejected. `sorts` are field
 * names; a leading `-` sorts descending.
 */
export const listQuery = <Filters extends TProperties>(
  sorts: readonly string[],
  order: string,
  filters: Filters,
) => {
  const choices = sorts.flatMap((name) => [name, `-${name}`])
  return t.Object(
    {
      offset: queryInteger(0, MAX_OFFSET, 'Number of rows to skip; default 0. Not together with cursor.'),
      limit: queryInteger(1, 100, 'Number of rows to return; default 50.'),
      cursor: t.Optional(
        t.String({
          pattern: '^[A-Za-z0-9_-]+$',
          maxLength: MAX_CURSOR_LENGTH,
          expects: 'the next_cursor of a page',
          description: '`next_cursor` of the previous page, with the same sort.',
        }),
      ),
      sort: t.Optional(
        t.String({
          pattern: `^-?(?:${sorts.join('|')})$`,
          maxLength: 100,
          expects: `one of ${choices.join(', ')}`,
          documented: { type: 'string', enum: choices },
          description: `The order; \`-\` reverses it. Default: ${order}.`,
        }),
      ),
      q: t.Optional(
        t.String({ minLength: 1, maxLength: 200, description: 'Only rows whose texts contain this.' }),
      ),
      ...filters,
    },
    { additionalProperties: false },
  )
}
export type ListQuery = Static<ReturnType<typeof listQuery<Record<never, never>>>>

/** The query of a list without parameters. */
export const noQuery = t.Object({}, { additionalProperties: false })

/** A reply with one page of a list. */
export const pageReply = <View extends TSchema>(view: View) => ({
  200: t.Object({
    data: t.Array(view),
    total_count: t.Number({ description: 'On all pages.' }),
    next_cursor: nullable(
      t.String({ description: '`cursor` of the next page; null: this is the last one.' }),
    ),
  }),
})
/** A reply with one resource. */
export const dataReply = <View extends TSchema>(view: View) => {
  const reply = t.Object({ data: view })
  return { 200: reply, 201: reply }
}
export const deletedReply = { 200: t.Object({ deleted: t.Boolean() }) }

export const data = async <T>(thing: Promise<T>): Promise<{ data: T }> => ({ data: await thing })
export const deleted = async (deletion: Promise<void>): Promise<{ deleted: boolean }> => {
  await deletion
  return { deleted: true }
}

/** Which workspace a list or a new resource belongs to. */
export const inWorkspace = { workspace_id: t.Optional(uuid("Default: the caller's workspace.")) }

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

/** An instant in a reply: ISO 8601, UTC. */
export const instant = (description: string) =>
  t.String({ documented: { type: 'string', format: 'date-time' }, description })

export const errorReply = t.Object({
  error: t.Object({
    code: t.Number({ documented: { type: 'integer' }, description: 'The HTTP status.' }),
    message: t.String({ description: 'What was wrong, where, and what is allowed.' }),
    metadata: t.Optional(nullable(t.Record(t.String(), t.Unknown()))),
    availability: t.Optional(
      t.Object(
        {
          code: t.String({ description: 'Such as `model_not_found` or `constraint_filtered`.' }),
          retryable: t.Boolean(),
          requested_models: t.Array(t.String()),
          excluded_by: t.Optional(t.Array(t.String())),
          fallback_models: t.Optional(t.Array(t.String())),
        },
        { description: 'Why no endpoint serves the model.', additionalProperties: true },
      ),
    ),
  }),
})
