import { t } from 'elysia'
import { MAX_OFFSET, queryBoolean, queryInteger } from '../../http/schemas.ts'

export const responseParams = t.Object({
  id: t.String({
    minLength: 1,
    maxLength: 200,
    description: 'The id of a stored response (`resp_…`).',
  }),
})

/** Clients send a list as `include[]=…`, as repeated `include=…`, or with commas. It has no effect. */
const include = t.Optional(
  t.Union([t.String(), t.Array(t.String())], {
    documented: { type: 'array', items: { type: 'string' } },
    description: 'Accepted for compatibility: everything stored is returned.',
  }),
)

export const responseQuery = t.Object(
  {
    include,
    include_obfuscation: queryBoolean('Accepted for compatibility: events are not padded.'),
    stream: queryBoolean(
      'Stream the past and future events of a response that was created with `background` and `stream`.',
    ),
    starting_after: queryInteger(
      0,
      MAX_OFFSET,
      'With `stream`: the `sequence_number` of the last event that the client has.',
    ),
  },
  { additionalProperties: true },
)

export const itemsQuery = t.Object(
  {
    include,
    order: t.Optional(
      t.String({
        pattern: '^(?:asc|desc)$',
        maxLength: 4,
        expects: '"asc" or "desc"',
        documented: { type: 'string', enum: ['asc', 'desc'], default: 'desc' },
        description: 'Order by time; default `desc`.',
      }),
    ),
    after: t.Optional(
      t.String({ minLength: 1, maxLength: 200, description: 'The id of the last item that the client has.' }),
    ),
    limit: queryInteger(1, 100, 'How many items; default 20.'),
  },
  { additionalProperties: true },
)

export const deletedResponse = t.Object({
  id: t.String(),
  object: t.Literal('response'),
  deleted: t.Literal(true),
})

export const itemList = t.Object({
  object: t.Literal('list'),
  data: t.Array(t.Object({ id: t.String(), type: t.String() }, { additionalProperties: true })),
  first_id: t.Union([t.String(), t.Null()]),
  last_id: t.Union([t.String(), t.Null()]),
  has_more: t.Boolean(),
})
