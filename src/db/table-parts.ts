/** Columns that many tables have. */
import { text, timestamp } from './columns.ts'
import { users, workspaces } from './tables.ts'

export const createdAt = () =>
  timestamp()
    .notNull()
    .$defaultFn(() => new Date())

export const ofWorkspace = () =>
  text()
    .notNull()
    .references(() => workspaces.id)

export const byUser = () =>
  text()
    .notNull()
    .references(() => users.id)
