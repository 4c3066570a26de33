import { inArray } from 'drizzle-orm'
import type { ContentFilters } from '../core/content-filter.ts'
import type { GuardrailRecord } from '../core/guardrail.ts'
import type { Lookup } from '../core/snapshot.ts'
import { words } from '../core/words.ts'
import type { Database } from '../db/database.ts'
import { guardrailKeys, guardrailMembers, guardrails } from '../db/tables.ts'
import type { Builtins } from '../filters/builtins/index.ts'
import { compiledFilters } from './filters.ts'
import type { Policies } from './keys.ts'
import type { Named } from './named.ts'

type Row = typeof guardrails.$inferSelect
type Scope = GuardrailRecord['scope']

/** A stored guardrail, with what its row alone determines. */
export interface StoredGuardrail {
  readonly row: Row
  readonly rules: string
  readonly filters: ContentFilters | undefined
}

/** A guardrail as it holds, for each reason why it may: its keys share it. */
export type HeldGuardrail = Readonly<Record<Scope, GuardrailRecord>>

/**
 * Those that restrict something. Filters of `former` that are stored as they were stay compiled. Absent `ids`: all.
 */
export function readGuardrails(
  { sync }: Database,
  former: Lookup<StoredGuardrail> | undefined,
  builtins: Builtins | undefined,
  ids?: readonly string[],
): [string, StoredGuardrail][] {
  return sync
    .select()
    .from(guardrails)
    .where(ids && inArray(guardrails.id, [...ids]))
    .all()
    .filter(restricts)
    .map((row) => [
      row.id,
      { row, rules: rulesOf(row), filters: compiledFilters(row, former?.get(row.id), builtins) },
    ])
}

/** The guardrail of each key that is assigned to one. Absent `hashes`: of all. */
export const readGuardrailsOfKeys = ({ sync }: Database, hashes?: readonly string[]): [string, string][] =>
  sync
    .select()
    .from(guardrailKeys)
    .where(hashes && inArray(guardrailKeys.key_hash, [...hashes]))
    .all()
    .map((row) => [row.key_hash, row.guardrail_id])

/** The guardrails assigned to members. Absent `userIds`: of all members. */
export const readGuardrailsOfMembers = (
  { sync }: Database,
  userIds?: readonly string[],
): [string, string][] =>
  sync
    .select()
    .from(guardrailMembers)
    .where(userIds && inArray(guardrailMembers.user_id, [...userIds]))
    .all()
    .map((row) => [row.user_id, row.guardrail_id])

/** `named` reads what the lists say. */
export function heldGuardrail(stored: StoredGuardrail, named: Named): HeldGuardrail {
  const record = recordOf(stored, listsOf(stored.row, named))
  return { workspace: record('workspace'), member: record('member'), key: record('key') }
}

const NONE: readonly GuardrailRecord[] = []

/** The guardrails that hold for a key: its workspace's, those of the member who made it, and its own. */
export const guardrailsUnder =
  (
    held: Lookup<HeldGuardrail> & { readonly size: number },
    byKey: Lookup<string>,
    byMember: Lookup<string>,
  ): Policies['guardrailsOf'] =>
  ({ hash, creatorUserId }, defaultGuardrailId) => {
    if (held.size === 0) return NONE
    const ids = [
      ['workspace', defaultGuardrailId],
      ['member', byMember.get(creatorUserId)],
      ['key', byKey.get(hash)],
    ] as const
    return ids.flatMap(([scope, id]) => (id === undefined ? [] : (held.get(id)?.[scope] ?? [])))
  }

const LISTS = [
  'allowed_models',
  'ignored_models',
  'allowed_providers',
  'ignored_providers',
  'allowed_data_regions',
] as const
const ZDR = {
  anthropic: 'enforce_zdr_anthropic',
  google: 'enforce_zdr_google',
  openai: 'enforce_zdr_openai',
  xai: 'enforce_zdr_xai',
  other: 'enforce_zdr_other',
} as const

const restricts = (row: Row): boolean =>
  LISTS.some((name) => row[name] !== null) ||
  Object.values(ZDR).some((name) => row[name] === true) ||
  row.enable_free_model_training === false ||
  row.enable_paid_model_training === false ||
  row.limit_nano_usd !== null ||
  row.rate_limits !== null ||
  (row.plugins?.length ?? 0) > 0 ||
  (row.disabled_server_tools?.length ?? 0) > 0 ||
  (row.content_filter_builtins?.length ?? 0) > 0 ||
  (row.content_filters?.length ?? 0) > 0

/** Columns that change no reply: descriptions and budgets. Every other column, later ones included, may. */
const NO_RULES = new Set(
  words(`
  id workspace_id name description limit_nano_usd reset_interval include_byok_in_budgets rate_limits
  created_at updated_at
`),
)

function rulesOf(row: Row): string {
  const rules = Object.entries(row).filter(
    ([name, value]) => !NO_RULES.has(name) && value !== null && !(Array.isArray(value) && value.length === 0),
  )
  return rules.length === 0 ? '' : new Bun.CryptoHasher('sha256').update(JSON.stringify(rules)).digest('hex')
}

const setOf = (list: readonly string[] | null): ReadonlySet<string> | null =>
  list === null ? null : new Set(list)

type Lists = Pick<
  GuardrailRecord,
  'allowedModels' | 'ignoredModels' | 'allowedProviders' | 'ignoredProviders'
>

const listsOf = (row: Row, { models, providers }: Named): Lists => ({
  allowedModels: models(row.allowed_models),
  ignoredModels: models(row.ignored_models),
  allowedProviders: providers(row.allowed_providers),
  ignoredProviders: providers(row.ignored_providers),
})

const recordOf =
  ({ row, rules, filters }: StoredGuardrail, lists: Lists) =>
  (scope: Scope): GuardrailRecord => ({
    id: row.id,
    name: row.name,
    ...lists,
    allowedRegions: setOf(row.allowed_data_regions),
    zdrAuthors: new Set(
      Object.entries(ZDR)
        .filter(([, name]) => row[name] === true)
        .map(([author]) => author),
    ),
    mayTrainFree: row.enable_free_model_training !== false,
    mayTrainPaid: row.enable_paid_model_training !== false,
    limitNanoUsd: row.limit_nano_usd,
    resetInterval: row.reset_interval,
    includeByok: row.include_byok_in_budgets,
    scope,
    rules,
    ...(row.rate_limits && { rateLimits: row.rate_limits }),
    ...(row.plugins?.length && { plugins: row.plugins }),
    ...(row.disabled_server_tools?.length && { disabledServerTools: row.disabled_server_tools }),
    ...(filters && { filters }),
  })
