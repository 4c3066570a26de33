import { withoutTrailing } from './trailing.ts'

/**
 * Money is an integer number of nano-dollars (1e-9 USD) everywhere but at the edges.
 * A price per token can be finer than that (0.0375 USD per million tokens is 37.5 nano-dollars), so prices
 * are exact integers of atto-dollars (1e-18 USD) and a cost is rounded once, at the end.
 */

/** 1e-18 USD per unit (a token, a request, an image …). Never negative. */
export type Price = bigint

const ATTO_DIGITS = 18
const ATTO_PER_NANO = 1_000_000_000
const HALF_NANO = BigInt(ATTO_PER_NANO / 2)
const NANO_PER_USD = 1_000_000_000

/** Largest amount that a counter may hold: 2^53 nano-dollars are 9,007,199 USD. */
export const MAX_NANO_USD = Number.MAX_SAFE_INTEGER

/**
 * Reads a plain decimal string of USD ("0.0000025"). Throws a `RangeError` that names the problem for
 * signs, exponents and more than 18 decimals: a price is never guessed.
 */
export function parsePrice(decimal: string): Price {
  const match = /^(\d{1,9})(?:\.(\d{1,18}))?$/.exec(decimal)
  if (!match) {
    throw new RangeError(
      `"${decimal.slice(0, 40)}" is not a price: write USD per unit as a plain decimal, such as "0.0000025"`,
    )
  }
  return BigInt(match[1] + (match[2] ?? '').padEnd(ATTO_DIGITS, '0'))
}

/** The inverse of `parsePrice`: a plain decimal without exponent and without trailing zeros ("0" for free). */
export function formatPrice(price: Price): string {
  const digits = price.toString().padStart(ATTO_DIGITS + 1, '0')
  const whole = digits.slice(0, -ATTO_DIGITS)
  const fraction = withoutTrailing(digits.slice(-ATTO_DIGITS), '0')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/**
 * An exact amount of atto-dollars, for sums before rounding. A number below 2^53, where all arithmetic
 * on integers is exact and costs a tenth, else a bigint.
 */
export type Amount = number | bigint

/** Units are integers ≥ 0. */
export function amountOf(units: number, price: Price): Amount {
  if (units <= 0 || price <= 0n) return 0
  // A product of 2^53 or more never rounds to a smaller number, so a safe result is exact.
  const product = units * Number(price)
  return Number.isSafeInteger(product) ? product : BigInt(units) * price
}

export function added(left: Amount, right: Amount): Amount {
  if (left === 0) return right
  if (right === 0) return left
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right
    if (Number.isSafeInteger(sum)) return sum
  }
  return BigInt(left) + BigInt(right)
}

/** Rounded to a nano-dollar, half up. */
export function roundedNanoUsd(amount: Amount): number {
  if (typeof amount === 'bigint') return Number((amount + HALF_NANO) / BigInt(ATTO_PER_NANO))
  const rest = amount % ATTO_PER_NANO
  return (amount - rest) / ATTO_PER_NANO + (rest * 2 >= ATTO_PER_NANO ? 1 : 0)
}

/** A number of USD with at most 9 decimals, for JSON bodies. */
export const usdOf = (nanoUsd: number): number => nanoUsd / NANO_PER_USD

/** The nearest nano-dollar of a USD number from JSON. */
export const nanoUsdOf = (usd: number): number => Math.round(usd * NANO_PER_USD)

/** "$0.10", "$12.50", "$0.000123": for sentences; at least two decimals, never an exponent. */
export function formatUsd(nanoUsd: number): string {
  const [whole = '0', fraction = ''] = formatPrice(
    BigInt(Math.max(0, nanoUsd)) * BigInt(ATTO_PER_NANO),
  ).split('.')
  return `$${whole}.${fraction.padEnd(2, '0')}`
}
