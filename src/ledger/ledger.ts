import type { Gate } from '../core/gate.ts'
import type { JournalEntry, Settlement } from '../core/generation.ts'

/** A reservation. Held in memory only; it ends in exactly one `settle` or `release`. */
export interface Hold {
  readonly generationId: string
  /** The most that the request can cost, with any credential. */
  readonly amountNanoUsd: number
  /** The most that it can cost with the gateway's own credentials; null: it uses none of them. Absent: the same. */
  readonly sharedNanoUsd?: number | null
}

export interface ReserveRequest {
  generationId: string
  gates: readonly Gate[]
  /** Held by the gates that count own-key (BYOK) spending too. */
  amountNanoUsd: number
  /**
   * Reserved by all other gates: the part that the gateway's own credentials can cost. Null: the request uses none of
   * them, and those gates admit it without a reservation. Absent: the complete amount.
   */
  sharedNanoUsd?: number | null
  /** Milliseconds since 1970: chooses the windows. */
  startedAt: number
}

/** The remaining budget: that of the tightest gate. */
export interface Remaining {
  /** Limit minus settled and reserved amounts. Infinity without gates. */
  nanoUsd: number
  /** Limit minus settled amounts: the remaining budget if no request ran. The least of all gates, so not always of `gate`. */
  unspentNanoUsd: number
  gate: Gate | null
}

/** The amounts that a request reserves; see `ReserveRequest`. */
export interface Amounts {
  readonly amountNanoUsd: number
  readonly sharedNanoUsd: number | null
}

export interface ClaimRequest<Needed extends Amounts> {
  generationId: string
  gates: readonly Gate[]
  startedAt: number
  /**
   * What it reserves of the remaining budget. Pure: called again each time a reservation ends. With `isLast` the request
   * stops waiting: the ledger then reserves the amount or rejects the request.
   */
  need(remainingOf: (gates: readonly Gate[]) => Remaining, isLast: boolean): Needed
  /** Ends a refusal's sentence: how the caller can ask for less. */
  hint?: string
  /** Aborts once the caller no longer waits; the claim then rejects with the signal's reason. */
  signal: AbortSignal
}

export interface Claim<Needed extends Amounts> {
  readonly hold: Hold
  readonly needed: Needed
}

export interface KeyUsage {
  total: number
  daily: number
  weekly: number
  monthly: number
  byokTotal: number
  byokDaily: number
  byokWeekly: number
  byokMonthly: number
}

/**
 * The money. All of it runs on one thread: `remaining` and then `reserve` without an await between are atomic.
 * Invariant: for every gate, settled + held ≤ limit at the moment of each reservation.
 */
export interface Ledger {
  remaining(gates: readonly Gate[], startedAt: number): Remaining
  /** Reserves at all gates or at none. A rejection names the limit, the used and reserved amounts, and its reset. */
  reserve(request: ReserveRequest): Hold
  /**
   * Reserves as `reserve` does. A request that only running reservations keep out (settled + needed ≤ limit at every
   * gate) waits until they end, for at most the ledger's `roomWaitMs`, and is then refused. Requests of one limit are
   * served in order of arrival. A promise only if the request has to wait; throws the refusal if it has not.
   */
  claim<Needed extends Amounts>(request: ClaimRequest<Needed>): Claim<Needed> | Promise<Claim<Needed>>
  /** Gives a hold back without a generation: nothing was sent upstream. */
  release(hold: Hold): void
  /** Appended in a group commit, not awaited. The entry must not change afterwards. */
  journal(entry: JournalEntry): void
  /**
   * Resolves once the row is committed; the hold is then gone. A second call for the same hold changes nothing. Rejects
   * with a `GatewayError` 503 if nothing can be committed for some seconds: the row stays queued for a later commit, and
   * the hold stays until then.
   */
  settle(hold: Hold, settlement: Settlement): Promise<void>
  /** Settled spending of a key in the windows that hold `at`, in nano-dollars. */
  usageOf(keyHash: string, at: number): Promise<KeyUsage>
  /** Total settled spending in nano-dollars, without spending with BYOK keys. */
  organizationUsage(): Promise<number>
  /** Sum of the open holds: 0 when nothing runs. */
  heldNanoUsd(): number
  /** False while commits fail, or the disk has hardly any room: no billable work is accepted. */
  isWritable(): boolean
  /** Something waits that could not be committed. */
  hasBacklog(): boolean
  /** False while the disk has hardly any room. */
  hasRoom(): boolean
  /** Settlements that wait for their commit. */
  waiting(): number
  /** Settled spending of a gate in the window that holds `at`. */
  usedNanoUsd(gate: Gate, at: number): number
  /**
   * Adds committed rows to the sums in the tables, which follow them within a second: to be called before those are
   * read. False if nothing can be written now; the sums then lack the newest rows.
   */
  fold(): boolean
  /** Commits what waits and stops. */
  close(): Promise<void>
}
