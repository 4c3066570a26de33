import { type Static, t } from 'elysia'
import { MAX_NANO_USD, usdOf } from '../../../core/money.ts'
import { nullable } from '../../../http/schemas.ts'

/** 2^53 nano-dollars in full dollars. */
const MAX_ALLOWANCE_USD = 9_007_199

export const creditsBody = t.Object(
  {
    total_credits: nullable(
      t.Number({
        minimum: 0,
        maximum: MAX_ALLOWANCE_USD,
        description: 'USD that the organization may spend in total, past spending included; null: no limit.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type CreditsBody = Static<typeof creditsBody>

export const credits = t.Object({
  total_credits: t.Number({
    description:
      'USD that the organization may spend in total; without a limit the largest amount that can be counted.',
  }),
  total_usage: t.Number({
    description: 'USD spent so far, without spending with BYOK keys.',
  }),
  is_unlimited: t.Boolean({ description: 'No allowance is set.' }),
})
export type Credits = Static<typeof credits>

/** Clients compute with the number, so that a missing limit is a number too. */
export const creditsView = (allowanceNanoUsd: number | null, usageNanoUsd: number): Credits => ({
  total_credits: usdOf(allowanceNanoUsd ?? MAX_NANO_USD),
  total_usage: usdOf(usageNanoUsd),
  is_unlimited: allowanceNanoUsd === null,
})
