import { type Static, Type as t } from '@sinclair/typebox'
import { words } from '../core/words.ts'
import { anyObject, modelName, oneOf, openObject, optional } from './fields.ts'
import { plugin } from './plugin-schema.ts'

/** Routing preferences and bounds of tool loops: fields for the gateway itself. */

const slugs = (description: string) => optional(t.Array(t.String({ minLength: 1 }), { description }))

const sortBy = oneOf(['price', 'throughput', 'latency', 'exacto'])
const price = optional(
  t.Union([t.String(), t.Number({ minimum: 0 })], { description: 'A decimal string, or a number' }),
)
const cutoff = optional(t.Number({ minimum: 0 }))
const cutoffs = (description: string) =>
  optional(
    t.Union([t.Number({ minimum: 0 }), openObject({ p50: cutoff, p75: cutoff, p90: cutoff, p99: cutoff })], {
      description,
    }),
  )

const providerPreferences = openObject({
  order: slugs('Provider slugs, in the order to try'),
  only: slugs('Only these providers'),
  ignore: slugs('Never these providers'),
  allow_fallbacks: optional(t.Boolean({ description: 'Default true' })),
  require_parameters: optional(
    t.Boolean({ description: 'Only endpoints that support every parameter of the request; default false' }),
  ),
  data_collection: optional(oneOf(['allow', 'deny'])),
  zdr: optional(t.Boolean({ description: 'Only endpoints that retain nothing' })),
  enforce_distillable_text: optional(t.Boolean()),
  quantizations: optional(t.Array(t.String())),
  sort: optional(
    t.Union([sortBy, openObject({ by: optional(sortBy), partition: optional(oneOf(['model', 'none'])) })]),
  ),
  max_price: optional(
    openObject(
      { prompt: price, completion: price, image: price, audio: price, request: price },
      {
        description: 'USD per million tokens (prompt, completion), or per unit (image, audio, request)',
      },
    ),
  ),
  preferred_min_throughput: cutoffs('Tokens per second; slower endpoints are tried last'),
  preferred_max_latency: cutoffs('Seconds; slower endpoints are tried last'),
  hedge_ms: optional(
    t.Integer({
      minimum: 0,
      maximum: 600_000,
      description:
        'A conversation without content after so many milliseconds is sent to a second endpoint too; both may be charged. 0: never; default SLUICE_HEDGE_MS',
    }),
  ),
})

const stopCondition = t.Union([
  openObject({ type: t.Literal('step_count_is'), step_count: t.Integer({ minimum: 1 }) }),
  openObject({ type: t.Literal('max_cost'), max_cost_in_dollars: t.Number({ minimum: 0 }) }),
  openObject({ type: t.Literal('has_tool_call'), tool_name: t.String() }),
  openObject({ type: t.Literal('max_tokens_used'), max_tokens: t.Integer({ minimum: 0 }) }),
  openObject({ type: t.Literal('finish_reason_is'), reason: t.String() }),
])

const traceName = optional(t.String())
const trace = openObject(
  {
    trace_id: traceName,
    trace_name: traceName,
    span_name: traceName,
    generation_name: traceName,
    parent_span_id: traceName,
  },
  { description: 'Stored with the generation; other keys are allowed. At most 4,096 characters as JSON' },
)

export type ChatPreferences = Static<typeof providerPreferences>

/** Fields for the gateway, and fields with one meaning at every provider: the same in the bodies of several dialects. */

export const EFFORTS = ['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'] as const

export const audioPart = openObject({
  type: t.Literal('input_audio'),
  input_audio: openObject({
    data: t.String({ description: 'Base64' }),
    format: t.String({ description: 'wav, mp3 …' }),
  }),
})

export const model = optional(modelName('Absent: the default text model of the workspace'))
export const serviceTier = optional(oneOf(['auto', 'default', 'flex', 'priority', 'scale', 'fast']))
export const metadata = optional(
  t.Record(t.String(), t.String({ maxLength: 512 }), {
    maxProperties: 16,
    description: 'At most 16 pairs; keys of at most 64 characters without square brackets',
  }),
)
export const cacheControl = optional(openObject({ type: t.Literal('ephemeral'), ttl: optional(t.String()) }))
/** Of a part or a tool. */
export const cacheMark = optional(
  openObject(
    { type: t.Optional(t.Literal('ephemeral')) },
    {
      description:
        'Prompt caching marker, such as {"type": "ephemeral", "ttl": "5m"}; forwarded to providers',
    },
  ),
)

/** The routing fields of every body. */
export const routingFields = {
  models: optional(t.Array(modelName(), { description: 'Fallbacks, tried in order' })),
  provider: optional(providerPreferences),
  session_id: optional(
    t.String({ maxLength: 256, description: 'Takes precedence over the header x-session-id' }),
  ),
  user: optional(t.String({ maxLength: 256 })),
  trace: optional(trace),
}

/** Those of every conversation. */
export const conversationFields = {
  ...routingFields,
  plugins: optional(t.Array(plugin)),
  route: optional(oneOf(['fallback', 'sort'])),
}

export const stopServerToolsWhen = optional(
  t.Array(stopCondition, { minItems: 1, description: 'The tool loop ends when one of them is met' }),
)

export const callerFields = {
  ...conversationFields,
  debug: optional(
    openObject({
      echo_upstream_body: optional(
        t.Boolean({ description: 'Streams only: the first chunk shows the body that was sent upstream' }),
      ),
    }),
  ),
  image_config: optional(anyObject('Settings of image output; specific to the provider')),
  stop_server_tools_when: stopServerToolsWhen,
}

/** Fields of a caller's body for the gateway, in every dialect: never sent to a provider. */
export const GATEWAY_FIELDS: readonly string[] = words(
  'models provider plugins preset route transforms session_id trace debug stop_server_tools_when',
)
