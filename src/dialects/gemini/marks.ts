import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../values.ts'

/** True for the `extra` of what the caller marked: what stands before it, and it itself, is worth keeping. */
export const isMark = (extra: JsonObject | undefined): boolean => isObject(extra?.['cache_control'])
