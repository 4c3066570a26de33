import { Type } from '@sinclair/typebox'
import { index, table, text, uniqueIndex } from './columns.ts'
import { columnsOf, createdInstant, given, resourceOf } from './fields.ts'
import { shownUuid } from './kinds.ts'
import { byUser, ofWorkspace } from './table-parts.ts'

const fields = {
  id: given(text().primaryKey(), shownUuid()),
  user_id: given(byUser(), Type.String()),
  workspace_id: given(ofWorkspace(), Type.String()),
  created_at: createdInstant('When the membership was made.'),
}

export const workspaceMembers = table('workspace_members', columnsOf(fields), (t) => [
  uniqueIndex('workspace_members_pair').on(t.workspace_id, t.user_id),
  index('workspace_members_user').on(t.user_id),
])
export const membership = resourceOf('membership', workspaceMembers.id, workspaceMembers, fields)
