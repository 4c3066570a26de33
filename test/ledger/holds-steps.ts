/** The steps of an interleaving of reservations, settlements and commits, drawn at random. */
import fc from 'fast-check'
import type { Interval } from '../../src/core/gate.ts'
import { INTERVALS } from '../../src/ledger/windows.ts'

const interval = fc.constantFrom<Interval>(...INTERVALS)
const bound = fc.record({ interval, limit: fc.integer({ min: 0, max: 40 }), includeByok: fc.boolean() })
export const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('reserve' as const),
      key: fc.integer({ min: 0, max: 1 }),
      amount: fc.integer({ min: 0, max: 15 }),
      /** Below the amount: a part of it; 15: all of it. Null: BYOK keys only. */
      shared: fc.option(fc.integer({ min: 0, max: 15 })),
      // Limits are drawn again for each request, as if they changed all the time.
      ofKey: fc.option(bound, { freq: 9 }),
      ofWorkspace: fc.uniqueArray(bound, { maxLength: 2, selector: (one) => one.interval }),
      ofGuardrail: fc.option(bound),
      ofMember: fc.option(bound),
      ofOrganization: fc.option(bound),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      pick: fc.nat(),
      /** A provider may count more than was reserved. */
      cost: fc.integer({ min: 0, max: 18 }),
      isByok: fc.boolean(),
      isJournaled: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('release' as const), pick: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      /** Below 0: the clock is set back. */
      minutes: fc.oneof(fc.integer({ min: -90, max: 120 }), fc.integer({ min: 120, max: 3000 })),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('commit' as const) }) },
)

export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
export type StepOf<Name extends Step['do']> = Extract<Step, { do: Name }>
