/** Rate limits in the form of the API and the tables: requests, tokens and requests in parallel. Null: no limit. */
export interface RateLimits {
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly concurrent_requests: number | null
  /** Further limits for single models. */
  readonly models: ModelRateLimits[]
}

export interface ModelRateLimits {
  /** Any name that it answers to, variant suffix included. */
  readonly model: string
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
}

type RateMeasure = 'requests' | 'tokens' | 'concurrent-requests'

/** One bound on rates that a request must pass. All gates of a request are passed or none. */
export interface RateGate {
  /** Whose count: the same for all who share it, and not for its limit, so that a changed limit goes on with the count. */
  readonly name: string
  /** Words for the sentence of a refusal: `The key sk-sl-v1-abc...xyz`. */
  readonly label: string
  readonly measure: RateMeasure
  readonly limit: number
  /** Counts only requests of this model; absent: of any. */
  readonly model?: string
}

interface Limited {
  readonly id: string
  readonly name: string
  readonly rateLimits?: RateLimits
}

interface LimitedKey {
  readonly hash: string
  readonly label: string
  readonly creatorUserId: string
  readonly rateLimits?: RateLimits
}

interface LimitedGuardrail extends Limited {
  readonly scope: 'key' | 'member' | 'workspace'
}

/**
 * Every bound on the rates of a key: its own, those of its workspace, which all its keys share, and those of the
 * guardrails that hold for it, which each key, or each member with all their keys, has alone.
 */
export function rateGatesOf(
  key: LimitedKey,
  guardrails: readonly LimitedGuardrail[],
  workspace: Limited | undefined,
): RateGate[] {
  const gates = gatesFor(key.rateLimits, `key/${key.hash}`, `The key ${key.label}`)
  for (const { id, name, scope, rateLimits } of guardrails) {
    const [whose, who] =
      scope === 'member' ? [key.creatorUserId, `member ${key.creatorUserId}`] : [key.hash, `key ${key.label}`]
    gates.push(
      ...gatesFor(
        rateLimits,
        `guardrail/${id}/${whose}`,
        `By the guardrail ${JSON.stringify(name)} the ${who}`,
      ),
    )
  }
  if (workspace?.rateLimits !== undefined) {
    const label = `The workspace ${JSON.stringify(workspace.name)}`
    gates.push(...gatesFor(workspace.rateLimits, `workspace/${workspace.id}`, label))
  }
  if (gates.length === 0) return gates
  // A guardrail that holds in two ways counts once.
  return [...new Map(gates.map((gate) => [gate.name, gate])).values()]
}

function gatesFor(limits: RateLimits | undefined, owner: string, label: string): RateGate[] {
  if (limits === undefined) return []
  const gates: RateGate[] = []
  const add = (measure: RateMeasure, limit: number | null, model?: string): void => {
    if (limit === null) return
    const name = `${owner}/${measure}${model === undefined ? '' : `/${model}`}`
    gates.push({ name, label, measure, limit, ...(model === undefined ? {} : { model }) })
  }
  add('requests', limits.requests_per_minute)
  add('tokens', limits.tokens_per_minute)
  add('concurrent-requests', limits.concurrent_requests)
  for (const { model, requests_per_minute, tokens_per_minute } of limits.models) {
    add('requests', requests_per_minute, model)
    add('tokens', tokens_per_minute, model)
  }
  return gates
}
