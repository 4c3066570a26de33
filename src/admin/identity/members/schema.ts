import { type Static, t } from 'elysia'
import { instant } from '../../../http/schemas.ts'

export const membersBody = t.Object(
  {
    user_ids: t.Array(t.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: 100,
      description: 'Members of the organisation; one that is named twice counts once.',
    }),
  },
  { additionalProperties: false },
)

export const member = t.Object({
  id: t.String({ documented: { type: 'string', format: 'uuid' } }),
  user_id: t.String(),
  workspace_id: t.String(),
  role: t.Union([t.Literal('admin'), t.Literal('member')], { description: 'As in the organisation.' }),
  created_at: instant('When the membership was made.'),
})
export type Member = Static<typeof member>
