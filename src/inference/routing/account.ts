import type { UpstreamError } from '../../core/errors.ts'
import { type Breaker, countFailure, newBreaker } from './breaker.ts'
import type { Rest } from './rest.ts'

/** One credential at one provider: what holds for all of its models. */
export interface Account {
  /** Opened when several models refuse; closed by the first answer of any. */
  readonly breaker: Breaker
  /** Models that refused since the last answer, with the time of the refusal. */
  readonly refusing: Map<string, number>
  /** Of the refusals: the provider is out of service, or limits the rate. */
  reason: 'failing' | 'rate-limit'
  /** The end of a rate limit that the provider stated for all models. */
  coolUntil: number
  isCoolHinted: boolean
  /** After the provider rejected the credential; null: it did not. */
  rest: Rest | null
  /** When it was shut. Answers to older requests do not open it. */
  shutAt: number
}

/** So many models that refuse within so short a time are not alone in it. */
const REFUSING_MODELS = 3
const REFUSING_MS = 10_000

export const newAccount = (): Account => ({
  breaker: newBreaker(),
  refusing: new Map(),
  reason: 'failing',
  coolUntil: 0,
  isCoolHinted: false,
  rest: null,
  shutAt: 0,
})

/** Not a 500 or an unreadable reply: one strange request, sent to several models, may cause it at each. */
export const isAboutProvider = ({ kind, status }: UpstreamError): boolean =>
  kind === 'rate-limit' ||
  kind === 'overloaded' ||
  kind === 'timeout' ||
  (kind === 'server' && (status ?? 0) > 500)

/** A model refused. True if that shut the account. */
export function countRefusal(
  account: Account,
  modelId: string,
  { kind }: UpstreamError,
  began: number,
  at: number,
  random: () => number,
): boolean {
  const { refusing, breaker } = account
  for (const [id, since] of refusing) if (at - since > REFUSING_MS) refusing.delete(id)
  refusing.set(modelId, at)
  account.reason = kind === 'rate-limit' ? 'rate-limit' : 'failing'
  if (breaker.open === null && refusing.size < REFUSING_MODELS) return false
  if (!countFailure(breaker, began, at, random, 1)) return false
  account.shutAt = at
  return true
}
