import { parsePrice } from '../core/money.ts'
import { compare } from './facts/document.ts'
import { mediansOf, type Priced, type PriceWarning } from './outliers.ts'
import type { Seed, SeedEndpoint, SeedPricing } from './seed.ts'

/** One model at one provider. */
export interface DiffRow {
  readonly provider: string
  readonly model: string
}

interface PriceChange extends DiffRow {
  /** USD per token as plain decimals; null: unknown. */
  readonly before: SeedPricing | null
  readonly after: SeedPricing | null
}

/** What another catalogue would change, in order of model and provider. */
export interface CatalogDiff {
  readonly added: readonly DiffRow[]
  readonly removed: readonly DiffRow[]
  readonly priceChanges: readonly PriceChange[]
  /** Limits, modalities, parameters or names of models that are in both. */
  readonly otherChanges: readonly DiffRow[]
  /** Of prices that are new or changed. */
  readonly warnings: readonly PriceWarning[]
  /** How many endpoints there are now. */
  readonly endpointsBefore: number
}

interface Entry extends DiffRow {
  readonly pricing: SeedPricing | null
  /** All but the price, for comparing. */
  readonly rest: string
  readonly kind: string
}

export function diffOf(before: Seed, after: Seed): CatalogDiff {
  const [old, fresh] = [entriesOf(before), entriesOf(after)]
  const added: DiffRow[] = []
  const priceChanges: PriceChange[] = []
  const otherChanges: DiffRow[] = []
  const repriced: Entry[] = []
  for (const [key, entry] of fresh) {
    const known = old.get(key)
    const row = { provider: entry.provider, model: entry.model }
    if (known === undefined) added.push(row)
    else if (!isSame(known.pricing, entry.pricing)) {
      priceChanges.push({ ...row, before: known.pricing, after: entry.pricing })
    } else {
      if (known.rest !== entry.rest) otherChanges.push(row)
      continue
    }
    repriced.push(entry)
  }
  const removed = [...old].flatMap(([key, { provider, model }]) =>
    fresh.has(key) ? [] : [{ provider, model }],
  )
  // Compared with the prices in use: all prices of a document may be wrong.
  const medians = mediansOf([...old.values()].flatMap(pricedOf))
  const warnings = repriced.flatMap(pricedOf).flatMap((priced) => medians.warningsOf(priced))
  return { added, removed, priceChanges, otherChanges, warnings, endpointsBefore: old.size }
}

/** The prices of a catalogue, for comparing others with them. */
export const pricesOf = (seed: Seed): Priced[] => [...entriesOf(seed).values()].flatMap(pricedOf)

export const isUnchanged = (diff: CatalogDiff): boolean =>
  diff.added.length + diff.removed.length + diff.priceChanges.length + diff.otherChanges.length === 0

function entriesOf(seed: Seed): Map<string, Entry> {
  const entries: Entry[] = []
  for (const [provider, rows] of Object.entries(seed.endpoints)) {
    for (const row of rows) {
      const entry = entryOf(seed, provider, row)
      if (entry !== null) entries.push(entry)
    }
  }
  entries.sort((left, right) => compare(left.model, right.model) || compare(left.provider, right.provider))
  return new Map(entries.map((entry) => [`${entry.provider}/${entry.model}`, entry]))
}

function entryOf(seed: Seed, provider: string, row: SeedEndpoint): Entry | null {
  const [index, upstreamId, context, output, ins, outs, parameters, price, quantization, dialect, profiles] =
    row
  const model = seed.models[index]
  if (model === undefined) return null
  const rest = [upstreamId, context, output, seed.modalities[ins], seed.modalities[outs]]
  return {
    provider,
    model: model.id,
    pricing: price === null ? null : (seed.pricings[price] ?? null),
    rest: JSON.stringify([
      ...rest,
      seed.parameters[parameters],
      quantization,
      dialect,
      model,
      ...profilePrices(seed, profiles),
    ]),
    kind: seed.modalities[outs]?.toSorted().join('+') ?? '',
  }
}

/** The prices of regional names are listed with that of the plain name. */
const profilePrices = (seed: Seed, profiles: SeedEndpoint[10] = {}): unknown[] =>
  Object.entries(profiles).map(([prefix, price]) => [prefix, price === null ? null : seed.pricings[price]])

const pricedOf = ({ provider, model, kind, pricing }: Entry): Priced[] =>
  pricing === null
    ? []
    : [
        {
          provider,
          model,
          kind,
          prompt: parsePrice(pricing.prompt),
          completion: parsePrice(pricing.completion),
        },
      ]

const isSame = (left: SeedPricing | null, right: SeedPricing | null): boolean => Bun.deepEquals(left, right)
