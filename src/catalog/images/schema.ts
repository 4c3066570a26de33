import { type Static, t } from 'elysia'
import { nullable } from '../../http/schemas.ts'

const text = t.String()
const texts = t.Array(text)

const descriptor = t.Union([
  t.Object({ type: t.Literal('enum'), values: texts }),
  t.Object({ type: t.Literal('range'), min: t.Number(), max: t.Number() }),
  t.Object({ type: t.Literal('boolean') }),
])
const parameters = t.Record(text, descriptor, { description: 'Parameters of POST /images, by name.' })

export const imageModel = t.Object({
  id: text,
  name: text,
  description: text,
  created: t.Number({ documented: { type: 'integer' }, description: 'Unix seconds; 0: unknown.' }),
  architecture: t.Object({ input_modalities: texts, output_modalities: texts }),
  supported_parameters: parameters,
  supports_streaming: t.Boolean(),
  endpoints: t.String({ description: 'Path of the records of its endpoints.' }),
})
export type ImageModelView = Static<typeof imageModel>

export const imageEndpoint = t.Object({
  provider_name: text,
  provider_slug: text,
  provider_tag: nullable(text),
  supported_parameters: parameters,
  allowed_passthrough_parameters: texts,
  pricing: t.Array(
    t.Object({
      billable: t.String({ description: '`output_image`, `output_text`, `input_image` or `input_text`.' }),
      unit: t.String({ description: '`token`, `image` or `request`.' }),
      cost_usd: t.Number({ minimum: 0, description: 'USD per unit.' }),
    }),
    { description: 'Empty: the price is unknown.' },
  ),
  supports_streaming: t.Boolean(),
  is_configured: t.Boolean({ description: 'Whether it can be called.' }),
})
export type ImageEndpointView = Static<typeof imageEndpoint>
export type ImagePricing = ImageEndpointView['pricing']
