import type { ContentFilters } from '../core/content-filter.ts'
import type { GuardrailRecord } from '../core/guardrail.ts'
import type { KeyRecord } from '../core/snapshot.ts'
import type { Database } from '../db/database.ts'
import { guardrailKeys, guardrailMembers, guardrails } from '../db/tables.ts'
import type { Builtins } from '../filters/builtins/index.ts'
import { filtersById } from './filters.ts'
import type { Named } from './named.ts'

type Row = typeof guardrails.$inferSelect

/** The guardrails that hold for a key: its workspace's, those of the member who made it, and its own. */
export type GuardrailsOf = (
  key: Pick<KeyRecord, 'hash' | 'creatorUserId'>,
  defaultGuardrailId: string,
) => readonly GuardrailRecord[]

const NONE: readonly GuardrailRecord[] = []

/** Reads the tables once. What restricts nothing is left out. `named` reads what the lists say. */
export function readGuardrails(database: Database, named: Named, filterBuiltins?: Builtins): GuardrailsOf {
  const { sync } = database
  const rows = new Map(
    sync
      .select()
      .from(guardrails)
      .all()
      .filter(restricts)
      .map((row) => [row.id, row]),
  )
  if (rows.size === 0) return () => NONE
  // One for all keys: they share what is compiled.
  const filters = filtersById([...rows.values()], database, filterBuiltins)
  const shared = new Map(
    [...rows.values()].map((row) => [row.id, { row, rules: rulesOf(row), lists: listsOf(row, named) }]),
  )
  const byKey = new Map(
    sync
      .select()
      .from(guardrailKeys)
      .all()
      .map((row) => [row.key_hash, row.guardrail_id]),
  )
  const byMember = new Map(
    sync
      .select()
      .from(guardrailMembers)
      .all()
      .map((row) => [row.user_id, row.guardrail_id]),
  )
  return ({ hash, creatorUserId }, defaultGuardrailId) => {
    const held = [
      ['workspace', defaultGuardrailId],
      ['member', byMember.get(creatorUserId)],
      ['key', byKey.get(hash)],
    ] as const
    return held.flatMap(([scope, id]) => {
      const read = id === undefined ? undefined : shared.get(id)
      return read === undefined ? [] : [recordOf(read, scope, filters.get(read.row.id))]
    })
  }
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
  (row.content_filter_builtins?.length ?? 0) > 0 ||
  (row.content_filters?.length ?? 0) > 0

/** What is said of it, and what it lets be spent, changes no answer. Whatever else the row has, now or later, may. */
const NO_RULES = new Set([
  'id',
  'workspace_id',
  'name',
  'description',
  'limit_nano_usd',
  'reset_interval',
  'include_byok_in_budgets',
  'rate_limits',
  'created_at',
  'updated_at',
])

function rulesOf(row: Row): string {
  const said = Object.entries(row).filter(
    ([name, value]) => !NO_RULES.has(name) && value !== null && !(Array.isArray(value) && value.length === 0),
  )
  return said.length === 0 ? '' : new Bun.CryptoHasher('sha256').update(JSON.stringify(said)).digest('hex')
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

const recordOf = (
  { row, rules, lists }: { row: Row; rules: string; lists: Lists },
  scope: GuardrailRecord['scope'],
  filters: ContentFilters | undefined,
): GuardrailRecord => ({
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
  ...(filters && { filters }),
})
