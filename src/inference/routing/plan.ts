import type { Attempt } from '../../core/attempt.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { Route } from '../../core/route.ts'
import type { CredentialRecord, ModelRecord } from '../../core/snapshot.ts'
import { resolvedModels } from './automatic.ts'
import { dialectFor } from './dialect-choice.ts'
import { exclusionOf } from './eligible.ts'
import { nothingEligible } from './ineligible.ts'
import { lenient } from './needs.ts'
import { ordered, type SortKey } from './order.ts'
import type { PlanInput } from './plan-input.ts'
import { allCoolingDown, unknownModel } from './rejections.ts'
import { AUTOMATIC, type Resolved, requestedModels } from './resolve.ts'
import { drawsOf } from './stickiness.ts'

export interface Plan {
  /** Best first, never empty. */
  attempts: Attempt[]
  /** The first model of the request, variant included. */
  requested: string
  strategy: 'direct' | 'alias' | 'fallback' | 'latest' | 'auto' | 'pareto' | 'fusion'
  /** Every endpoint that can serve the request, including those in cooldown; for the routing metadata. */
  eligible: readonly Attempt[]
  /** Number of endpoints of the requested models, including those that cannot serve the request. */
  considered: number
  /** Of the first model; absent: endpoints share requests by price. */
  sort: SortKey | undefined
  /** For the explanation of the plan, which is made only if it is wanted. */
  input: PlanInput
}

/** Turns request, caller, snapshot and health into ordered attempts. Pure except for `random`. */
export function plan(input: PlanInput): Plan {
  const { chosen } = input.request
  const names = requestedModels(input)
  const requested = names[0] ?? ''
  const known = resolvedModels(names, input)
  if (known.length === 0) throw unknownModel(requested, input)

  const attempts = attemptsWithin(known, input)
  if (attempts.length === 0) throw nothingEligible(requested, input)

  return {
    attempts: openOf(attempts, input),
    requested: chosen?.requested ?? requested,
    strategy: chosen?.strategy ?? strategyOf(names, known, requested),
    eligible: attempts,
    sort: known[0] && sortOf(known[0], input),
    considered: known.reduce((sum, { routes, rejections }) => sum + routes.length + rejections.length, 0),
    input,
  }
}

/** The attempts whose endpoints are not in cooldown. Throws a `GatewayError` if all are. */
function openOf(attempts: Attempt[], { cooldownOf, now }: PlanInput): Attempt[] {
  if (!attempts.some((attempt) => cooldownOf(attempt, false) !== null)) return attempts
  const isPanic = isPanicOf(attempts, cooldownOf)
  const cooldowns = attempts.map((attempt) => cooldownOf(attempt, isPanic))
  const open = attempts.filter((_, index) => cooldowns[index] === null)
  if (open.length === 0) throw allCoolingDown(attempts, cooldowns, now)
  return open
}

/**
 * True if more than half of the accounts are skipped: then none is skipped for its failures, only slowed. Endpoints that do
 * not know the model count only if there are no others.
 */
function isPanicOf(attempts: readonly Attempt[], cooldownOf: PlanInput['cooldownOf']): boolean {
  const open = new Set<string>()
  const all = new Set<string>()
  for (const attempt of attempts) {
    const cooldown = cooldownOf(attempt, false)
    if (cooldown?.reason === 'unknown-model') continue
    const account = accountOf(attempt)
    all.add(account)
    if (cooldown === null) open.add(account)
  }
  return open.size * 2 < all.size || all.size === 0
}

/** True if an attempt of the plan must be skipped: its endpoint failed since, or enough requests are probing it. */
export function isShut(
  attempt: Attempt,
  { eligible }: Pick<Plan, 'eligible'>,
  cooldownOf: PlanInput['cooldownOf'],
): boolean {
  if (cooldownOf(attempt, false) === null) return false
  return cooldownOf(attempt, isPanicOf(eligible, cooldownOf)) !== null
}

/** The error of a request whose endpoints all became shut after its plan. */
export const shutSince = (
  eligible: readonly Attempt[],
  cooldownOf: PlanInput['cooldownOf'],
  now: number,
): GatewayError =>
  allCoolingDown(
    eligible,
    eligible.map((attempt) => cooldownOf(attempt, true)),
    now,
  )

