import type { Gate, Interval } from '../core/gate.ts'
import { windowStart } from './windows.ts'

export type Scope = Gate['scope']

/** One counter: the settled spending of one scope in one window. */
export interface CounterKey {
  readonly scope: Scope
  readonly scopeId: string
  readonly interval: Interval
  readonly windowStart: number
  /** The key from `nameOf`, if a caller stored it. */
  readonly name?: string
}

export interface Spent {
  readonly usageNanoUsd: number
  readonly byokUsageNanoUsd: number
}

export const nameOf = (key: CounterKey): string =>
  key.name ?? `${key.scope}|${key.scopeId}|${key.interval}|${key.windowStart}`

export const counterKey = (scope: Scope, scopeId: string, interval: Interval, at: number): CounterKey => ({
  scope,
  scopeId,
  interval,
  windowStart: windowStart(interval, at),
})
