import { type Static, t } from 'elysia'
import { integer, nullable } from '../http/schemas.ts'

/** What counts still tell apart to the last one. */
const MOST_REQUESTS = 1_000_000_000
const MOST_TOKENS = 1_000_000_000_000
const MOST_AT_ONCE = 1_000_000
const MOST_MODELS = 100

const count = (maximum: number, description: string) =>
  t.Optional(nullable(integer({ minimum: 1, maximum, description: `${description}; null: without limit.` })))
const requests = count(MOST_REQUESTS, 'A burst may take all of them; they fill up evenly over a minute')
const tokens = count(
  MOST_TOKENS,
  'Input and output. The estimated prompt is taken at the start, with at most a tenth of the limit for the answer that `max_tokens` allows; at the end what was used counts, and more than was left is waited for',
)

const modelRateLimits = t.Object(
  {
    model: t.String({
      minLength: 1,
      maxLength: 256,
      pattern: '^[^\\s\\u0000-\\u001f\\u007f]+$',
      expects: 'the name of a model, of at most 256 characters and without blanks',
      documented: { type: 'string', minLength: 1, maxLength: 256 },
      description: 'Any name that it answers to. One that nobody offers limits nothing.',
    }),
    requests_per_minute: requests,
    tokens_per_minute: tokens,
  },
  { additionalProperties: false },
)

/** The field of whatever has rates; `whose` completes "How often …". */
export const rateLimitsField = (whose: string) =>
  t.Optional(
    nullable(
      t.Object(
        {
          requests_per_minute: requests,
          tokens_per_minute: tokens,
          concurrent_requests: count(MOST_AT_ONCE, 'How many may run at once'),
          models: t.Optional(
            t.Array(modelRateLimits, {
              maxItems: MOST_MODELS,
              description: 'Further limits for single models.',
            }),
          ),
        },
        {
          additionalProperties: false,
          description: `How often, how much and how many at once ${whose} may ask; null: without limit. Beyond the fields of the API.`,
        },
      ),
    ),
  )
export type RateLimitsBody = Static<ReturnType<typeof rateLimitsField>>

const number = nullable(t.Number({ documented: { type: 'integer' } }))

/** The same in replies: every field is there. */
export const rateLimitsView = nullable(
  t.Object({
    requests_per_minute: number,
    tokens_per_minute: number,
    concurrent_requests: number,
    models: t.Array(t.Object({ model: t.String(), requests_per_minute: number, tokens_per_minute: number })),
  }),
)
