import type { TSchema } from '@sinclair/typebox'
import { type Static, t } from 'elysia'
import { priceFields } from '../core/pricing.ts'
import { nullable } from '../http/schemas.ts'

export const modelParams = t.Object({
  author: t.String({ minLength: 1, maxLength: 200 }),
  slug: t.String({ minLength: 1, maxLength: 300, description: 'May end in a variant, such as `:free`.' }),
})

const integer = t.Number({ documented: { type: 'integer' } })
const text = t.String()
const texts = t.Array(text)
const price = t.String({ description: 'USD per unit, a plain decimal.' })
const configured = t.Boolean({
  description: 'Whether it can be called: its provider has a credential, or needs none.',
})
const unknown = (description: string) => t.Null({ description })

const prices = priceFields(t.Optional(price))

const overrides = t.Optional(
  t.Array(
    t.Object({
      min_prompt_tokens: integer,
      prompt: prices.prompt,
      completion: prices.completion,
      input_cache_read: prices.input_cache_read,
      input_cache_write: prices.input_cache_write,
      input_cache_write_1h: prices.input_cache_write_1h,
    }),
    { description: 'Prices of long prompts.' },
  ),
)
const complete = t.Object({ ...prices, overrides })

const pricing = t.Object({
  ...prices,
  prompt: price,
  completion: price,
  image: price,
  request: price,
  overrides,
  service_tiers: t.Optional(
    t.Object(
      { flex: t.Optional(complete), priority: t.Optional(complete), batch: t.Optional(complete) },
      { description: 'Prices of service tiers that cost more or less.' },
    ),
  ),
  hours: t.Optional(
    t.Array(t.Object({ from: t.String(), until: t.String(), prices: complete }), {
      description: 'Prices of hours of the day (UTC) that cost more or less.',
    }),
  ),
})
export type PricingView = Static<typeof pricing>

const architecture = t.Object({
  modality: t.String({ description: 'Such as `text+image->text`.' }),
  input_modalities: texts,
  output_modalities: texts,
  tokenizer: text,
  instruct_type: nullable(text),
})

export const model = t.Object({
  id: text,
  object: t.Literal('model'),
  owned_by: t.String({ description: 'The author; for an id without one, the provider.' }),
  canonical_slug: text,
  hugging_face_id: nullable(text),
  name: text,
  created: t.Number({ documented: { type: 'integer' }, description: 'Unix seconds; 0: unknown.' }),
  description: text,
  context_length: t.Number({ documented: { type: 'integer' }, description: 'Tokens; 0: unknown.' }),
  architecture,
  pricing,
  top_provider: t.Object({
    context_length: nullable(integer),
    max_completion_tokens: nullable(integer),
    is_moderated: t.Boolean(),
  }),
  per_request_limits: unknown('No limits of this kind.'),
  supported_parameters: texts,
  default_parameters: t.Union(
    [
      t.Object({
        temperature: nullable(t.Number()),
        top_p: nullable(t.Number()),
        top_k: nullable(t.Number()),
        frequency_penalty: nullable(t.Number()),
        presence_penalty: nullable(t.Number()),
        repetition_penalty: nullable(t.Number()),
      }),
      t.Null(),
    ],
    { description: 'Recommended by its author; the gateway does not apply it.' },
  ),
  supported_voices: t.Union([texts, t.Null()], {
    description: 'Of a model that generates speech; null: unknown.',
  }),
  knowledge_cutoff: nullable(text),
  expiration_date: nullable(text),
  reasoning: t.Optional(
    t.Object({
      mandatory: t.Boolean(),
      supported_efforts: nullable(texts),
      supports_max_tokens: t.Boolean(),
    }),
  ),
  benchmarks: t.Optional(
    t.Object(
      {
        artificial_analysis: t.Object({
          intelligence_index: nullable(t.Number()),
          coding_index: nullable(t.Number()),
          agentic_index: nullable(t.Number()),
        }),
        design_arena: t.Array(t.Unknown()),
        design_arena_elo: nullable(t.Number()),
        tool_success_rate: nullable(t.Number()),
      },
      { description: 'Of the file that `SLUICE_BENCHMARKS` names.' },
    ),
  ),
  is_configured: configured,
  links: t.Object({ details: t.String({ description: "Path of the model's endpoints." }) }),
})
export type ModelView = Static<typeof model>

