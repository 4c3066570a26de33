import { isObject } from '../../src/core/json.ts'
import type { Target } from '../target.ts'
import { makeKey, manage, manageOne } from './administration.ts'

/** Every gate that a request can have to pass, none of which is ever shut. */

const KEYS = 4
const INTERVALS = ['daily', 'weekly', 'monthly', 'lifetime'] as const
/** USD; a longer interval must allow more. */
const BUDGETS_USD = { daily: 100_000, weekly: 200_000, monthly: 300_000, lifetime: 400_000 }

const BUILTINS = ['email', 'phone', 'ssn', 'credit-card', 'ip-address', 'secrets', 'address'].map((slug) => ({
  slug,
  action: 'redact',
}))
const PATTERNS = Array.from({ length: 13 }, (_, index) => ({
  pattern: index % 2 === 0 ? `ACME-${index}\\d{6}` : `(?i)\\bproject\\s+(?:titan|orion)${index}\\b`,
  action: 'redact',
}))

/** Rules that let the bench's models through, and a budget for each key or member. */
const guardrailOf = (name: string) => ({
  name,
  limit_usd: 100_000,
  reset_interval: 'daily',
  include_byok_in_budgets: true,
  ignored_models: ['somebody/else', 'nobody/at-all'],
  ignored_providers: ['elsewhere'],
  enable_paid_model_training: true,
})

/** As many keys as are gated, with nothing to pass: each has counters of its own, which cost something too. */
export async function openKeys(target: Target): Promise<string[]> {
  const keys: string[] = []
  for (let index = 0; index < KEYS; index++) keys.push((await makeKey(target, {})).key)
  return keys
}

export interface GatedKeys {
  plain: string[]
  /** The same with twenty content filters besides. */
  filtered: string[]
}

/**
 * Keys with a limit, four budgets of their workspace, its own guardrail with rules, a guardrail with a budget for each
 * key and one for each member, an allowance of the organisation, own provider keys counted everywhere.
 */
export async function gatedKeys(target: Target): Promise<GatedKeys> {
  const workspace = await manageOne(target, 'POST', '/workspaces', { name: 'Gated', slug: 'gated' })
  const id = String(workspace['id'])
  for (const interval of INTERVALS) {
    await manage(target, 'PUT', `/workspaces/${id}/budgets/${interval}`, {
      limit_usd: BUDGETS_USD[interval],
      include_byok_in_budgets: true,
    })
  }
  await manage(target, 'PUT', '/credits', { total_credits: 1_000_000 })
  await manage(target, 'PATCH', `/guardrails/${workspace['default_guardrail_id']}`, {
    ignored_models: ['somebody/else'],
    enable_paid_model_training: true,
  })
  await assignToMember(target, id)
  return {
    plain: await guardedKeys(target, id, {}),
    filtered: await guardedKeys(target, id, { content_filter_builtins: BUILTINS, content_filters: PATTERNS }),
  }
}

async function guardedKeys(target: Target, workspaceId: string, more: object): Promise<string[]> {
  const made = []
  for (let index = 0; index < KEYS; index++) {
    const limit = { limit: 100_000, limit_reset: 'monthly', include_byok_in_limit: true }
    made.push(await makeKey(target, { workspace_id: workspaceId, ...limit }))
  }
  const guardrail = { ...guardrailOf('for keys'), workspace_id: workspaceId, ...more }
  const { id } = await manageOne(target, 'POST', '/guardrails', guardrail)
  await manage(target, 'POST', `/guardrails/${id}/assignments/keys`, {
    key_hashes: made.map(({ hash }) => hash),
  })
  return made.map(({ key }) => key)
}

async function assignToMember(target: Target, workspaceId: string): Promise<void> {
  const forMembers = await manageOne(target, 'POST', '/guardrails', {
    ...guardrailOf('for members'),
    workspace_id: workspaceId,
  })
  const { data } = await manage(target, 'GET', '/organization/members')
  const [member] = Array.isArray(data) ? data : []
  if (!isObject(member)) throw new Error('the organisation has no member')
  await manage(target, 'POST', `/guardrails/${forMembers['id']}/assignments/members`, {
    member_user_ids: [String(member['id'])],
  })
}
