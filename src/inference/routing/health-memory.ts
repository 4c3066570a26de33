/** What the health of endpoints is computed from. */
import type { Attempt } from '../../core/attempt.ts'
import type { HealthChange } from '../../core/endpoint-health.ts'
import { type Account, newAccount } from './account.ts'
import { type Breaker, newBreaker } from './breaker.ts'
import type { Trouble } from './health-report.ts'
import type { Rest } from './rest.ts'

/** An endpoint with one credential. */
export interface State {
  readonly breaker: Breaker
  /** The end of a rate limit. */
  coolUntil: number
  /** The provider stated the end, so it applies even in panic mode. */
  isCoolHinted: boolean
  /** After the provider refused the credential for this endpoint, or does not know the model; null: it did neither. */
  rest: Rest | null
  /** The last answer. */
  answeredAt: number
  /** The last failure, for the report. */
  trouble: Trouble | null
}

export interface HealthOptions {
  clock(): number
  /** In [0, 1). */
  random(): number
  /** False: no retry is allowed at the moment, so an endpoint is not probed while others are well. */
  mayRetry(): boolean
  onChange(change: HealthChange): void
}

/** Times are on `now`, which never goes back. */
export interface Memory extends HealthOptions {
  now(): number
  /** By endpoint, then by credential. */
  readonly states: Map<string, Map<string, State>>
  /** Hosts that a connection failed to, by base URL. */
  readonly hosts: Map<string, Breaker>
  /** The time of the last answer, by base URL. */
  readonly answers: Map<string, number>
  /** By provider and credential, since their last failure. */
  readonly accounts: Map<string, Account>
}

const newState = (): State => ({
  breaker: newBreaker(),
  coolUntil: 0,
  isCoolHinted: false,
  rest: null,
  answeredAt: Number.NEGATIVE_INFINITY,
  trouble: null,
})

export const knownState = ({ states }: Memory, { endpoint, credential }: Attempt): State | undefined =>
  states.get(endpoint.id)?.get(credential.id)

export function stateOf({ states }: Memory, { endpoint, credential }: Attempt): State {
  let ofEndpoint = states.get(endpoint.id)
  if (!ofEndpoint) {
    ofEndpoint = new Map()
    states.set(endpoint.id, ofEndpoint)
  }
  let state = ofEndpoint.get(credential.id)
  if (!state) {
    state = newState()
    ofEndpoint.set(credential.id, state)
  }
  return state
}

export const knownAccount = ({ accounts }: Memory, attempt: Attempt): Account | undefined =>
  accounts.size === 0 ? undefined : accounts.get(accountOf(attempt))

export function stateOfAccount({ accounts }: Memory, attempt: Attempt): Account {
  const account = accounts.get(accountOf(attempt)) ?? newAccount()
  accounts.set(accountOf(attempt), account)
  return account
}

export const accountOf = ({ provider, credential }: Attempt): string => `${provider.slug}\n${credential.id}`
