import { index, table, text, uniqueIndex } from './columns.ts'
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
