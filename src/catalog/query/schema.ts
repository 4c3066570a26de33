import { type Static, t } from 'elysia'
import { queryInteger } from '../../http/schemas.ts'
import { CATEGORIES } from '../categories.ts'

const SORTS = [
  'most-popular',
  'newest',
  'top-weekly',
  'pricing-low-to-high',
  'pricing-high-to-low',
  'context-high-to-low',
  'throughput-high-to-low',
  'latency-low-to-high',
  'intelligence-high-to-low',
  'coding-high-to-low',
  'agentic-high-to-low',
  'design-arena-elo-high-to-low',
] as const
export type Sort = (typeof SORTS)[number]
const INPUTS = ['text', 'image', 'audio', 'file', 'video']
const OUTPUTS = [
  'text',
  'image',
  'audio',
  'embeddings',
  'video',
  'rerank',
  'moderation',
  'ocr',
  'speech',
  'transcription',
  'decisions',
  'all',
]

const choice = <Word extends string>(words: readonly Word[], description: string) =>
  t.Optional(
    t.Union(
      words.map((word) => t.Literal(word)),
      { description },
    ),
  )
const words = (maxLength: number, description: string) => t.Optional(t.String({ maxLength, description }))
const modalities = (allowed: readonly string[], description: string) =>
  t.Optional(
    t.String({
      pattern: `^ *(?:${allowed.join('|')})(?: *, *(?:${allowed.join('|')}))* *$`,
      maxLength: 200,
      expects: `a comma-separated list of ${allowed.join(', ')}`,
      documented: { type: 'string' },
      description,
    }),
  )

/** A number arrives as text; clients write small ones with an exponent, and an absent one as null. */
const amount = (description: string, maximum?: number) =>
  t.Optional(
    t.String({
      pattern:
        maximum === 1
          ? '^(?:null|0(?:\\.[0-9]+)?|1(?:\\.0+)?)$'
          : '^(?:null|[0-9]{1,12}(?:\\.[0-9]{1,20})?(?:[eE][-+]?[0-9]{1,2})?)$',
      maxLength: 40,
      expects: maximum === 1 ? 'a number from 0 to 1' : 'a number of at least 0',
      documented: { type: ['number', 'null'], minimum: 0, ...(maximum === undefined ? {} : { maximum }) },
      description,
    }),
  )
const whole = (minimum: 0 | 1, description: string) =>
  t.Optional(
    t.String({
      pattern: minimum === 0 ? '^(?:null|[0-9]{1,9})$' : '^0{0,9}[1-9][0-9]{0,11}$',
      maxLength: 21,
      expects: `a whole number of at least ${minimum}`,
      documented: { type: 'integer', minimum },
      description,
    }),
  )

const page = {
  offset: whole(0, 'Number of rows to skip; default 0.'),
  limit: queryInteger(1, 1000, 'Number of rows to return; default 500.'),
}
const open = { additionalProperties: true }
const outputModalities = modalities(OUTPUTS, 'Gives any of these; `all` for every model; default text.')

export const pageQuery = t.Object(page, open)
export type PageQuery = Static<typeof pageQuery>
export const outputQuery = t.Object({ output_modalities: outputModalities }, open)
export const outputPageQuery = t.Object({ ...page, output_modalities: outputModalities }, open)

export const modelsQuery = t.Object(
  {
    ...page,
    category: choice(
      CATEGORIES,
      'Of the file that `SLUICE_BENCHMARKS` names; without one nothing has a category.',
    ),
    supported_parameters: words(500, 'One endpoint supports all of these, comma-separated.'),
    output_modalities: outputModalities,
    input_modalities: modalities(INPUTS, 'Takes any of these, comma-separated.'),
    sort: choice(SORTS, 'Models without a score come last; default: by id.'),
    use_rss: words(20, 'Answers an RSS 2.0 feed (`application/rss+xml`); `false` and `0` do not.'),
    q: words(200, 'Every word occurs in the name or in the slug.'),
    context: whole(1, 'An endpoint has at least this context, in tokens.'),
    min_price: amount('Prompt price in USD per million tokens, at least.'),
    max_price: amount('Prompt price in USD per million tokens, at most.'),
    min_output_price: amount('Completion price in USD per million tokens, at least.'),
    max_output_price: amount('Completion price in USD per million tokens, at most.'),
    arch: words(100, 'Tokenizer, instruction format or family of the model.'),
    model_authors: words(1000, 'By any of these authors, comma-separated.'),
    providers: words(1000, 'Offered by any of these providers, by name or slug, comma-separated.'),
    distillable: choice(['true', 'false'], 'Whether outputs may train other models, if known.'),
    zdr: t.Optional(t.Literal('true', { description: 'Only zero-data-retention endpoints.' })),
    region: choice(['eu', 'us'], 'Only endpoints that are known to process there alone.'),
    min_age_days: whole(0, 'Released at least this many days ago.'),
    max_age_days: whole(0, 'Released at most this many days ago.'),
    min_intelligence_index: amount('Benchmark score; models without one are left out.'),
    max_intelligence_index: amount('Benchmark score; models without one are left out.'),
    min_coding_index: amount('Benchmark score; models without one are left out.'),
    max_coding_index: amount('Benchmark score; models without one are left out.'),
    min_agentic_index: amount('Benchmark score; models without one are left out.'),
    max_agentic_index: amount('Benchmark score; models without one are left out.'),
    min_tool_success_rate: amount('Models without a measurement are left out.', 1),
    max_tool_success_rate: amount('Models without a measurement are left out.', 1),
  },
  open,
)
export type ModelsQuery = Static<typeof modelsQuery>

export const pricesQuery = t.Object(
  {
    at: t.Optional(
      t.String({
        pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?Z$',
        expects: 'a UTC time such as 2026-01-31T12:00:00Z',
        documented: { type: 'string', format: 'date-time' },
        description: 'Only the prices at this time, such as when a generation was made.',
      }),
    ),
  },
  open,
)
