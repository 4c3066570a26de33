import type { JsonObject } from './json.ts'

/** A plugin as a request, a preset or a workspace names it. Its other fields are checked where it is received. */
export interface PluginOptions extends JsonObject {
  readonly id: string
  /** Absent, null: true. */
  readonly enabled?: boolean | null
}

/** A plugin as a guardrail names it: requests have it always, never, or unless they set it otherwise. */
export interface PluginRule extends PluginOptions {
  readonly enforcement: 'always' | 'never' | 'default'
}
