import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { GATEWAY_FIELDS } from '../caller-schema.ts'
import { keepWith } from '../dropped.ts'

/** Collects the names of fields that only this dialect can carry. */
export type Keep = ReturnType<typeof createKeep>

/** `rest` names the fields of an object at `place`, and returns it. Other dialects have their own `cache_control`. */
export const createKeep = () =>
  keepWith((keep) => (rest: JsonObject | undefined, place: string): JsonObject | undefined => {
    for (const key of Object.keys(rest ?? {})) if (key !== 'cache_control') keep(`${place}.${key}`)
    return rest
  })

/**
 * Fields for the gateway itself, never sent to a provider. `fallbacks` is one of them where it lists
 * models; Anthropic's own word `default` goes through.
 */
export const NOT_SENT: ReadonlySet<string> = new Set([...GATEWAY_FIELDS, 'fallbacks', 'user'])

/** The `cache_control` marker of a part, message or tool. */
export const cacheMarkOf = (extra: JsonObject | undefined): JsonObject =>
  isObject(extra?.cache_control) ? { cache_control: extra.cache_control } : {}

/** The id of a call as this API takes it: other providers' may have other characters. */
export const callIdOf = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, '_')

/** Text that the API refuses (400 `text content blocks must contain non-whitespace text`). */
export const isBlank = (text: unknown): boolean => isString(text) && text.trim() === ''

/** Tells the blocks of the gateway's own tools from those of Anthropic, which alone are sent back to it. */
export const OWN_BLOCK = 'srvtoolu_sluice_'

/** A block of what ran at the provider, which takes it back as it came. OpenAI's `compaction` has no `content`. */
export const isOwnBlock = ({ type, id, tool_use_id, content }: JsonObject): boolean =>
  isString(type) &&
  !(type === 'compaction' && content === undefined) &&
  /^(?:server_tool_use|mcp_tool_use|container_upload|compaction|[a-z_]{1,60}_tool_result)$/.test(type) &&
  ![id, tool_use_id].some((each) => isString(each) && each.startsWith(OWN_BLOCK))