/** The gateway's credentials at an endpoint are one account; each BYOK key is an account of its own. */
export const accountOf = ({ endpoint, byokKey }: Attempt): string => `${endpoint.id}\n${byokKey?.id ?? ''}`

function strategyOf(names: string[], known: Resolved[], requested: string): Plan['strategy'] {
  if (names.length > 1) return 'fallback'
  const id = known[0]?.model.id
  if (id === requested || id === requested.replace(/:[a-z]+$/, '')) return 'direct'
  if (AUTOMATIC.has(requested)) return requested.includes('/pareto') ? 'pareto' : 'auto'
  return requested.startsWith('~') ? 'latest' : 'alias'
}

/** Wishes exclude endpoints only as long as any endpoint of any requested model is left. */
function attemptsWithin(known: readonly Resolved[], input: PlanInput): Attempt[] {
  const attempts = attemptsFor(known, input)
  if (attempts.length > 0) return attempts
  const needs = lenient(input.needs)
  return needs ? attemptsFor(known, { ...input, needs }) : attempts
}

/** Orders the endpoints model by model; with `sort.partition: none`, the endpoints of all models together. */
function attemptsFor(known: readonly Resolved[], input: PlanInput): Attempt[] {
  const { preferences } = input.request
  const inOrder = (eligible: Attempt[], entry: Resolved | undefined): Attempt[] => {
    if (eligible.length < 2) return eligible
    return ordered(eligible, { ...input, sort: sortOf(entry, input) })
  }
  const [only] = known
  if (only && known.length === 1) return inOrder(eligibleFor(only, input), only)
  const eligible = known.map((entry) => eligibleFor(entry, input))
  if (preferences.sortPartition !== 'none') {
    return eligible.flatMap((attempts, index) => inOrder(attempts, known[index]))
  }
  return inOrder(
    eligible.flat(),
    known.find(({ sort }) => sort !== undefined),
  )
}

function eligibleFor(entry: Resolved, input: PlanInput): Attempt[] {
  const eligible: Attempt[] = []
  for (const route of entry.routes) {
    if (!exclusionOf(entry, route, input)) addAttempts(eligible, entry.model, route, input)
  }
  return eligible
}

const sortOf = (entry: Resolved | undefined, { request, caller }: PlanInput): SortKey | undefined =>
  request.preferences.sort ?? entry?.sort ?? sortKey(caller.workspace.defaultProviderSort)

const sortKey = (name: string | null): SortKey | undefined =>
  name === 'price' || name === 'throughput' || name === 'latency' || name === 'exacto' ? name : undefined

/** Adds an attempt for each credential. */
function addAttempts(
  attempts: Attempt[],
  model: ModelRecord,
  { endpoint, provider, byokKey }: Route,
  input: PlanInput,
): void {
  const dialect = dialectFor(input, provider, endpoint)
  if (byokKey) {
    attempts.push({ model, endpoint, provider, credential: byokKey.credential, byokKey, dialect })
    return
  }
  const credentials = provider.credentials.length > 0 ? provider.credentials : KEYLESS
  for (const credential of shuffledByWeight(credentials, input)) {
    attempts.push({ model, endpoint, provider, credential, dialect })
  }
}
const KEYLESS: readonly CredentialRecord[] = [{ id: 'none', secret: null }]

/** Distributes requests over credentials by weight (default 1). Without any weight they keep their order. */
function shuffledByWeight(
  credentials: readonly CredentialRecord[],
  input: PlanInput,
): readonly CredentialRecord[] {
  if (credentials.length < 2 || credentials.every(({ weight }) => weight === undefined)) return credentials
  const drawOf = drawsOf(input)
  // Efraimidis and Spirakis: see `drawn`.
  return credentials
    .map((credential) => ({ credential, place: -Math.log(drawOf(credential.id)) / (credential.weight ?? 1) }))
    .sort((a, b) => a.place - b.place)
    .map(({ credential }) => credential)
}
