import { type Static, Type } from '@sinclair/typebox'
import { usdOf } from '../../../core/money.ts'
import { viewOf } from '../../../db/fields.ts'
import { apiKey, type KeyRow } from '../../../db/tables.ts'
import { instant, nullable } from '../../../http/schemas.ts'
import type { KeyUsage } from '../../../ledger/ledger.ts'

const usd = Type.Number({ description: 'USD.' })
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
  limit_reset: apiKey.view.properties.limit_reset,
  include_byok_in_limit: Type.Boolean(),
}

export const keyReply = Type.Object({
  ...apiKey.view.properties,
  limit_remaining: nullable(usd),
  ...usageFields,
})
export type Key = Static<typeof keyReply>

const integer = Type.Number({ documented: { type: 'integer' } })

export const currentKey = Type.Object({
  label: Type.String(),
  ...limitFields,
  ...usageFields,
  is_free_tier: Type.Boolean(),
  is_management_key: Type.Boolean(),
  is_provisioning_key: Type.Boolean({ description: 'The same, under its former name.' }),
  allowed_data_regions: Type.Array(Type.String()),
  free_model_daily_requests: Type.Object({ limit: integer, remaining: integer, used: integer }),
  rate_limit: Type.Object({ interval: Type.String(), note: Type.String(), requests: integer }),
  creator_user_id: nullable(Type.String()),
  organization_id: nullable(Type.String()),
  workspace_id: nullable(Type.String()),
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

type Limited = Pick<KeyRow, 'limit_nano_usd' | 'limit_reset' | 'include_byok_in_limit'>

/** `limit_remaining` is the limit minus the spending settled in its window; 0 if a lowered limit is already exceeded. */
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
  ...viewOf(apiKey, row),
  ...limitView(row, usage),
  ...usageView(usage),
})
