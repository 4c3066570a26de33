import { type Static, Type } from '@sinclair/typebox'
import { nullable } from '../http/schemas.ts'

const action = Type.Union([Type.Literal('redact'), Type.Literal('block'), Type.Literal('flag')], {
  description:
    'What happens to a match: `redact` replaces it, `block` rejects the request (a reply ends there), `flag` only records it.',
})

/** An addition to the API: replies are searched only if it is set. */
const applyTo = Type.Optional(
  Type.Union([Type.Literal('input'), Type.Literal('output'), Type.Literal('both')], {
    description: 'Which texts are searched: requests, replies (streamed too), or both. Default: input.',
  }),
)

const label = Type.String({ maxLength: 100, description: 'Replaces redacted text.' })

/** Filters that need no pattern. */
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

export const contentFilterBuiltin = Type.Object(
  {
    slug: Type.Union(BUILTINS.map((slug) => Type.Literal(slug))),
    action,
    apply_to: applyTo,
    label: Type.Optional(label),
    scan_scope: Type.Optional(
      Type.Union([Type.Literal('user_only'), Type.Literal('all_messages')], {
        description: 'For regex-prompt-injection: which messages are scanned.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type ContentFilterBuiltin = Static<typeof contentFilterBuiltin>

export const contentFilter = Type.Object(
  {
    pattern: Type.String({
      minLength: 1,
      maxLength: 100_000,
      description: 'RE2 syntax: neither lookaround nor backreferences.',
    }),
    action,
    apply_to: applyTo,
    label: Type.Optional(nullable(label)),
  },
  { additionalProperties: false },
)
export type ContentFilter = Static<typeof contentFilter>
