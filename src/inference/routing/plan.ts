import type { Attempt } from '../../core/attempt.ts'
import type { Route } from '../../core/route.ts'
import type { CredentialRecord, ModelRecord } from '../../core/snapshot.ts'
import { resolvedModels } from './automatic.ts'
import { dialectFor } from './dialect-choice.ts'
import { exclusionOf } from './eligible.ts'
import { explain } from './explain.ts'
import { ordered, type SortKey } from './order.ts'
import type { PlanInput } from './plan-input.ts'
import { allCoolingDown, nothingEligible, unknownModel } from './rejections.ts'
import { AUTOMATIC, type Resolved, requestedModels } from './resolve.ts'
import { drawsOf } from './stickiness.ts'

export interface Plan {
  /** Best first, never empty. */
  attempts: Attempt[]
  /** The first model of the request, variant included. */
  requested: string
  strategy: 'direct' | 'alias' | 'fallback' | 'latest' | 'auto'
  /** Every endpoint that can serve the request, including those in cooldown; for the routing metadata. */
  eligible: readonly Attempt[]
}

/** Turns request, caller, snapshot and health into ordered attempts. Pure except for `random`. */
export function plan(input: PlanInput): Plan {
  const names = requestedModels(input)
  const requested = names[0] ?? ''
  const known = resolvedModels(names, input)
  if (known.length === 0) throw unknownModel(requested, input.snapshot)

  const attempts = attemptsFor(known, input)
  if (attempts.length === 0) throw nothingEligible(requested, explain(input))

  return {
    attempts: openOf(attempts, input),
    requested,
    strategy: strategyOf(names, known, requested),
    eligible: attempts,
  }
}

/** The attempts whose endpoints are not in cooldown. Throws a `GatewayError` if all are. */
function openOf(attempts: Attempt[], { cooldownOf, now }: PlanInput): Attempt[] {
  const isOnly = attempts.length === 1 || new Set(attempts.map(accountOf)).size === 1
  const cooldowns = attempts.map((attempt) => cooldownOf(attempt, isOnly))
  if (cooldowns.every((cooldown) => cooldown === null)) return attempts
  const open = attempts.filter((_, index) => cooldowns[index] === null)
  if (open.length === 0) throw allCoolingDown(attempts, cooldowns, now)
  return open
}

/** The gateway's credentials at an endpoint are one account; each BYOK key is an account of its own. */
export const accountOf = ({ endpoint, byokKey }: Attempt): string => `${endpoint.id}\n${byokKey?.id ?? ''}`

function strategyOf(names: string[], known: Resolved[], requested: string): Plan['strategy'] {
  if (names.length > 1) return 'fallback'
  const id = known[0]?.model.id
  if (id === requested || id === requested.replace(/:[a-z]+$/, '')) return 'direct'
  return AUTOMATIC.has(requested) ? 'auto' : requested.startsWith('~') ? 'latest' : 'alias'
}

/** Orders the endpoints model by model; with `sort.partition: none`, the endpoints of all models together. */
function attemptsFor(known: readonly Resolved[], input: PlanInput): Attempt[] {
  const { request, caller } = input
  const { preferences } = request
  const inOrder = (eligible: Attempt[], variant: SortKey | undefined): Attempt[] => {
    if (eligible.length < 2) return eligible
    const sort = preferences.sort ?? variant ?? sortKey(caller.workspace.defaultProviderSort)
    return ordered(eligible, { ...input, sort })
  }
  const [only] = known
  if (only && known.length === 1) return inOrder(eligibleFor(only, input), only.sort)
  const eligible = known.map((entry) => eligibleFor(entry, input))
  if (preferences.sortPartition !== 'none') {
    return eligible.flatMap((attempts, index) => inOrder(attempts, known[index]?.sort))
  }
  return inOrder(eligible.flat(), known.find(({ sort }) => sort !== undefined)?.sort)
}

function eligibleFor(entry: Resolved, input: PlanInput): Attempt[] {
  const eligible: Attempt[] = []
  for (const route of entry.routes) {
    if (exclusionOf(entry, route, input)) continue
    for (const attempt of withCredentials(entry.model, route, input)) eligible.push(attempt)
  }
  return eligible
}

const sortKey = (name: string | null): SortKey | undefined =>
  name === 'price' || name === 'throughput' || name === 'latency' || name === 'exacto' ? name : undefined

function withCredentials(
  model: ModelRecord,
  { endpoint, provider, byokKey }: Route,
  input: PlanInput,
): Attempt[] {
  const dialect = dialectFor(input, provider, endpoint)
  if (byokKey) return [{ model, endpoint, provider, credential: byokKey.credential, byokKey, dialect }]
  const keyless: CredentialRecord = { id: 'none', secret: null }
  const credentials = provider.credentials.length > 0 ? provider.credentials : [keyless]
  return shuffledByWeight(credentials, input).map((credential) => ({
    model,
    endpoint,
    provider,
    credential,
    dialect,
  }))
}

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
