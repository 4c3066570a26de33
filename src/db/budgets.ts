/** Budgets of workspaces: one line for each field. */
import { Type } from '@sinclair/typebox'
import type { LimitReset } from '../core/snapshot.ts'
import { nullable } from '../http/schemas.ts'
import { table, text, uniqueIndex, word } from './columns.ts'
import { changedInstant, columnsOf, createdInstant, given, named, required, resourceOf } from './fields.ts'
import { shownUuid, usd } from './kinds.ts'
import { ofWorkspace } from './table-parts.ts'

export type BudgetInterval = LimitReset | 'lifetime'

const fields = {
  id: given(text().primaryKey(), shownUuid()),
  workspace_id: given(ofWorkspace(), Type.String()),
  limit_nano_usd: required(
    named('limit_usd', usd({ exclusiveMinimum: 0, description: 'USD, to the nano-dollar.' })),
  ),
  interval: {
    ...named(
      'reset_interval',
      given(word<BudgetInterval>().notNull(), nullable(Type.String({ description: 'Null: lifetime.' }))),
    ),
    show: (interval: BudgetInterval) => (interval === 'lifetime' ? null : interval),
  },
  created_at: createdInstant(),
  updated_at: changedInstant('When it was last set.'),
}

export const workspaceBudgets = table('workspace_budgets', columnsOf(fields), (t) => [
  uniqueIndex('workspace_budgets_interval').on(t.workspace_id, t.interval),
])
export const budget = resourceOf('budget', workspaceBudgets.id, workspaceBudgets, fields)
export type BudgetRow = typeof workspaceBudgets.$inferSelect
