import { formatPrice, type Price } from '../core/money.ts'

/** A price with the keys of its comparison. */
export interface Priced {
  readonly provider: string
  readonly model: string
  /** The output modality (`text`, `embeddings` …): prices of one kind are compared. */
  readonly kind: string
  readonly prompt: Price
  readonly completion: Price
}

export interface PriceWarning {
  readonly provider: string
  readonly model: string
  readonly bucket: 'prompt' | 'completion'
  /** USD per token, plain decimals. */
  readonly price: string
  readonly median: string
  /** Whose median: the same model at other providers, or all models of the kind. */
  readonly of: 'model' | 'kind'
}

export interface Medians {
  /** What of a price is more than ten times off, in either direction. Free is not off. */
  warningsOf(priced: Priced): PriceWarning[]
}

const FACTOR = 10n
/** The median of a model is meaningful from three other offers on, that of a kind from five prices on. */
const OFFERS_OF_A_MODEL = 3
const PRICES_OF_A_KIND = 5
const BUCKETS = ['prompt', 'completion'] as const

/**
 * The median prices of a catalogue: of each model if others offer it, else of its kind. Models of one kind differ by more
 * than a factor of ten (a small one and the largest), so the kind is used only if no other offer of the model exists.
 */
export function mediansOf(catalog: Iterable<Priced>): Medians {
  const byModel = new Map<string, Priced[]>()
  const byKind = new Map<string, Priced[]>()
  for (const priced of catalog) {
    append(byModel, priced.model, priced)
    append(byKind, priced.kind, priced)
  }
  const kindMedians = new Map<string, Price | null>()
  const ofKind = (kind: string, bucket: (typeof BUCKETS)[number]): Price | null => {
    const key = `${kind} ${bucket}`
    const known = kindMedians.get(key)
    if (known !== undefined) return known
    const prices = (byKind.get(kind) ?? []).map((one) => one[bucket])
    const median = prices.length < PRICES_OF_A_KIND ? null : medianOf(prices)
    kindMedians.set(key, median)
    return median
  }
  return {
    warningsOf(priced) {
      const others = (byModel.get(priced.model) ?? []).filter(({ provider }) => provider !== priced.provider)
      const of = others.length >= OFFERS_OF_A_MODEL ? 'model' : 'kind'
      return BUCKETS.flatMap((bucket) => {
        const median =
          of === 'model' ? medianOf(others.map((one) => one[bucket])) : ofKind(priced.kind, bucket)
        const price = priced[bucket]
        if (median === null || !isOff(price, median)) return []
        const { provider, model } = priced
        return [{ provider, model, bucket, price: formatPrice(price), median: formatPrice(median), of }]
      })
    },
  }
}

const isOff = (price: Price, median: Price): boolean =>
  price > 0n && (price > median * FACTOR || price * FACTOR < median)

/** The median of prices above 0. */
function medianOf(prices: readonly Price[]): Price | null {
  const sorted = prices
    .filter((price) => price > 0n)
    .sort((left, right) => (left < right ? -1 : left > right ? 1 : 0))
  return sorted[sorted.length >> 1] ?? null
}

function append(map: Map<string, Priced[]>, key: string, priced: Priced): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [priced])
  else known.push(priced)
}

/** "openai/gpt-4o at openai: prompt 0.0025 USD a token is 1000 times the median of its kind, 0.0000025" */
export function warningText({ provider, model, bucket, price, median, of }: PriceWarning): string {
  const [high, low] = Number(price) > Number(median) ? [price, median] : [median, price]
  const times = Math.round(Number(high) / Number(low))
  const than = high === price ? 'times' : 'times below'
  const whose = of === 'model' ? 'other providers of it' : 'its kind'
  return `${model} at ${provider}: ${bucket} ${price} USD a token is ${times} ${than} the median of ${whose}, ${median}`
}
