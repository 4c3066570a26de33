/** What the gateway counts of itself: in memory, in typed arrays, from zero at each start. */
import type { Attempt } from '../core/attempt.ts'
import type { Caller } from '../core/caller.ts'
import type { Settlement } from '../core/generation.ts'
import type { Refusal } from '../core/refusal.ts'
import type { AttemptEnd } from './outcome.ts'

/** What a settlement does not contain. */
export interface SettledFacts {
  /** Milliseconds in the gateway before the first attempt, and for the commit; null: not measured. */
  readonly overhead: { readonly beforeMs: number; readonly afterMs: number } | null
  /** What the response cache saved. */
  readonly savedNanoUsd: number
  readonly traceId: string
}

/** A request that was refused after its workspace was known. */
export interface Refused {
  readonly refusal: Refusal
  /** The slug of the workspace, and the id of the model; null: no inference route has read the request. */
  readonly asked: { readonly workspace: string; readonly model: string | null } | null
}

/** Observations. Each is a few array accesses, encodes nothing and never throws. */
export interface Metrics {
  /** A generation, or a step of one, is settled. */
  settled(settlement: Settlement, caller: Caller, facts: SettledFacts): void
  attemptEnded(attempt: Attempt, end: AttemptEnd): void
  refused(refused: Refused): void
  /** The ledger has committed. */
  committed(milliseconds: number): void
  pruned(file: string, rows: number): void
  contentsLost(contents: number): void
  loopLagged(milliseconds: number): void
}

const nothing = (): void => undefined

/** Observes nothing. */
export const NO_METRICS: Metrics = {
  settled: nothing,
  attemptEnded: nothing,
  refused: nothing,
  committed: nothing,
  pruned: nothing,
  contentsLost: nothing,
  loopLagged: nothing,
}
