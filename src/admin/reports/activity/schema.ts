import { type Static, t } from 'elysia'
import { uuid } from '../../../http/schemas.ts'

export const activityQuery = t.Object(
  {
    date: t.Optional(
      t.String({
        pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
        maxLength: 10,
        expects: 'a UTC day as YYYY-MM-DD',
        documented: { type: 'string', format: 'date' },
        description: 'One UTC day of the last 30, today included; default: all of them.',
      }),
    ),
    api_key_hash: t.Optional(
      t.String({
        pattern: '^[0-9a-f]{64}$',
        maxLength: 64,
        expects: 'the hash of an API key: 64 lower-case hex digits',
        documented: { type: 'string' },
        description: 'Only the usage of this key.',
      }),
    ),
    user_id: t.Optional(t.String({ minLength: 1, maxLength: 100, description: "Only this member's keys." })),
    workspace_id: t.Optional(uuid('Only this workspace.')),
    group_by: t.Optional(
      t.String({
        pattern: '^(?:workspace|user|tag:[^]{1,64})$',
        maxLength: 70,
        expects: 'one of workspace, user, tag:<name>',
        documented: { type: 'string' },
        description:
          '`workspace`: one item for each workspace, with its `workspace_id`. `user`: one for each `user` of the requests that have one, as `user`. `tag:<name>`: one for each value of this entry of `metadata`, as `tag`.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type ActivityQuery = Static<typeof activityQuery>

const integer = t.Number({ documented: { type: 'integer' } })
const usd = t.Number({ description: 'USD.' })

export const activityItem = t.Object({
  date: t.String({ documented: { type: 'string', format: 'date' }, description: 'UTC day.' }),
  model: t.String(),
  model_permaslug: t.String(),
  endpoint_id: t.String(),
  provider_name: t.String(),
  usage: usd,
  byok_usage_inference: usd,
  requests: t.Number({
    documented: { type: 'integer' },
    description: 'All settled generations, failed ones included.',
  }),
  prompt_tokens: integer,
  completion_tokens: integer,
  reasoning_tokens: integer,
  workspace_id: t.Optional(t.String({ description: 'With group_by=workspace.' })),
  user: t.Optional(
    t.String({ description: 'With group_by=user; `(other)` beyond 10,000 of a key on a day.' }),
  ),
  tag: t.Optional(t.String({ description: 'With group_by=tag:<name>; `(other)` likewise.' })),
})
