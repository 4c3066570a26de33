import type { LimitReset } from '../core/snapshot.ts'
import { index, nanoUsd, table, text, uniqueIndex, word } from './columns.ts'
import { byUser, createdAt, ofWorkspace } from './table-parts.ts'

export const workspaceMembers = table(
  'workspace_members',
  {
    /** UUID */
    id: text().primaryKey(),
    workspace_id: ofWorkspace(),
    user_id: byUser(),
    created_at: createdAt(),
  },
  (t) => [
    uniqueIndex('workspace_members_pair').on(t.workspace_id, t.user_id),
    index('workspace_members_user').on(t.user_id),
  ],
)

export const workspaceBudgets = table(
  'workspace_budgets',
  {
    /** UUID */
    id: text().primaryKey(),
    workspace_id: ofWorkspace(),
    interval: word<LimitReset | 'lifetime'>().notNull(),
    limit_nano_usd: nanoUsd().notNull(),
    created_at: createdAt(),
    updated_at: createdAt(),
  },
  (t) => [uniqueIndex('workspace_budgets_interval').on(t.workspace_id, t.interval)],
)
