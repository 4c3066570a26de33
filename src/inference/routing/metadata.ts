import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import type { AttemptOutcome } from '../../core/generation.ts'
import type { RoutingMetadata, Timings } from '../../core/result.ts'
import { isEnabled } from '../../http/header-switch.ts'
import { explain } from './explain.ts'
import { scoresOf } from './order.ts'
import type { Plan } from './plan.ts'
import { unknownProviders } from './provider-names.ts'
import { stickyBy } from './stickiness.ts'

const HEADERS = [
  'x-service-metadata',
  'x-service-experimental-metadata',
  'x-openrouter-metadata',
  'x-openrouter-experimental-metadata',
]

/**
 * Reads the documented header, its older form, and the two that OpenRouter's clients send. Throws a `GatewayError` 400
 * that names the header if its value is unknown.
 */
export function wantsRoutingMetadata(headers: Headers): boolean {
  const wanted = HEADERS.map((name) => isEnabled(headers, name))
  return wanted.includes(true)
}

/** The inputs of the routing metadata. */
export interface Routed {
  readonly plan: Plan
  /** The attempts that limits admit. */
  readonly admitted: readonly Attempt[]
  readonly tries: readonly AttemptOutcome[]
  /** The attempt that replied; null if none did. */
  readonly answered: Attempt | null
  readonly dropped: readonly string[]
  readonly outputBound: number | null
  readonly pipeline: JsonObject[] | undefined
  readonly timings: Timings
}

export function routingMetadata(routed: Routed): RoutingMetadata {
  const { plan, tries, answered, dropped, outputBound, pipeline, timings } = routed
  const available = availableOf(routed)
  const excluded = excludedOf(routed)
  const selected = available.find((candidate) => candidate.selected)
  const params: Record<string, unknown> = {}
  if (dropped.length > 0) params['dropped_parameters'] = dropped
  if (outputBound !== null) params['max_tokens'] = outputBound
  const unknown = unknownProviders(plan.input).map(({ field, name }) => `provider.${field}: ${name}`)
  if (unknown.length > 0) params['unknown_providers'] = unknown
  return {
    requested: plan.requested,
    strategy: plan.strategy,
    summary: `available=${available.length}, selected=${selected?.provider ?? 'none'}`,
    attempt: tries.length,
    is_byok: answered?.byokKey !== undefined,
    region: null,
    endpoints: { total: available.length + excluded.length, available, excluded },
    attempts: tries.map(({ modelId, providerName, status, latencyMs, code }) => ({
      model: modelId,
      provider: providerName,
      status: status ?? 0,
      ms: latencyMs,
      ...(code === null ? {} : { code }),
    })),
    sticky: stickyBy(plan.input),
    timings,
    ...(Object.keys(params).length > 0 ? { params } : {}),
    ...(pipeline ? { pipeline } : {}),
  }
}

/** What was done to a request and its reply: by filters to the request and the reply, then by plugins. */
export function stagesOf(...lists: (readonly JsonObject[] | undefined)[]): JsonObject[] | undefined {
  const stages = lists.flatMap((list = []) => list)
  return stages.length === 0 ? undefined : stages
}

/**
 * The JSON of `generations.routing`. Every request has one, so it is concatenated, and the plan is explained only if an
 * endpoint was excluded.
 */
export function storedRouting(routed: Pick<Routed, 'plan' | 'admitted' | 'tries' | 'timings'>): string {
  const { plan, admitted, tries, timings } = routed
  const available = admitted.length < 2 ? admitted.length : endpointsOf(admitted).length
  const excluded = plan.considered === available ? NOTHING_EXCLUDED : excludedOf(routed)
  const { admit, plan: planMs, connect = null, first_byte = null, relay = null } = timings
  const row = `[${available + excluded.length},${admit},${planMs},${connect},${first_byte},${relay}`
  const sticky = stickyBy(plan.input)
  const codes = tries.length === 0 || (tries.length === 1 && !tries[0]?.code) ? null : codesOf(tries)
  if (excluded.length > 0 || codes !== null)
    return `${row},${JSON.stringify(sticky)},${JSON.stringify(countedByRule(excluded))}${codes === null ? '' : `,${codes}`}]`
  return sticky === null ? `${row}]` : `${row},"${sticky}"]`
}

const MOST_CODES = 8
const LONGEST_CODE = 40

const codesOf = (tries: readonly AttemptOutcome[]): string =>
  JSON.stringify(tries.slice(0, MOST_CODES).map(({ code }) => code?.slice(0, LONGEST_CODE) ?? null))

const NOTHING_EXCLUDED: Excluded = []

function countedByRule(excluded: Excluded): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { rule } of excluded) counts[rule] = (counts[rule] ?? 0) + 1
  return counts
}

function availableOf({
  admitted,
  answered,
  plan: { input, sort },
}: Routed): RoutingMetadata['endpoints']['available'] {
  const scores = scoresOf(admitted, { ...input, sort })
  return endpointsOf(admitted).map(({ model, provider, endpoint }, index) => {
    const measured = input.measured?.(endpoint.id)
    const { pricing } = endpoint
    return {
      model: model.id,
      provider: provider.name,
      selected: endpoint.id === answered?.endpoint.id,
      rank: index + 1,
      score: scores.get(endpoint.id) ?? null,
      price: pricing && Number(pricing.prompt * 3n + pricing.completion) / PER_MILLION / 4,
      latency_ms: measured?.latencyMs?.p50 ?? null,
      tokens_per_second: measured?.tokensPerSecond?.p50 ?? null,
    }
  })
}

/** Prices are in 10^-18 USD a token. */
const PER_MILLION = 1e12

/** Bounds the answer: a model of the gateway's choice, or `models`, may have hundreds of endpoints. */
const MOST_EXCLUDED = 100

type Excluded = NonNullable<RoutingMetadata['endpoints']['excluded']>

function excludedOf({ plan, admitted }: Pick<Routed, 'plan' | 'admitted'>): Excluded {
  const isAdmitted = new Set(admitted.map(({ endpoint }) => endpoint.id))
  const isOpen = new Set(plan.attempts.map(({ endpoint }) => endpoint.id))
  const excluded: Excluded = []
  const seen = new Set<string>()
  for (const { model, provider, endpoint, exclusions } of explain(plan.input)) {
    if (isAdmitted.has(endpoint.id) || seen.has(endpoint.id) || excluded.length === MOST_EXCLUDED) continue
    seen.add(endpoint.id)
    const [
      first = isOpen.has(endpoint.id) ? LIMITS : plan.eligible.some(isOf(endpoint.id)) ? COOLDOWN : UNUSED,
    ] = exclusions
    excluded.push({ model: model.id, provider: provider.name, rule: first.rule, reason: first.sentence })
  }
  return excluded
}

const isOf =
  (id: string) =>
  ({ endpoint }: Attempt): boolean =>
    endpoint.id === id

const LIMITS = { rule: 'limits', sentence: 'a spending or rate limit does not admit it' }
const COOLDOWN = {
  rule: 'cooldown',
  sentence: 'it failed, reached its rate limit or did not know the model: see GET /endpoints/health',
}
const UNUSED = { rule: 'allow_fallbacks', sentence: 'the request permits no fallbacks' }

/** One attempt per endpoint, regardless of its number of credentials. */
function endpointsOf(attempts: readonly Attempt[]): Attempt[] {
  const ofEndpoint = new Map<string, Attempt>()
  for (const attempt of attempts) {
    if (!ofEndpoint.has(attempt.endpoint.id)) ofEndpoint.set(attempt.endpoint.id, attempt)
  }
  return [...ofEndpoint.values()]
}