export const modelList = t.Object({
  object: t.Literal('list'),
  data: t.Array(model),
  links: t.Object({ next: t.Union([t.String(), t.Null()], { description: 'Path of the next page.' }) }),
  total_count: t.Number({ documented: { type: 'integer' }, description: 'On all pages.' }),
})

const percentiles = (description: string) =>
  t.Union([t.Object({ p50: t.Number(), p75: t.Number(), p90: t.Number(), p99: t.Number() }), t.Null()], {
    description: `${description} Measured by this gateway; null: not measured in that time.`,
  })
const uptime = t.Union([t.Number({ minimum: 0, maximum: 100 }), t.Null()], {
  description: "Percent of this gateway's attempts with a complete reply; null: no attempts.",
})
const endpointFields = {
  name: text,
  model_id: text,
  model_name: text,
  provider_name: text,
  tag: t.String({ description: 'What `provider.only` may name.' }),
  quantization: nullable(text),
  context_length: integer,
  max_completion_tokens: nullable(integer),
  max_prompt_tokens: unknown('No bound of its own.'),
  pricing,
  supported_parameters: texts,
  supports_implicit_caching: t.Boolean(),
  supports_tool_choice: t.Object({
    auto: t.Boolean(),
    none: t.Boolean(),
    required: t.Boolean(),
    function: t.Boolean(),
  }),
  supports_voice_cloning: t.Boolean(),
  data_policy: t.Object(
    {
      training: nullable(t.Boolean({ description: 'Whether it may train on prompts.' })),
      retention_days: nullable(integer),
      zdr: nullable(t.String({ documented: { type: 'string', enum: ['always', 'on_request', 'never'] } })),
    },
    { description: 'What the provider publishes, or the operator declares; null: unknown.' },
  ),
  regions: t.Union([texts, t.Null()], { description: 'Regions that prompts do not leave; null: unknown.' }),
  is_moderated: t.Union([t.Boolean(), t.Null()], {
    description: 'Whether the provider moderates contents; null: unknown.',
  }),
  is_configured: configured,
  latency_last_30m: percentiles('Milliseconds to the first content.'),
  throughput_last_30m: percentiles('Output tokens per second; p99 is the slowest of the four.'),
  uptime_last_5m: uptime,
  uptime_last_30m: uptime,
  uptime_last_1d: uptime,
} satisfies Record<string, TSchema>
const endpoint = t.Object(endpointFields)
export type EndpointView = Static<typeof endpoint>

export const modelEndpoints = t.Object({
  id: text,
  name: text,
  created: integer,
  description: text,
  architecture,
  endpoints: t.Array(t.Object({ ...endpointFields, status: integer })),
})
export type ModelEndpointsView = Static<typeof modelEndpoints>

export const modelPrices = t.Object({
  id: text,
  name: text,
  providers: t.Array(
    t.Object({
      provider: text,
      prices: t.Array(
        t.Object({
          from: t.String({ description: 'ISO 8601; holds until the next one.' }),
          pricing: t.Union([t.Object({}, { additionalProperties: true }), t.Null()], {
            description: 'As in an endpoint; null: it had no price.',
          }),
        }),
      ),
    }),
  ),
})

export const zdrEndpoint = t.Object({
  ...endpointFields,
  status: t.Union([t.String(), t.Number()], { documented: { type: 'string' } }),
})

export const provider = t.Object({
  name: text,
  slug: text,
  privacy_policy_url: nullable(text),
  terms_of_service_url: nullable(text),
  status_page_url: nullable(text),
  headquarters: nullable(text),
  datacenters: nullable(texts),
  is_configured: configured,
})
export type ProviderView = Static<typeof provider>
