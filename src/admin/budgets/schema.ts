import { type Static, t } from 'elysia'
import { usdOf } from '../../core/money.ts'
import type { workspaceBudgets } from '../../db/tables.ts'
import { instant, nullable } from '../../http/schemas.ts'
import { workspaceParams } from '../workspaces/service.ts'

/** From the shortest to the longest: a longer one must allow more. */
export const INTERVALS = ['daily', 'weekly', 'monthly', 'lifetime'] as const
export type BudgetInterval = (typeof INTERVALS)[number]
export type BudgetRow = typeof workspaceBudgets.$inferSelect

/** 2^53 nano-dollars, the largest amount that a counter holds, in whole dollars. */
const MAX_LIMIT_USD = 9_007_199

export const budgetParams = t.Object({
  ...workspaceParams.properties,
  interval: t.Union(
    INTERVALS.map((interval) => t.Literal(interval)),
    {
      description: 'When it starts anew: at 00:00 UTC, weeks on Monday, months on the 1st; lifetime: never.',
    },
  ),
})

export const budgetBody = t.Object(
  {
    limit_usd: t.Number({
      exclusiveMinimum: 0,
      maximum: MAX_LIMIT_USD,
      description: 'USD, kept to the nano-dollar.',
    }),
    include_byok_in_budgets: t.Optional(
      t.Boolean({ description: 'For all budgets of the workspace; unchanged when it is left out.' }),
    ),
  },
  { additionalProperties: false },
)
export type BudgetBody = Static<typeof budgetBody>

export const budget = t.Object({
  id: t.String({ documented: { type: 'string', format: 'uuid' } }),
  workspace_id: t.String(),
  limit_usd: t.Number(),
  reset_interval: nullable(t.String({ description: 'Null: lifetime.' })),
  created_at: instant('When it was made.'),
  updated_at: instant('When it was last set.'),
})
export type Budget = Static<typeof budget>
export const includesByok = t.Boolean({
  description: "Whether spending with the workspace's BYOK keys counts.",
})

export const budgetView = (row: BudgetRow): Budget => ({
  id: row.id,
  workspace_id: row.workspace_id,
  limit_usd: usdOf(row.limit_nano_usd),
  reset_interval: row.interval === 'lifetime' ? null : row.interval,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})
