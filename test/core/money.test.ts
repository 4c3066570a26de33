import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Amount, added, amountOf, roundedNanoUsd } from '../../src/core/money.ts'

/** Amounts are numbers where those are exact, and bigints elsewhere: the same money either way. */

const units = fc.oneof(fc.nat(200_000), fc.maxSafeNat(), fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER))
/** Of atto-dollars: some of them near the places where numbers stop being exact. */
const price = fc.oneof(
  fc.bigInt(0n, 10n ** 13n),
  fc.bigInt(2n ** 53n - 5n, 2n ** 53n + 5n),
  fc.bigInt(0n, 10n ** 27n),
  fc.constantFrom(0n, 1n, 499_999_999n, 500_000_000n, 500_000_001n, 10n ** 9n),
)

const exactly = (amount: Amount): bigint => BigInt(amount)
const roundedExactly = (amount: bigint): number => Number((amount + 500_000_000n) / 1_000_000_000n)

test('sums of amounts are those of bigints, and are rounded half up', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(units, price), { minLength: 1, maxLength: 8 }), (parts) => {
      let sum: Amount = 0
      let expected = 0n
      for (const [count, rate] of parts) {
        sum = added(sum, amountOf(count, rate))
        expected += BigInt(count) * rate
        expect(exactly(sum)).toBe(expected)
        expect(roundedNanoUsd(sum)).toBe(roundedExactly(expected))
      }
    }),
    { numRuns: 20_000, seed: 20_261_122 },
  )
})

test('numbers are rounded as bigints are, up to the last that is exact', () => {
  const around = fc
    .tuple(fc.nat(9_007_199), fc.constantFrom(-500_000_001, -500_000_000, -499_999_999, -1, 0, 1))
    .map(([nanos, beside]) => Math.max(0, nanos * 1_000_000_000 + beside))
  fc.assert(
    fc.property(fc.oneof(around, fc.maxSafeNat()), (amount) => {
      expect(roundedNanoUsd(amount)).toBe(roundedExactly(BigInt(amount)))
    }),
    { numRuns: 20_000, seed: 20_261_123 },
  )
})
