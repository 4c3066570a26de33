/** Records about resources: the audit log, idempotency keys and feedback. */
import { Type } from '@sinclair/typebox'
import type { JsonObject } from '../core/events.ts'
import { nullable } from '../http/schemas.ts'
import { index, integer, json, primaryKey, table, text, word } from './columns.ts'
import { columnsOf, createdAt, createdInstant, given, hidden, resourceOf } from './fields.ts'
import { shownUuid } from './kinds.ts'

const words = () => text().notNull()
const wordsOrNull = () => given(text(), nullable(Type.String()))
const details = () => given(json<JsonObject>(), nullable(Type.Record(Type.String(), Type.Unknown())))
const auditFields = {
  /** UUIDv7: in order of time. */
  id: given(text().primaryKey(), shownUuid()),
  created_at: createdInstant('When it was changed.'),
  organization_id: given(words(), Type.String()),
  workspace_id: given(text(), nullable(Type.String({ description: 'Null: of the organisation.' }))),
  /** The actor and the resource are objects in replies. */
  actor_type: hidden(word<'key' | 'user' | 'system'>().notNull()),
  actor_id: hidden(words()),
  actor_label: hidden(words()),
  action: given(words(), Type.String({ description: '`key.create`, `workspace.update`, …' })),
  resource_type: hidden(words()),
  resource_id: hidden(words()),
  request_id: wordsOrNull(),
  address: given(text(), nullable(Type.String({ description: "The client's address." }))),
  user_agent: wordsOrNull(),
  before: details(),
  after: details(),
}

/** One row for each change, written in its transaction. Never changed, and never a secret in it. */
export const auditLog = table('audit_log', columnsOf(auditFields), (t) => [
  index('audit_log_workspace').on(t.workspace_id, t.id),
  index('audit_log_resource').on(t.resource_type, t.resource_id, t.id),
  index('audit_log_actor').on(t.actor_id, t.id),
])
export const auditEntry = resourceOf('audit_entry', auditLog.id, auditLog, auditFields, 'audit entry')

/** Requests that named an `Idempotency-Key`, so that a second one changes nothing. */
export const idempotencyKeys = table(
  'idempotency_keys',
  {
    caller_key_hash: text().notNull(),
    idempotency_key: text().notNull(),
    /** SHA-256 of method, path and body, in hex. */
    fingerprint: text().notNull(),
    /** Null until the answer is known. */
    status: integer(),
    /** The answer's JSON, sealed: it may hold a key in clear. */
    sealed_answer: text(),
    created_at: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.caller_key_hash, t.idempotency_key] }),
    index('idempotency_keys_created').on(t.created_at),
  ],
)

export const generationFeedback = table(
  'generation_feedback',
  {
    /** UUIDv7 */
    id: text().primaryKey(),
    generation_id: text().notNull(),
    workspace_id: text().notNull(),
    key_hash: text().notNull(),
    category: text().notNull(),
    comment: text(),
    created_at: createdAt(),
  },
  (t) => [index('generation_feedback_generation').on(t.generation_id)],
)
