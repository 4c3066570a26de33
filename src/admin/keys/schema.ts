import { type Static, t } from 'elysia'
import { usdOf } from '../../core/money.ts'
import type { apiKeys } from '../../db/tables.ts'
import { instant, MAX_OFFSET, nullable, queryBoolean, queryInteger, uuid } from '../../http/schemas.ts'
import type { KeyUsage } from '../../ledger/ledger.ts'
import { rateLimitsField, rateLimitsView } from '../rate-limits-schema.ts'

export type KeyRow = typeof apiKeys.$inferSelect

/** 2^53 nano-dollars, the largest amount that a counter holds, in whole dollars. */
const MAX_LIMIT_USD = 9_007_199

const limitReset = t.Union([t.Literal('daily'), t.Literal('weekly'), t.Literal('monthly')])
const name = t.String({ minLength: 1, maxLength: 1000, description: 'For people; need not be unique.' })
const limit = nullable(
  t.Number({
    minimum: 0,
    maximum: MAX_LIMIT_USD,
    description: 'Spending limit in USD, kept to the nano-dollar; null: no limit.',
  }),
)
const resetOrNull = nullable(limitReset)

export const createKeyBody = t.Object(
  {
    name,
    creator_user_id: t.Optional(nullable(t.String({ minLength: 1, maxLength: 100 }))),
    expires_at: t.Optional(
      nullable(
        t.String({
          maxLength: 40,
          documented: { type: 'string', format: 'date-time' },
          description: 'UTC, with seconds and `Z`, in the future.',
        }),
      ),
    ),
    external: t.Optional(
      t.Object({ user: t.String({ minLength: 1, maxLength: 256 }) }, { additionalProperties: false }),
    ),
    include_byok_in_limit: t.Optional(t.Boolean()),
    limit: t.Optional(limit),
    limit_reset: t.Optional(resetOrNull),
    rate_limits: rateLimitsField('this key'),
    workspace_id: t.Optional(nullable(uuid("Default: the caller's workspace."))),
  },
  { additionalProperties: false },
)
export type CreateKeyBody = Static<typeof createKeyBody>

export const updateKeyBody = t.Object(
  {
    disabled: t.Optional(t.Boolean()),
    include_byok_in_limit: t.Optional(t.Boolean()),
    limit: t.Optional(limit),
    limit_reset: t.Optional(resetOrNull),
    rate_limits: rateLimitsField('this key'),
    name: t.Optional(name),
  },
  { additionalProperties: false },
)
export type UpdateKeyBody = Static<typeof updateKeyBody>

export const listKeysQuery = t.Object(
  {
    include_disabled: queryBoolean('Whether disabled keys are listed too; default false.'),
    offset: queryInteger(0, MAX_OFFSET, 'How many keys to leave out; default 0.'),
    limit: queryInteger(1, 100, 'How many keys to answer with; default 50.'),
    workspace_id: t.Optional(uuid("Default: the caller's workspace.")),
  },
  { additionalProperties: true },
)
export type ListKeysQuery = Static<typeof listKeysQuery>

export const keyParams = t.Object({ hash: t.String({ description: 'SHA-256 of the key, in hex.' }) })

const usd = t.Number({ description: 'USD.' })
const usageFields = {
  usage: usd,
  usage_daily: usd,
  usage_weekly: usd,
  usage_monthly: usd,
  byok_usage: usd,
  byok_usage_daily: usd,
  byok_usage_weekly: usd,
  byok_usage_monthly: usd,
}
const limitFields = {
  limit: nullable(usd),
  limit_remaining: nullable(usd),
  limit_reset: resetOrNull,
  include_byok_in_limit: t.Boolean(),
}

export const key = t.Object({
  hash: t.String(),
  id: t.Number({ documented: { type: 'integer' }, description: 'What `io_logging_api_key_ids` names.' }),
  name: t.String(),
  label: t.String({ description: 'The masked key.' }),
  disabled: t.Boolean(),
  ...limitFields,
  rate_limits: rateLimitsView,
  ...usageFields,
  created_at: instant('When it was made.'),
  updated_at: nullable(instant('Null until the first change.')),
  expires_at: nullable(instant('Null: never.')),
  creator_user_id: t.String(),
  external_user: nullable(t.String()),
  workspace_id: uuid('The workspace that its spending belongs to.'),
})
export type Key = Static<typeof key>

