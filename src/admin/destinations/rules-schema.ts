import { type Static, t } from 'elysia'

const oneOf = <Name extends string>(...names: readonly Name[]) =>
  t.Union(names.map((name) => t.Literal(name)))

const rule = t.Object(
  {
    field: oneOf(
      'model',
      'provider',
      'session_id',
      'user_id',
      'api_key_name',
      'finish_reason',
      'input',
      'output',
      'total_cost',
      'total_tokens',
      'prompt_tokens',
      'completion_tokens',
    ),
    operator: oneOf(
      'equals',
      'not_equals',
      'contains',
      'not_contains',
      'regex',
      'starts_with',
      'ends_with',
      'gt',
      'gte',
      'lt',
      'lte',
      'exists',
      'not_exists',
    ),
    value: t.Optional(t.Union([t.String({ maxLength: 2000 }), t.Number()])),
  },
  { additionalProperties: false },
)

/** All groups must hold; `logic` joins the rules of one. */
export const filterRules = t.Object(
  {
    enabled: t.Optional(t.Boolean({ description: 'Default true.' })),
    groups: t.Array(
      t.Object(
        {
          logic: t.Optional(oneOf('and', 'or')),
          rules: t.Array(rule, { minItems: 1, maxItems: 50 }),
        },
        { additionalProperties: false },
      ),
      { maxItems: 20 },
    ),
  },
  {
    additionalProperties: false,
    description: 'Which generations are sent: those for which all groups hold.',
  },
)
export type FilterRules = Static<typeof filterRules>

/** With what was left out. */
export const wholeRules = ({ enabled = true, groups }: FilterRules) => ({
  enabled,
  groups: groups.map(({ logic = 'and' as const, rules }) => ({ logic, rules })),
})
