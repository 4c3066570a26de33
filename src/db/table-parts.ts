/** Columns that many tables have. */
import { text } from './columns.ts'
import { users } from './organization-tables.ts'
import { workspaces } from './workspaces.ts'

export const ofWorkspace = () =>
  text()
    .notNull()
    .references(() => workspaces.id)

export const byUser = () =>
  text()
    .notNull()
    .references(() => users.id)
