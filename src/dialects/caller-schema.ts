import { Type as t } from '@sinclair/typebox'
import { anyObject, modelName, OPEN, oneOf, optional } from './fields.ts'
import { plugin } from './plugin-schema.ts'
import { providerPreferences, stopCondition, trace } from './routing-schema.ts'

/** Fields that speak to the gateway, or mean the same to every provider: alike in the bodies of several dialects. */

export const EFFORTS = ['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'] as const

export const model = optional(modelName('Absent: the default text model of the workspace'))
export const serviceTier = optional(oneOf(['auto', 'default', 'flex', 'priority', 'scale', 'fast']))
export const metadata = optional(
  t.Record(t.String(), t.String({ maxLength: 512 }), {
    maxProperties: 16,
    description: 'At most 16 pairs; keys of at most 64 characters without square brackets',
  }),
)
export const cacheControl = optional(
  t.Object({ type: t.String({ description: 'ephemeral' }), ttl: optional(t.String()) }, OPEN),
)

export const callerFields = {
  models: optional(t.Array(modelName(), { description: 'Fallbacks, tried in order' })),
  provider: optional(providerPreferences),
  plugins: optional(t.Array(plugin)),
  route: optional(oneOf(['fallback', 'sort'])),
  session_id: optional(t.String({ maxLength: 256, description: 'Wins over the header x-session-id' })),
  user: optional(t.String({ maxLength: 256 })),
  trace: optional(trace),
  debug: optional(
    t.Object(
      {
        echo_upstream_body: optional(
          t.Boolean({ description: 'Streams only: the first chunk shows the body that was sent upstream' }),
        ),
      },
      OPEN,
    ),
  ),
  image_config: optional(anyObject('Settings of image output; specific to the provider')),
  stop_server_tools_when: optional(
    t.Array(stopCondition, { minItems: 1, description: 'Any that holds ends the tool loop' }),
  ),
}
