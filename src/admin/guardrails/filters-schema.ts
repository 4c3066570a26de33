import { type Static, t } from 'elysia'

const action = t.Union([t.Literal('redact'), t.Literal('block'), t.Literal('flag')], {
  description:
    'What happens to a match: it is replaced, the request is refused (an answer ends there), or it is only recorded.',
})

/** An addition of this gateway's: answers are looked through only where it is set. */
const applyTo = t.Optional(
  t.Union([t.Literal('input'), t.Literal('output'), t.Literal('both')], {
    description:
      'Where it is looked for: in what is asked, in what is answered (streamed too), or in both. Default: input.',
  }),
)

/** What is looked for without a pattern of one's own. */
const BUILTINS = [
  'email',
  'phone',
  'ssn',
  'credit-card',
  'ip-address',
  'secrets',
  'person-name',
  'address',
  'regex-prompt-injection',
] as const

export const contentFilterBuiltin = t.Object(
  {
    slug: t.Union(BUILTINS.map((slug) => t.Literal(slug))),
    action,
    apply_to: applyTo,
    label: t.Optional(t.String({ maxLength: 100, description: 'Stands for what was redacted.' })),
    scan_scope: t.Optional(
      t.Union([t.Literal('user_only'), t.Literal('all_messages')], {
        description: 'For regex-prompt-injection: which messages are scanned.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type ContentFilterBuiltin = Static<typeof contentFilterBuiltin>

export const contentFilter = t.Object(
  {
    pattern: t.String({
      minLength: 1,
      maxLength: 100_000,
      description: 'RE2 syntax: neither lookaround nor backreferences.',
    }),
    action,
    apply_to: applyTo,
    label: t.Optional(nullableLabel()),
  },
  { additionalProperties: false },
)
export type ContentFilter = Static<typeof contentFilter>

function nullableLabel() {
  return t.Union([t.String({ maxLength: 100, description: 'Stands for what was redacted.' }), t.Null()])
}
