import { type Static, t } from 'elysia'
import { instant, nullable } from '../../../http/schemas.ts'
import { generationRecord } from '../../../ledger/generations.ts'
import type { GenerationRow } from '../../../ledger/row.ts'

export const generationQuery = t.Object(
  {
    id: t.String({
      minLength: 1,
      maxLength: 200,
      expects: 'the id of a generation (gen-…) or of a reply (resp_…, msg_…)',
      description: "A generation's id (`gen-…`), or that of a reply (`resp_…`, `msg_…`).",
    }),
  },
  { additionalProperties: true },
)

const FEEDBACK_CATEGORIES = [
  'latency',
  'incoherence',
  'incorrect_response',
  'formatting',
  'billing',
  'api_error',
  'other',
] as const

export const feedbackBody = t.Object(
  {
    generation_id: generationQuery.properties.id,
    category: t.Union(FEEDBACK_CATEGORIES.map((name) => t.Literal(name))),
    comment: t.Optional(nullable(t.String({ maxLength: 1000 }))),
  },
  { additionalProperties: false },
)
export type FeedbackBody = Static<typeof feedbackBody>

const text = nullable(t.String())
const integer = t.Number({ documented: { type: 'integer' } })
const milliseconds = t.Number({ description: 'Milliseconds.' })
const usd = t.Number({ description: 'USD.' })

const failedAttempt = t.Object({ code: integer, message: t.String(), provider_name: text, raw: text })

const failure = t.Object({
  message: text,
  provider_name: text,
  raw: text,
  status: nullable(integer),
  previous_errors: t.Array(failedAttempt),
})

export const generationContent = t.Object({
  input: t.Union([t.Object({ prompt: t.String() }), t.Object({ messages: t.Array(t.Unknown()) })]),
  output: t.Object({ completion: text, reasoning: text }),
  error: nullable(failure),
})

const providerResponse = t.Object({
  id: t.Optional(t.String({ description: "The provider's own id of its reply." })),
  endpoint_id: t.String(),
  model_permaslug: t.String(),
  provider_name: t.String(),
  is_byok: t.Boolean(),
  latency: milliseconds,
  status: nullable(integer),
  routed_service_tier: t.Optional(t.String({ description: 'As the provider reported it.' })),
})

const reached = nullable(milliseconds)
/** Null: a cache hit, a request that a crash ended, or a row of an older version. */
const routing = t.Object({
  strategy: t.String(),
  sticky: nullable(t.Union([t.Literal('session'), t.Literal('prefix')])),
  endpoints: t.Number({ description: 'Endpoints of the requested models, including the excluded ones.' }),
  excluded: t.Record(t.String(), integer, { description: 'Number of excluded endpoints by rule.' }),
  attempts: t.Array(
    t.Object({ endpoint: t.String(), status: nullable(integer), ms: milliseconds, code: text }),
    { description: '`code`: of the error, for the first eight attempts.' },
  ),
  timings: t.Object(
    { admit: milliseconds, plan: milliseconds, connect: reached, first_byte: reached, relay: reached },
    { description: 'Of each stage; null: it was not reached.' },
  ),
})

const step = t.Object({
  id: t.String(),
  kind: t.String({ description: 'What it was for, such as `moderation` or `fusion.panel`.' }),
  model: t.String(),
  provider_name: t.String(),
  api_type: t.String({ description: '`tool`: a paid call of a tool.' }),
  finish_reason: t.String(),
  cancelled: t.Boolean(),
  tokens_prompt: integer,
  tokens_completion: integer,
  total_cost: usd,
  ms: milliseconds,
})

export const generation = t.Object({
  id: t.String(),
  request_id: t.String(),
  upstream_id: text,
  workspace_id: t.String(),
  model: t.String(),
  provider_name: t.String(),
  api_type: t.String(),
  router: text,
  service_tier: text,
  data_region: t.String(),
  preset_id: text,
  created_at: instant('When the request came.'),
  streamed: t.Boolean(),
  cancelled: t.Boolean({ description: 'The client disconnected before the end.' }),
  is_byok: t.Boolean(),
  finish_reason: t.String({
    description: 'Empty, with steps alone: it still runs, or a plugin refused its request.',
  }),
  native_finish_reason: text,
  app_id: nullable(integer),
  origin: t.String(),
  http_referer: text,
  user_agent: text,
  external_user: text,
  session_id: text,
  latency: milliseconds,
  generation_time: milliseconds,
  moderation_latency: nullable(milliseconds),
  tokens_prompt: integer,
  tokens_completion: integer,
  native_tokens_prompt: integer,
  native_tokens_completion: integer,
  native_tokens_completion_images: integer,
  native_tokens_reasoning: integer,
  native_tokens_cached: integer,
  num_input_audio_prompt: integer,
  num_media_prompt: integer,
  num_media_completion: integer,
  num_search_results: integer,
  num_fetches: nullable(integer),
  web_search_engine: text,
  response_cache_source_id: text,
  parent_id: nullable(t.String({ description: 'The generation that it is a step of; null: none.' })),
  steps: t.Array(step, {
    description:
      'What plugins and tools asked and paid for it. `total_cost` and `usage` are the sums over it and its steps.',
  }),
  total_cost: usd,
  usage: usd,
  upstream_inference_cost: usd,
  cache_discount: nullable(usd),
  provider_responses: nullable(t.Array(providerResponse)),
  usage_source: t.Union([t.Literal('provider'), t.Literal('estimated'), t.Literal('none')]),
  guardrails: nullable(
    t.Array(t.Record(t.String(), t.Unknown()), {
      description: 'What content filters of guardrails did to the request, by their names; null: nothing.',
    }),
  ),
  trace: nullable(
    t.Record(t.String(), t.Unknown(), { description: 'That of the request; null: it had none.' }),
  ),
  routing: nullable(routing),
})
export type Generation = Static<typeof generation>

export function generationView(row: GenerationRow, steps: readonly GenerationRow[]): Generation {
  const { provider_responses: tries, ...record } = generationRecord(row, steps)
  // Clients take a missing id of a provider's reply, and no null.
  const shown = tries?.map(({ id, ...rest }) => (id === null ? rest : { id, ...rest })) ?? null
  return { ...record, provider_responses: shown }
}
