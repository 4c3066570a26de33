import type { JsonObject } from '../../core/events.ts'
import { asText, isString, objectsIn } from '../../core/json.ts'
import { words } from '../../core/words.ts'

/** The content of a preset: settings under chat's names, and a system prompt. */
interface PresetContent {
  config: JsonObject
  systemPrompt: string | null
}

/** How a dialect's requests become presets, and presets become requests of it. */
export interface PresetForm {
  /** The settings of a body that was parsed before, without messages and other fields of a single request. */
  take(body: JsonObject): PresetContent
  /** The settings under this dialect's names; those without one are left out. */
  give(config: JsonObject): JsonObject
  /** The body with this system prompt, unless it has its own. */
  withSystem(body: JsonObject, systemPrompt: string): JsonObject
  /** Fields with the same meaning: a request that sets one of them overrides them all. */
  synonyms: readonly (readonly string[])[]
  /** Fields that hold settings themselves: a request that sets some of them keeps the preset's others. */
  nested?: readonly string[]
}

/** Settings with the same name and meaning in chat and in Responses. */
export const SHARED_FIELDS = words(`
  model models temperature top_p top_k frequency_penalty presence_penalty top_logprobs reasoning
  parallel_tool_calls plugins provider route service_tier modalities image_config
`)

/** The fields of `names` that are set. */
export const pick = (body: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.filter((name) => body[name] !== undefined && body[name] !== null).map((name) => [name, body[name]]),
  )

/** The text of a content: a string, or the text of its parts. */
export function textOf(content: unknown): string {
  if (isString(content)) return content
  return objectsIn(content)
    .flatMap(({ text }) => asText(text) ?? [])
    .join('\n')
}
