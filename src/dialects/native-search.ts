import type { JsonObject } from '../core/events.ts'
import { restOf } from '../core/json.ts'
import type { Tool } from '../core/request.ts'

/** Anthropic's search, which represents every provider's search in a neutral request. */
export const isNativeSearch = (tool: Tool): boolean =>
  tool.type === 'other' && /^web_search_\d{8}$/.test(String(tool.data['type']))

const NAMED = new Set(['type', 'name'])

/** Its options: `max_uses`, `allowed_domains`, `blocked_domains`, `user_location`. */
export const nativeSearchFields = (tool: Tool): JsonObject =>
  (tool.type === 'other' && restOf(tool.data, NAMED)) || {}
