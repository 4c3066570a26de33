/** The organisation and its people. */
import { type Static, Type } from '@sinclair/typebox'
import { nullable } from '../http/schemas.ts'
import { index, nanoUsd, table, text, timestamp, uniqueIndex, word } from './columns.ts'
import { columnsOf, createdAt, given, hidden, required, resourceOf } from './fields.ts'
import { wordOf } from './kinds.ts'

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

export const ofOrganization = () =>
  text()
    .notNull()
    .references(() => organizations.id)

const roleWord = wordOf(['org:admin', 'org:member'])
export type Role = Static<typeof roleWord>
/** As the API names it, and as it is stored. */
export const roleView = (stored: 'admin' | 'member'): Role => `org:${stored}`
export const storedRole = (named: Role): 'admin' | 'member' => (named === 'org:admin' ? 'admin' : 'member')
/** The role of a person in the organisation. */
export const role = () => ({
  column: word<'admin' | 'member'>(),
  body: roleWord,
  view: roleWord,
  store: storedRole,
  show: roleView,
})

const memberFields = {
  /** `user_…` */
  id: given(text().primaryKey(), Type.String()),
  organization_id: hidden(ofOrganization()),
  name: hidden(text().notNull()),
  /** Null for the owner until the dashboard is set up. */
  email: given(text(), nullable(Type.String())),
  first_name: given(text(), nullable(Type.String())),
  last_name: given(text(), nullable(Type.String())),
  role: required(role()),
  created_at: hidden(createdAt()),
  updated_at: hidden(timestamp()),
  deleted_at: hidden(timestamp()),
}

export const users = table('users', columnsOf(memberFields), (t) => [
  uniqueIndex('users_email').on(t.email),
  index('users_organization').on(t.organization_id),
])
export const member = resourceOf('member', users.id, users, memberFields)
export type UserRow = typeof users.$inferSelect
