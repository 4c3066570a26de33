/** Records about resources: the audit log, idempotency keys and feedback. */
import type { JsonObject } from '../core/events.ts'
import { index, integer, json, primaryKey, table, text, word } from './columns.ts'
import { createdAt } from './table-parts.ts'

/** One row for each change, written in its transaction. Never changed, and never a secret in it. */
export const auditLog = table(
  'audit_log',
  {
    /** UUIDv7: in order of time. */
    id: text().primaryKey(),
    created_at: createdAt(),
    organization_id: text().notNull(),
    /** Null: of the organisation. */
    workspace_id: text(),
    actor_type: word<'key' | 'user' | 'system'>().notNull(),
    /** A key's hash, a user's id, or what of the system it was (`first-run`). */
    actor_id: text().notNull(),
    /** The key's masked label, or the person's name. */
    actor_label: text().notNull(),
    /** `key.create`, `workspace.update`, … */
    action: text().notNull(),
    resource_type: text().notNull(),
    resource_id: text().notNull(),
    request_id: text(),
    /** The client's address. */
    address: text(),
    user_agent: text(),
    before: json<JsonObject>(),
    after: json<JsonObject>(),
  },
  (t) => [
    index('audit_log_workspace').on(t.workspace_id, t.id),
    index('audit_log_resource').on(t.resource_type, t.resource_id, t.id),
    index('audit_log_actor').on(t.actor_id, t.id),
  ],
)

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
