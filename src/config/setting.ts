import type { Read } from './readers.ts'

/** One setting: its names, its values and its default. */
export interface Setting<T> {
  /** The environment variable. The key in sluice.yaml is the same without SLUICE_, in lower case. */
  readonly variable: `SLUICE_${string}`
  /** Variables of other conventions that set it too; the first one that is set counts, after the file. */
  readonly others?: readonly string[]
  /** The flag of `sluice serve`; absent for secrets and for settings that seldom change. */
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