const integer = t.Number({ documented: { type: 'integer' } })

export const currentKey = t.Object({
  label: t.String(),
  ...limitFields,
  ...usageFields,
  is_free_tier: t.Boolean(),
  is_management_key: t.Boolean(),
  is_provisioning_key: t.Boolean({ description: 'The same, under its former name.' }),
  allowed_data_regions: t.Array(t.String()),
  free_model_daily_requests: t.Object({ limit: integer, remaining: integer, used: integer }),
  rate_limit: t.Object({ interval: t.String(), note: t.String(), requests: integer }),
  creator_user_id: nullable(t.String()),
  organization_id: nullable(t.String()),
  workspace_id: nullable(t.String()),
  expires_at: nullable(instant('Null: never.')),
})
export type CurrentKey = Static<typeof currentKey>

export const usageView = (usage: KeyUsage) => ({
  usage: usdOf(usage.total),
  usage_daily: usdOf(usage.daily),
  usage_weekly: usdOf(usage.weekly),
  usage_monthly: usdOf(usage.monthly),
  byok_usage: usdOf(usage.byokTotal),
  byok_usage_daily: usdOf(usage.byokDaily),
  byok_usage_weekly: usdOf(usage.byokWeekly),
  byok_usage_monthly: usdOf(usage.byokMonthly),
})

interface Limited {
  limit_nano_usd: number | null
  limit_reset: KeyRow['limit_reset']
  include_byok_in_limit: boolean
}

/** `limit_remaining` is the limit less what was settled in its window; 0 when a lowered limit is already exceeded. */
export const limitView = (row: Limited, usage: KeyUsage) => ({
  limit: row.limit_nano_usd === null ? null : usdOf(row.limit_nano_usd),
  limit_remaining:
    row.limit_nano_usd === null ? null : usdOf(Math.max(0, row.limit_nano_usd - countedUsage(row, usage))),
  limit_reset: row.limit_reset,
  include_byok_in_limit: row.include_byok_in_limit,
})

function countedUsage(row: Limited, usage: KeyUsage): number {
  const [own, byok] = usageOfWindow(row.limit_reset, usage)
  return row.include_byok_in_limit ? own + byok : own
}

function usageOfWindow(reset: KeyRow['limit_reset'], usage: KeyUsage): [own: number, byok: number] {
  switch (reset) {
    case 'daily':
      return [usage.daily, usage.byokDaily]
    case 'weekly':
      return [usage.weekly, usage.byokWeekly]
    case 'monthly':
      return [usage.monthly, usage.byokMonthly]
    default:
      return [usage.total, usage.byokTotal]
  }
}

export const keyView = (row: KeyRow, usage: KeyUsage): Key => ({
  hash: row.hash,
  id: row.id,
  name: row.name,
  label: row.label,
  disabled: row.disabled,
  ...limitView(row, usage),
  rate_limits: row.rate_limits,
  ...usageView(usage),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at?.toISOString() ?? null,
  expires_at: row.expires_at?.toISOString() ?? null,
  creator_user_id: row.creator_user_id,
  external_user: row.external_user,
  workspace_id: row.workspace_id,
})

type Settings = Pick<
  KeyRow,
  | 'name'
  | 'label'
  | 'disabled'
  | 'limit_nano_usd'
  | 'limit_reset'
  | 'include_byok_in_limit'
  | 'rate_limits'
  | 'expires_at'
  | 'creator_user_id'
  | 'external_user'
  | 'workspace_id'
>

/** What people set of a key, for the audit log. */
export const settingsView = ({ limit_nano_usd: limit, expires_at: expiresAt, ...row }: Settings) => ({
  name: row.name,
  label: row.label,
  disabled: row.disabled,
  limit: limit === null ? null : usdOf(limit),
  limit_reset: row.limit_reset,
  include_byok_in_limit: row.include_byok_in_limit,
  rate_limits: row.rate_limits,
  expires_at: expiresAt?.toISOString() ?? null,
  creator_user_id: row.creator_user_id,
  external_user: row.external_user,
  workspace_id: row.workspace_id,
})
