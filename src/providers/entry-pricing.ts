import { type Static, Type } from '@sinclair/typebox'
import {
  type Pricing,
  parsePrices,
  priceFields,
  repriced,
  SERVICE_TIERS,
  type ServiceTier,
} from '../core/pricing.ts'
import type { ConfigProblem } from '../core/problem.ts'

/** Prices in the settings file, of `providers:` entries and of `models:` overrides. */

// Each `description` completes the sentence "<place> must be …".
export const price = Type.String({ description: 'USD per unit as a decimal in quotes, such as "0.0000025"' })
const mapping = { additionalProperties: false, description: 'a mapping' }
const prices = priceFields(price)
const differing = Type.Partial(Type.Object(prices), mapping)
const timeOfDay = Type.String({
  pattern: '^(?:[01]\\d|2[0-3]):[0-5]\\d$',
  description: 'a time in UTC in quotes, such as "16:30"',
})

export const pricing = Type.Partial(
  Type.Object({
    ...prices,
    service_tiers: Type.Partial(
      Type.Object({ flex: differing, priority: differing, batch: differing }),
      mapping,
    ),
    hours: Type.Array(Type.Object({ from: timeOfDay, until: timeOfDay, prices: differing }, mapping), {
      minItems: 1,
      maxItems: 24,
      description: 'a list of 1 to 24 mappings with from, until and prices',
    }),
  }),
  mapping,
)
type WrittenPricing = Static<typeof pricing>

/**
 * Reads prices as an operator wrote them. A bucket without a price is never silently free: `completion` falls back to
 * `prompt`, and without `prompt` there must be a price per request, image, second or character. Prices of service tiers
 * and of hours replace the others one by one.
 */
export function readPricing(
  written: WrittenPricing,
  path: string,
  problems: ConfigProblem[],
): Pricing | null {
  const prices = readPrices(written, path, problems)
  const { request, image, imageOutput, audioSecond, inputCharacter } = prices
  const perUnit = [request, image, imageOutput, audioSecond, inputCharacter]
  const isPerUnit = perUnit.some((price) => price !== undefined)
  const prompt = prices.prompt ?? (isPerUnit ? 0n : undefined)
  if (prompt === undefined) {
    if (written.prompt === undefined) {
      problems.push({ path: `${path}.prompt`, message: 'is missing; write "0" for what costs nothing' })
    }
    return null
  }
  const usual: Pricing = {
    ...prices,
    prompt,
    completion: prices.completion ?? prompt,
    request: request ?? 0n,
  }
  return {
    ...usual,
    ...(written.service_tiers && { serviceTiers: readTiers(usual, written.service_tiers, path, problems) }),
    ...(written.hours && { hours: readHours(usual, written.hours, path, problems) }),
  }
}

function readPrices(
  written: Parameters<typeof parsePrices>[0],
  path: string,
  problems: ConfigProblem[],
): ReturnType<typeof parsePrices> {
  return parsePrices(written, (name, error) => {
    const message = error instanceof RangeError ? error.message : 'is not a price'
    problems.push({ path: `${path}.${name}`, message })
  })
}

function readTiers(
  usual: Pricing,
  written: NonNullable<WrittenPricing['service_tiers']>,
  path: string,
  problems: ConfigProblem[],
): NonNullable<Pricing['serviceTiers']> {
  const tiers: Partial<Record<ServiceTier, Pricing>> = {}
  for (const tier of SERVICE_TIERS) {
    const differing = written[tier]
    if (differing === undefined) continue
    tiers[tier] = repriced(usual, readPrices(differing, `${path}.service_tiers.${tier}`, problems))
  }
  return tiers
}

function readHours(
  usual: Pricing,
  written: NonNullable<WrittenPricing['hours']>,
  path: string,
  problems: ConfigProblem[],
): NonNullable<Pricing['hours']> {
  return written.map(({ from, until, prices }, index) => {
    const place = `${path}.hours[${index}]`
    if (from === until) problems.push({ path: place, message: 'from and until must differ' })
    const pricing = repriced(usual, readPrices(prices, `${place}.prices`, problems))
    return { from: minuteOf(from), until: minuteOf(until), pricing }
  })
}

/** `16:30` → 990 */
const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
