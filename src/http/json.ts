import type { JsonObject } from '../core/events.ts'

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `value` if it is an object, else an empty one. */
export const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})
