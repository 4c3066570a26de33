import { Type as t } from '@sinclair/typebox'
import type { JsonObject } from '../core/events.ts'
import type { PluginOptions } from '../core/plugin-options.ts'
import { openObject } from './fields.ts'
import { bodyCheck } from './mismatch.ts'
import { checkPlugins, plugin } from './plugin-schema.ts'
import { refuseUnbuilt } from './unbuilt.ts'

const checkBody = bodyCheck(openObject({ plugins: t.Array(plugin) }))

/** Plugins that are stored are checked as those of a request. Throws a `GatewayError` 400 that names the place. */
export function checkStoredPlugins(stored: readonly PluginOptions[] | null | undefined): void {
  if (!stored) return
  // A rule that forbids a plugin needs none.
  const plugins: unknown = stored.map((each) =>
    each['enforcement'] === 'never' ? { ...each, enabled: false } : each,
  )
  const sent: JsonObject = { plugins }
  const body = checkBody(sent)
  checkPlugins(body.plugins)
  refuseUnbuilt(body)
}
