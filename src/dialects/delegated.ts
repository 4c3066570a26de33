import type { JsonObject } from '../core/events.ts'
import type { InferenceRequest } from '../core/request.ts'

/** Adds the fields for the gateway that a provider with plugins and server tools of the same API is handed on. */
export function applyDelegated(body: JsonObject, { delegated, body: asked }: InferenceRequest): void {
  if (delegated === undefined) return
  const { plugins, tools } = delegated
  if (plugins.length > 0) body['plugins'] = plugins
  const stop = asked['stop_server_tools_when']
  if (tools && Array.isArray(stop)) body['stop_server_tools_when'] = stop
}
