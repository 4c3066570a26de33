import { setImmediate } from 'node:timers/promises'
import { and, asc, eq, inArray, lte, max } from 'drizzle-orm'
import type { EndpointRecord, ModelDirectory } from '../core/snapshot.ts'
import type { Database } from '../db/database.ts'
import { priceHistory } from '../db/tables.ts'
import { pricingView } from './view.ts'

/** What one model cost at one provider, oldest first. */
export interface EndpointPrices {
  provider: string
  prices: {
    /** ISO 8601 */
    from: string
    /** Null: it had no price. */
    pricing: Record<string, unknown> | null
  }[]
}

/**
 * Records the price of every endpoint that can be called now and whose price is not that of its last row. Runs on this
 * thread, a slice of some milliseconds at a time. Two runs must not overlap.
 */
export async function recordPrices({ db }: Database, models: ModelDirectory, now: number): Promise<void> {
  const newest = db
    .select({ id: max(priceHistory.id) })
    .from(priceHistory)
    .groupBy(priceHistory.endpoint_id)
  const last = await db
    .select({ endpoint: priceHistory.endpoint_id, pricing: priceHistory.pricing })
    .from(priceHistory)
    .where(inArray(priceHistory.id, newest))
  const known = new Map(last.map(({ endpoint, pricing }) => [endpoint, JSON.stringify(pricing)]))
  const all = models.list().flatMap(({ endpoints }) => endpoints)
  for (let from = 0; from < all.length; from += SLICE) {
    if (from > 0) await setImmediate()
    const rows = all
      .slice(from, from + SLICE)
      .map((endpoint) => ({
        endpoint_id: endpoint.id,
        provider: endpoint.providerSlug,
        model: endpoint.modelId,
        pricing: priceOf(endpoint),
        valid_from: new Date(now),
      }))
      .filter(({ endpoint_id, pricing }) => known.get(endpoint_id) !== JSON.stringify(pricing))
    if (rows.length > 0) await db.insert(priceHistory).values(rows)
  }
}

/** Records with one run at a time: a change during a run is recorded by one more. */
export function createPriceRecorder(
  record: () => Promise<void>,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  let running: Promise<void> | null = null
  let isStale = false
  const run = async (): Promise<void> => {
    while (isStale) {
      isStale = false
      try {
        await record()
      } catch (error) {
        onFailure(error)
      }
    }
    running = null
  }
  return () => {
    isStale = true
    running ??= run()
    return running
  }
}

/** Endpoints at a time; their rows are one statement, below SQLite's bound on parameters. */
const SLICE = 300

const priceOf = ({ pricing }: EndpointRecord): Record<string, unknown> | null =>
  pricing === null ? null : { ...pricingView(pricing) }

/** Price history by provider; empty for a model that was never callable. With `at`, only the price at that time. */
export async function pricesOfModel(
  database: Database,
  modelId: string,
  at: Date | null = null,
): Promise<EndpointPrices[]> {
  const rows = await database.db
    .select()
    .from(priceHistory)
    .where(and(eq(priceHistory.model, modelId), at === null ? undefined : lte(priceHistory.valid_from, at)))
    .orderBy(asc(priceHistory.id))
  const byProvider = new Map<string, EndpointPrices['prices'][number][]>()
  for (const { provider, pricing, valid_from } of rows) {
    const price = { from: valid_from.toISOString(), pricing }
    const prices = byProvider.get(provider)
    if (prices === undefined || at !== null) byProvider.set(provider, [price])
    else prices.push(price)
  }
  return [...byProvider].map(([provider, prices]) => ({ provider, prices }))
}
