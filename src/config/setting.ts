import type { Read } from './readers.ts'

/** One setting: where it may be said, what it may be, and what it is when nobody says. */
export interface Setting<T> {
  /** The environment variable. The key in sluice.yaml is the same without SLUICE_, in lower case. */
  readonly variable: `SLUICE_${string}`
  /** As `sluice serve` takes it; absent for secrets and for what is seldom changed. */
  readonly flag?: string
  readonly type: string
  readonly fallback: T
  readonly read: Read<T>
  readonly meaning: string
}

export const setting = <T>(one: Setting<T>): Setting<T> => one
export const optional = <T>(one: Omit<Setting<T | null>, 'fallback'>): Setting<T | null> => ({
  ...one,
  fallback: null,
})
