import { type Static, Type } from '@sinclair/typebox'

const oneOf = <Name extends string>(...names: readonly Name[]) =>
  Type.Union(names.map((name) => Type.Literal(name)))

const rule = Type.Object(
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
    value: Type.Optional(Type.Union([Type.String({ maxLength: 2000 }), Type.Number()])),
  },
  { additionalProperties: false },
)

/** All groups must hold; `logic` joins the rules of one. */
export const filterRules = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ description: 'Default true.' })),
    groups: Type.Array(
      Type.Object(
        {
          logic: Type.Optional(oneOf('and', 'or')),
          rules: Type.Array(rule, { minItems: 1, maxItems: 50 }),
        },
        { additionalProperties: false },
      ),
      { maxItems: 20 },
    ),
  },
  {
    additionalProperties: false,
    description:
      'Which generations are sent: those for which all groups hold. A rule on a value that is absent does not hold, unless its operator begins with `not_`. `provider` is its slug, costs are USD, texts are compared with their case, patterns are RE2, together of at most 5,000 steps (a character is one, `{n}` repeats n times), and search 100,000 characters, fewer beyond 200 steps. `input` and `output` need a destination without `privacy_mode`.',
  },
)
export type FilterRules = Static<typeof filterRules>

/** The rules with every default filled in. */
export const withoutGaps = ({ enabled = true, groups }: FilterRules) => ({
  enabled,
  groups: groups.map(({ logic = 'and' as const, rules }) => ({ logic, rules })),
})
