import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { LeaveOut } from './left-out.ts'

/** True for the `extra` of what the caller marked: what stands before it, and it itself, is worth keeping. */
export const isMark = (extra: JsonObject | undefined): boolean => isObject(extra?.['cache_control'])

/**
 * Names a mark, for as long as no cache is made of it (inference/context-cache takes the name back then), and always
 * a `ttl` of an hour: caches live for five minutes.
 */
export function leaveOutMark(mark: unknown, leaveOut: LeaveOut): void {
  leaveOut('cache_control')
  if (isObject(mark) && mark['ttl'] === '1h') leaveOut('cache_control.ttl')
}

/** Names the fields of an `extra`, as fields of `of`. */
export function leaveOutExtra(extra: JsonObject | undefined, of: string, leaveOut: LeaveOut): void {
  for (const [name, value] of Object.entries(extra ?? {})) {
    if (name === 'cache_control') leaveOutMark(value, leaveOut)
    else leaveOut(`${of}.${name}`)
  }
}
