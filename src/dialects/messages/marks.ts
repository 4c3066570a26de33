import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'

/** Names, once, what cannot be carried. */
export type Drop = (name: string) => void

/** The prompt caching mark of a part, message or tool. */
export const cacheMarkOf = (extra: JsonObject | undefined): JsonObject =>
  isObject(extra?.cache_control) ? { cache_control: extra.cache_control } : {}

/** The id of a call as this API takes it: other providers' may have other characters. */
export const callIdOf = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, '_')

export const isText = (value: unknown): value is string => isString(value) && value !== ''

/** Text that the API refuses (400 `text content blocks must contain non-whitespace text`). */
export const isBlank = (text: unknown): boolean => isString(text) && text.trim() === ''
