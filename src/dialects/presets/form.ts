import type { JsonObject } from '../../core/events.ts'

/** What a preset keeps of a request: its settings, in chat's words, and its system prompt. */
interface PresetContent {
  config: JsonObject
  systemPrompt: string | null
}

/** How a dialect's requests become presets, and presets become requests of it. */
export interface PresetForm {
  /** The settings of a body that was parsed before; messages and what else concerns one request alone are left out. */
  take(body: JsonObject): PresetContent
  /** The settings in this dialect's words; those that it has no word for are left out. */
  give(config: JsonObject): JsonObject
  /** The body with this system prompt, unless it brings its own. */
  withSystem(body: JsonObject, systemPrompt: string): JsonObject
  /** Fields that say the same thing: a request that sets one of them sets them all. */
  synonyms: readonly (readonly string[])[]
  /** Fields that hold settings themselves: a request that sets some of them leaves the preset's others. */
  nested?: readonly string[]
}

/** The settings that mean the same under the same name in chat and in Responses. */
export const SHARED_FIELDS = [
  'model',
  'models',
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'top_logprobs',
  'reasoning',
  'parallel_tool_calls',
  'plugins',
  'provider',
  'route',
  'service_tier',
  'modalities',
  'image_config',
] as const

/** The fields of `names` that are set. */
export const pick = (body: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.filter((name) => body[name] !== undefined && body[name] !== null).map((name) => [name, body[name]]),
  )

/** The text of a content: a string, or the text of its parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.flatMap((part: unknown) => textAt(part)).join('\n')
}

function textAt(part: unknown): string[] {
  if (typeof part !== 'object' || part === null || !('text' in part)) return []
  return typeof part.text === 'string' ? [part.text] : []
}
