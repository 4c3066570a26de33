import { type Static, t } from 'elysia'
import type { auditLog } from '../../../db/tables.ts'
import { instant, nullable, uuid } from '../../../http/schemas.ts'

const text = (description: string) => t.Optional(t.String({ minLength: 1, maxLength: 200, description }))
const moment = (description: string) =>
  t.Optional(
    t.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,3})?Z$',
      maxLength: 30,
      expects: 'a UTC date and time with seconds and Z',
      documented: { type: 'string', format: 'date-time' },
      description,
    }),
  )

export const filters = {
  workspace_id: t.Optional(uuid('Only changes in this workspace.')),
  actor_id: text("Only what this actor did: a key's hash or a user's id."),
  action: text('Only this action, such as `key.create`.'),
  resource_type: text('Only things of this kind, such as `workspace`.'),
  resource_id: text('Only this thing.'),
  from: moment('Not before this instant.'),
  to: moment('Before this instant.'),
}

export const exportAuditQuery = t.Object(
  {
    ...filters,
    format: t.Optional(
      t.Union([t.Literal('ndjson'), t.Literal('csv')], {
        description: 'One JSON object a line (the default), or CSV with a header.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type AuditFilter = Omit<Static<typeof exportAuditQuery>, 'format'>

const details = nullable(t.Record(t.String(), t.Unknown()))

export const auditEntry = t.Object({
  id: t.String({ documented: { type: 'string', format: 'uuid' } }),
  created_at: instant('When it was changed.'),
  organization_id: t.String(),
  workspace_id: nullable(t.String({ description: 'Null: of the organisation.' })),
  actor: t.Object({
    type: t.Union([t.Literal('key'), t.Literal('user'), t.Literal('system')]),
    id: t.String({ description: "A key's hash, a user's id, or what of the system it was." }),
    label: t.String({ description: "The key's masked form, or the person's name." }),
  }),
  action: t.String({ description: '`key.create`, `workspace.update`, …' }),
  resource: t.Object({ type: t.String(), id: t.String() }),
  request_id: nullable(t.String()),
  address: nullable(t.String({ description: "The client's address." })),
  user_agent: nullable(t.String()),
  before: details,
  after: details,
})
export type AuditEntry = Static<typeof auditEntry>

export const auditEntryView = (row: typeof auditLog.$inferSelect): AuditEntry => ({
  id: row.id,
  created_at: row.created_at.toISOString(),
  organization_id: row.organization_id,
  workspace_id: row.workspace_id,
  actor: { type: row.actor_type, id: row.actor_id, label: row.actor_label },
  action: row.action,
  resource: { type: row.resource_type, id: row.resource_id },
  request_id: row.request_id,
  address: row.address,
  user_agent: row.user_agent,
  before: row.before,
  after: row.after,
})
