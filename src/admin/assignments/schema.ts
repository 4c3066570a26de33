import { type Static, t } from 'elysia'
import { instant, pageQuery } from '../../http/schemas.ts'

const ids = (description: string) =>
  t.Array(t.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 1000, description })

export const keysBody = t.Object(
  { key_hashes: ids('Hashes of keys of the same workspace.') },
  { additionalProperties: false },
)
export const membersBody = t.Object(
  { member_user_ids: ids('Members of the organisation.') },
  { additionalProperties: false },
)

export const listAssignmentsQuery = pageQuery({})
export type ListAssignmentsQuery = Static<typeof listAssignmentsQuery>

const common = {
  id: t.String({ documented: { type: 'string', format: 'uuid' } }),
  guardrail_id: t.String({ documented: { type: 'string', format: 'uuid' } }),
  assigned_by: t.String({ description: 'User id.' }),
  created_at: instant('When it was assigned.'),
}

export const keyAssignment = t.Object({
  ...common,
  key_hash: t.String(),
  key_label: t.String(),
  key_name: t.String(),
})
export type KeyAssignment = Static<typeof keyAssignment>

export const memberAssignment = t.Object({
  ...common,
  user_id: t.String(),
  organization_id: t.String(),
})
export type MemberAssignment = Static<typeof memberAssignment>
