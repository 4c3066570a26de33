/** What the thread of the delivery reports to the main thread, which alone writes to the database. */

/** Why generations were dropped, in the words of the API and of /metrics. */
export type DropReason =
  /** Waited longer than SLUICE_EXPORT_MAX_AGE_HOURS. */
  | 'age'
  /** The queue was larger than SLUICE_EXPORT_MAX_MB. */
  | 'bytes'
  /** Older than the destination takes. */
  | 'too_old'
  /** Larger than the destination takes, without its content too. */
  | 'too_large'
  /** Its row of the ledger was deleted before. */
  | 'pruned'
  /** The operator discarded what waited, or disabled the destination. */
  | 'discarded'

export interface SetAside {
  readonly generationId: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** Null: the destination was not asked. */
  readonly status: number | null
  readonly message: string
}

export type LaneStanding = 'delivering' | 'retrying' | 'paused' | 'disabled'

interface ReplayProgress {
  readonly id: number
  readonly position: number
  /** Generations of the workspace that were passed. */
  readonly passed: number
  readonly isDone: boolean
}

/** What waits in the outbox for a destination, of its workspace; near the truth for large backlogs. */
export interface Waiting {
  readonly generations: number
  readonly bytes: number
  /** When the oldest was committed, in milliseconds since 1970; null: nothing waits. */
  readonly oldestAt: number | null
}

/** Of one destination, since its last report. */
export interface Report {
  readonly destinationId: string
  /** Everything up to here was delivered, set aside or dropped. */
  readonly position: number
  readonly sent: number
  readonly failed: number
  readonly setAside: readonly SetAside[]
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>
  readonly standing: LaneStanding
  /** The last success, in milliseconds since 1970; null: none since the start. */
  readonly lastSuccessAt: number | null
  /** The last failure as a sentence; null: none since the last success. */
  readonly lastError: { readonly at: number; readonly message: string } | null
  readonly waiting: Waiting
  /** How far the last replay has come; null: there was none since the start of the thread. */
  readonly replay: ReplayProgress | null
}
