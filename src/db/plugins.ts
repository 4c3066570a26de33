/** Plugins as workspaces and guardrails name them. The service checks their fields as those of requests are checked. */
import { Type } from '@sinclair/typebox'
import type { PluginOptions, PluginRule } from '../core/plugin-options.ts'
import { json } from './columns.ts'
import { wordOf } from './kinds.ts'

const MOST = 20

const id = Type.String({ minLength: 1, maxLength: 100, description: 'As in `plugins` of a request.' })
const enabled = Type.Optional(Type.Boolean({ description: 'Default true.' }))
const view = Type.Array(Type.Record(Type.String(), Type.Unknown()))

export const defaultPlugins = {
  column: json<PluginOptions[]>(),
  body: Type.Array(Type.Object({ id, enabled }, { additionalProperties: true }), {
    maxItems: MOST,
    description:
      'The plugins of requests that do not set them: each with its options. One with `enabled: false` is off, and its options hold for requests that enable it.',
  }),
  view,
}

export const pluginRules = {
  column: json<PluginRule[]>(),
  body: Type.Array(
    Type.Object(
      {
        id,
        enabled,
        enforcement: wordOf(['always', 'never', 'default']),
      },
      { additionalProperties: true },
    ),
    {
      maxItems: MOST,
      description:
        'Which plugins requests have: always with these options, never, or by default unless the workspace or the request sets them.',
    },
  ),
  view,
}
