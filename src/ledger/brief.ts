import { MOST_COUNTED } from '../core/usage.ts'

/** Bounds of what callers, providers and clocks report, so that it never keeps a row from being written. */

const MAX_TEXT = 512
export const brief = (text: string): string => (text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text)
export const briefOrNull = (text: string | null): string | null => (text === null ? null : brief(text))

/** An integer count of tokens, images or recordings. */
export const count = (value: number): number =>
  Number.isFinite(value) ? Math.min(MOST_COUNTED, Math.max(0, Math.trunc(value))) : 0
/** Milliseconds. */
export const duration = (milliseconds: number): number =>
  Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : 0

/** Returns an integer of nano-dollars and throws a `RangeError` for any other number: amounts are never corrected silently. */
export function amount(nanoUsd: number): number {
  if (Number.isSafeInteger(nanoUsd) && nanoUsd >= 0) return nanoUsd
  throw new RangeError(`A cost must be an integer of nano-dollars, not ${nanoUsd}`)
}
