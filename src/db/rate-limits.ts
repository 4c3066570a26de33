import { type Static, Type } from '@sinclair/typebox'
import { badRequest } from '../core/errors.ts'
import type { ModelRateLimits, RateLimits } from '../core/rate-limits.ts'
import { integer, nullable } from '../http/schemas.ts'
import { json } from './columns.ts'

/** The largest count that is exact. */
const MOST_REQUESTS = 1_000_000_000
const MOST_TOKENS = 1_000_000_000_000
const MOST_AT_ONCE = 1_000_000
const MOST_MODELS = 100

const count = (maximum: number, description: string) =>
  Type.Optional(
    nullable(integer({ minimum: 1, maximum, description: `${description}; null: without limit.` })),
  )
const requests = count(MOST_REQUESTS, 'A burst may take all of them; they fill up evenly over a minute')
const tokens = count(
  MOST_TOKENS,
  'Input and output. The estimated prompt is taken at the start, with at most a tenth of the limit for the answer that `max_tokens` allows; at the end the real tokens count, and if they were more than was left, the next request waits',
)

const modelRateLimits = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: '^[^\\s\\u0000-\\u001f\\u007f]+$',
      expects: 'the name of a model, of at most 256 characters and without blanks',
      documented: { type: 'string', minLength: 1, maxLength: 256 },
      description: 'Any name of the model. An unknown name limits nothing.',
    }),
    requests_per_minute: requests,
    tokens_per_minute: tokens,
  },
  { additionalProperties: false },
)

const limits = (whose: string) =>
  Type.Object(
    {
      requests_per_minute: requests,
      tokens_per_minute: tokens,
      concurrent_requests: count(MOST_AT_ONCE, 'How many may run at once'),
      models: Type.Optional(
        Type.Array(modelRateLimits, {
          maxItems: MOST_MODELS,
          description: 'Further limits for single models.',
        }),
      ),
    },
    {
      additionalProperties: false,
      description: `Requests and tokens a minute, and concurrent requests, of ${whose}; null: no limit. An extension of the API.`,
    },
  )
type RateLimitsBody = Static<ReturnType<typeof limits>>

/** Rate limits in one JSON column; `whose` completes "How often …". */
export const rateLimits = (whose: string) => ({
  column: json<RateLimits>(),
  body: limits(whose),
  view,
  store: rateLimitsOf,
})
const number = nullable(Type.Number({ documented: { type: 'integer' } }))

/** The same in replies, where every field is present. */
const view = Type.Object({
  requests_per_minute: number,
  tokens_per_minute: number,
  concurrent_requests: number,
  models: Type.Array(
    Type.Object({ model: Type.String(), requests_per_minute: number, tokens_per_minute: number }),
  ),
})
/**
 * The limits of a body with every field; null if nothing is limited. Throws a `GatewayError` 400 for an entry that
 * limits nothing or names a model a second time.
 */
function rateLimitsOf(body: RateLimitsBody): RateLimits | null {
  const set: RateLimits = {
    requests_per_minute: body.requests_per_minute ?? null,
    tokens_per_minute: body.tokens_per_minute ?? null,
    concurrent_requests: body.concurrent_requests ?? null,
    models: (body.models ?? []).map((entry) => ({
      model: entry.model,
      requests_per_minute: entry.requests_per_minute ?? null,
      tokens_per_minute: entry.tokens_per_minute ?? null,
    })),
  }
  checkModels(set.models)
  const { models, ...counts } = set
  return models.length === 0 && Object.values(counts).every((count) => count === null) ? null : set
}

function checkModels(models: readonly ModelRateLimits[]): void {
  const named = new Set<string>()
  for (const [index, { model, requests_per_minute, tokens_per_minute }] of models.entries()) {
    const path = `rate_limits.models[${index}]`
    if (named.has(model)) throw badRequest('another entry names this model already', `${path}.model`)
    named.add(model)
    if (requests_per_minute === null && tokens_per_minute === null)
      throw badRequest('limits nothing: set requests_per_minute, tokens_per_minute or both', path)
  }
}
