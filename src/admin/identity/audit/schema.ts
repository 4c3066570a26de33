import { type Static, t } from 'elysia'
import { viewOf } from '../../../db/fields.ts'
import { auditEntry, type auditLog } from '../../../db/tables.ts'
import { uuid } from '../../../http/schemas.ts'

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

export const auditReply = t.Object({
  ...auditEntry.view.properties,
  actor: t.Object({
    type: t.Union([t.Literal('key'), t.Literal('user'), t.Literal('system')]),
    id: t.String({ description: "A key's hash, a user's id, or what of the system it was." }),
    label: t.String({ description: "The key's masked form, or the person's name." }),
  }),
  resource: t.Object({ type: t.String(), id: t.String() }),
})
export type AuditEntry = Static<typeof auditReply>

export const auditView = (row: typeof auditLog.$inferSelect): AuditEntry => ({
  ...viewOf(auditEntry, row),
  actor: { type: row.actor_type, id: row.actor_id, label: row.actor_label },
  resource: { type: row.resource_type, id: row.resource_id },
})
