/** Prices of another source, in the shape of genai-prices' `data_slim.json`: USD per million tokens. */
import { isObject } from '../../src/core/json.ts'

/** One price that is in force at some time or for some length of prompt. */
export interface OtherPrice {
  readonly prompt: number | null
  readonly completion: number | null
  readonly cacheRead: number | null
  /** `usual`, or the condition of the price (a time, a longer prompt). */
  readonly when: string
}

export interface OtherModel {
  readonly id: string
  /** Whether the rule that matched names this model, not a family. */
  readonly isExact: boolean
  readonly prices: readonly OtherPrice[]
}

export interface OtherSource {
  /** The model that the source has for `upstreamId` at its provider. */
  find(provider: string, upstreamId: string): OtherModel | undefined
}

export function openSource(file: unknown): OtherSource {
  if (!Array.isArray(file)) throw new Error('the second source is not a list of providers')
  const providers = new Map(
    file.filter(isObject).map((provider) => [String(provider['id']), listOf(provider['models'])]),
  )
  return {
    find(provider, upstreamId) {
      const name = upstreamId.toLowerCase()
      const models = providers.get(provider) ?? []
      const named = models.find((model) => matches(model['match'], name, true))
      const found = named ?? models.find((model) => matches(model['match'], name, false))
      return found === undefined
        ? undefined
        : { id: String(found['id']), isExact: named !== undefined, prices: pricesOf(found['prices']) }
    },
  }
}

const listOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : []

function matches(rule: unknown, name: string, isExact: boolean): boolean {
  if (!isObject(rule)) return false
  const is = (key: string, test: (word: string) => boolean): boolean =>
    typeof rule[key] === 'string' && test(rule[key].toLowerCase())
  if (listOf(rule['or']).some((one) => matches(one, name, isExact))) return true
  const all = listOf(rule['and'])
  if (all.length > 0 && all.every((one) => matches(one, name, isExact))) return true
  if (is('equals', (word) => word === name)) return true
  if (isExact) return false
  return (
    is('starts_with', (word) => name.startsWith(word)) ||
    is('ends_with', (word) => name.endsWith(word)) ||
    is('contains', (word) => name.includes(word)) ||
    (typeof rule['regex'] === 'string' && new RegExp(rule['regex'], 'i').test(name))
  )
}

function pricesOf(written: unknown): OtherPrice[] {
  if (isObject(written)) return tiersOf(written, 'usual')
  // The last one without a time, or with the latest, is in force.
  return listOf(written)
    .toReversed()
    .flatMap(({ prices, constraint }) =>
      isObject(prices) ? tiersOf(prices, isObject(constraint) ? constraintText(constraint) : 'before') : [],
    )
}

const constraintText = (constraint: Record<string, unknown>): string =>
  Object.entries(constraint)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

function tiersOf(prices: Record<string, unknown>, when: string): OtherPrice[] {
  const starts = new Set(
    Object.values(prices).flatMap((price) =>
      isObject(price) ? listOf(price['tiers']).map(({ start }) => Number(start)) : [],
    ),
  )
  const at = (start: number): OtherPrice => ({
    prompt: priceAt(prices['input_mtok'], start),
    completion: priceAt(prices['output_mtok'], start),
    cacheRead: priceAt(prices['cache_read_mtok'], start),
    when: start === 0 ? when : `above ${start} tokens`,
  })
  return [at(0), ...[...starts].map(at)]
}

function priceAt(price: unknown, start: number): number | null {
  if (typeof price === 'number') return price
  if (!isObject(price)) return null
  const tier = listOf(price['tiers']).find((one) => Number(one['start']) === start)
  const found = tier?.['price'] ?? price['base']
  return typeof found === 'number' ? found : null
}
