/** Messages between the main thread and the thread of the delivery. Both are ours, of one process. */
import type { EngineLane } from './engine.ts'
import type { Replay } from './replay.ts'
import type { Report } from './report.ts'

/** What the thread needs once. Nothing of it is written anywhere. */
export interface Opening {
  readonly kind: 'open'
  /** Files that the thread opens read-only. */
  readonly ledger: string
  readonly bodies: string
  /** 32 bytes. */
  readonly secretKey: Uint8Array
  /** SLUICE_OUTBOUND_ALLOW. */
  readonly outboundAllow: readonly string[]
  /** The host of SLUICE_OTLP_ENDPOINT. */
  readonly ownHost: string | null
  readonly maxAgeMs: number
  readonly maxBytes: number
  readonly service: { readonly version: string; readonly instanceId: string }
}

export type ToWorker =
  | Opening
  | { readonly kind: 'lanes'; readonly lanes: readonly EngineLane[]; readonly changed: readonly string[] }
  | { readonly kind: 'wake' }
  | { readonly kind: 'resume' | 'discard'; readonly id: string }
  | { readonly kind: 'replay'; readonly id: string; readonly replay: Replay | null }
  | { readonly kind: 'stop'; readonly ms: number }

export type FromWorker =
  | { readonly kind: 'reports'; readonly reports: readonly Report[] }
  | { readonly kind: 'stopped' }
