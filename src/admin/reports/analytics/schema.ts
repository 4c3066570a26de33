import { type Static, t } from 'elysia'
import { integer, nullable } from '../../../http/schemas.ts'
import { CALLER_LABELS, DIMENSION_LABELS, GRANULARITY_LABELS, METRICS, OPERATORS } from './metrics.ts'

/** One of the names of a record; the sentence of a refusal lists them. */
const nameIn = (names: object, description: string) =>
  t.String({
    pattern: `^(?:${Object.keys(names).join('|')})$`,
    maxLength: 50,
    expects: `one of ${Object.keys(names).join(', ')}`,
    documented: { type: 'string', enum: Object.keys(names) },
    description,
  })
const dimension = t.String({
  pattern: `^(?:${[...Object.keys(DIMENSION_LABELS), 'user', 'tag:[^]{1,64}'].join('|')})$`,
  maxLength: 70,
  expects: `one of ${[...Object.keys(DIMENSION_LABELS), ...Object.keys(CALLER_LABELS)].join(', ')}`,
  documented: { type: 'string' },
  description: `One of ${[...Object.keys(DIMENSION_LABELS), ...Object.keys(CALLER_LABELS)].join(', ')}. Values of \`user\` and tags beyond 10,000 of a key on a day are one, \`(other)\`.`,
})
const anyName = (description: string) => t.String({ minLength: 1, maxLength: 70, description })
const scalar = t.Union([t.String({ maxLength: 512 }), t.Number()])

const instantText = (description: string) =>
  t.String({
    minLength: 10,
    maxLength: 40,
    expects: 'an instant in ISO 8601 with its zone, such as 2027-01-31T00:00:00Z',
    documented: { type: 'string', format: 'date-time' },
    description,
  })

export const analyticsQuery = t.Object(
  {
    metrics: t.Array(nameIn(METRICS, 'A metric.'), { minItems: 1, maxItems: 20 }),
    dimensions: t.Optional(t.Array(dimension, { maxItems: 2 })),
    filters: t.Optional(
      t.Array(
        t.Object(
          {
            field: anyName('A dimension, or a metric of the query.'),
            operator: nameIn(OPERATORS, 'Dimensions: eq, neq, in, not_in. Metrics: any.'),
            value: t.Union([scalar, t.Array(scalar, { minItems: 1, maxItems: 1000 })]),
            include_unset: t.Optional(t.Boolean({ description: 'No dimension is ever unset here.' })),
          },
          { additionalProperties: false },
        ),
        { maxItems: 20 },
      ),
    ),
    granularity: t.Optional(
      nullable(nameIn(GRANULARITY_LABELS, 'One row for each of these, named `date__<granularity>`.')),
    ),
    time_range: t.Optional(
      t.Object(
        {
          start: instantText('The first instant.'),
          end: instantText('The end of the range, exclusive.'),
        },
        { additionalProperties: false, description: 'Default: the last 30 days.' },
      ),
    ),
    order_by: t.Optional(
      t.Object(
        {
          field: anyName('A metric or dimension of the query, or `date__<granularity>`.'),
          direction: t.Union([t.Literal('asc'), t.Literal('desc')]),
        },
        { additionalProperties: false },
      ),
    ),
    limit: t.Optional(integer({ minimum: 1, maximum: 10_000, description: 'Most rows; default 1000.' })),
    group_limit: t.Optional(
      integer({ minimum: 1, maximum: 10_000, description: 'Most rows of one combination of dimensions.' }),
    ),
    classifier_dimensions: t.Optional(t.Unknown({ description: 'Refused: there are no classifiers here.' })),
    classifier_filters: t.Optional(t.Unknown({ description: 'Refused: there are no classifiers here.' })),
  },
  { additionalProperties: false },
)
export type AnalyticsQuery = Static<typeof analyticsQuery>

const named = { name: t.String(), display_label: t.String() }

export const analyticsMeta = t.Object({
  metrics: t.Array(t.Object({ ...named, display_format: t.String(), is_rate: t.Boolean() })),
  dimensions: t.Array(t.Object(named)),
  granularities: t.Array(t.Object(named)),
  operators: t.Array(t.Object({ name: t.String(), value_type: t.String() })),
})

const entriesOf = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([name, display_label]) => ({ name, display_label }))

export const analyticsMetaView = (): Static<typeof analyticsMeta> => ({
  metrics: Object.entries(METRICS).map(([name, { label, format, isRate }]) => ({
    name,
    display_label: label,
    display_format: format,
    is_rate: isRate,
  })),
  dimensions: entriesOf({ ...DIMENSION_LABELS, ...CALLER_LABELS }),
  granularities: entriesOf(GRANULARITY_LABELS),
  operators: Object.entries(OPERATORS).map(([name, value_type]) => ({ name, value_type })),
})

const cell = nullable(t.Union([t.String(), t.Number(), t.Boolean()]))

export const analyticsResult = t.Object({
  data: t.Array(t.Record(t.String(), cell), {
    description: 'One column for each metric and dimension, and `date__<granularity>`.',
  }),
  metadata: t.Object({
    query_time_ms: t.Number(),
    row_count: t.Number({ documented: { type: 'integer' } }),
    truncated: t.Boolean({ description: 'There were more rows than the limits allow.' }),
  }),
  warnings: t.Optional(t.Array(t.String())),
})
export type AnalyticsResult = Static<typeof analyticsResult>
export type AnalyticsRow = AnalyticsResult['data'][number]
