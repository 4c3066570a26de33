/** The organisation and its people. */
import { index, nanoUsd, table, text, timestamp, uniqueIndex, word } from './columns.ts'
import { createdAt } from './fields.ts'

/** Facts about the database itself, such as the check value of the secret key. */
export const meta = table('meta', {
  name: text().primaryKey(),
  value: text().notNull(),
})

export const organizations = table('organizations', {
  /** `org_…` */
  id: text().primaryKey(),
  name: text().notNull(),
  /** Null until the first start that knows of it. */
  default_workspace_id: text(),
  /** The organisation's spending limit; null: none. */
  allowance_nano_usd: nanoUsd(),
  created_at: createdAt(),
  updated_at: timestamp(),
})

export const users = table(
  'users',
  {
    /** `user_…` */
    id: text().primaryKey(),
    organization_id: text()
      .notNull()
      .references(() => organizations.id),
    name: text().notNull(),
    first_name: text(),
    last_name: text(),
    /** Null for the owner until the dashboard is set up. */
    email: text(),
    role: word<'admin' | 'member'>().notNull(),
    created_at: createdAt(),
    updated_at: timestamp(),
    deleted_at: timestamp(),
  },
  (t) => [uniqueIndex('users_email').on(t.email), index('users_organization').on(t.organization_id)],
)
