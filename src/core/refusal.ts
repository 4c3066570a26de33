/**
 * Why the gateway refused a request.
 * - `key_limit`, `budget`, `credits`: a spending limit of the key, of a workspace or guardrail, of the organization
 * - `guardrail`: it forbids the model, a plugin or a tool
 * - `rate`: a rate limit
 * - `filter`: a content filter or the moderation
 * - `model`: no endpoint for the model or for what the request needs
 * - `auth`: no valid key, or one of the other kind
 * - `draining`: the gateway is stopping
 * - `unavailable`: every endpoint of the model is skipped after failures
 * - `storage`: the ledger cannot be written, or the disk is full
 */
export type RefusalReason =
  | 'key_limit'
  | 'budget'
  | 'credits'
  | 'guardrail'
  | 'rate'
  | 'filter'
  | 'model'
  | 'auth'
  | 'draining'
  | 'unavailable'
  | 'storage'

/** For the log and the metrics, never for the caller. */
export interface Refusal {
  readonly reason: RefusalReason
  /** The limit that is reached: `key daily`, `requests` … */
  readonly gate?: string | undefined
  /** The guardrail's name. */
  readonly guardrail?: string | undefined
  /** The content filters that matched. */
  readonly filters?: readonly { readonly name: string; readonly action: string }[]
}

export const DRAINING: Refusal = { reason: 'draining' }
