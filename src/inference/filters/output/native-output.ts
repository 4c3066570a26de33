import type { DialectName, InferenceEvent } from '../../../core/events.ts'
import type { Scanners } from '../scanners.ts'

export type Native = Extract<InferenceEvent, { type: 'native' }>

/** Filters native events: fields that only the caller's dialect has. */
export interface NativeOutput {
  take(event: Native, out: InferenceEvent[]): void
  /** Adds native events for a released event, for writers that read only `native` events. */
  beside(event: InferenceEvent, out: InferenceEvent[]): void
  /** The reply ends. */
  end(out: InferenceEvent[]): void
}

export interface NativeInput {
  dialect: DialectName | null
  isStream: boolean
  scanners: Scanners
  /** Ends all open texts, and releases what was held. */
  flush(out: InferenceEvent[]): void
  drop(name: string): void
  /** The gateway's own tools are called: of native events their loop reads the provider's own pieces alone. */
  isLoop: boolean
}
