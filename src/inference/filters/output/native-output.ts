import type { DialectName, InferenceEvent } from '../../../core/events.ts'
import type { Scanners } from '../scanners.ts'

export type Native = Extract<InferenceEvent, { type: 'native' }>

/** What only the caller's own dialect can carry, as filters that change texts let it pass. */
export interface NativeOutput {
  take(event: Native, out: InferenceEvent[]): void
  /** Native events beside an event that passes, for a writer that reads only `native` events. */
  beside(event: InferenceEvent, out: InferenceEvent[]): void
  /** The answer ends. */
  end(out: InferenceEvent[]): void
}

export interface NativeInput {
  dialect: DialectName
  isStream: boolean
  scanners: Scanners
  /** All texts that are under way end here. */
  leave(out: InferenceEvent[]): void
  drop(name: string): void
}
