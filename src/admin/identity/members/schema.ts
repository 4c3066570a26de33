import { type Static, t } from 'elysia'
import { membership } from '../../../db/tables.ts'

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
  ...membership.view.properties,
  role: t.Union([t.Literal('admin'), t.Literal('member')], { description: 'As in the organisation.' }),
})
export type Member = Static<typeof member>
