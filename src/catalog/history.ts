import { and, asc, eq, inArray, lte, max } from 'drizzle-orm'
import type { EndpointRecord, ModelDirectory } from '../core/snapshot.ts'
import { type Database, transact } from '../db/database.ts'
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
 * Keeps the price of every endpoint that can be called now and whose price is not that of its last row. Runs on this
 * thread, in one transaction: not for the hot path. Answers how many rows were written.
 */
export function recordPrices(database: Database, models: ModelDirectory, now: number): number {
  const newest = database.sync
    .select({ id: max(priceHistory.id) })
    .from(priceHistory)
    .groupBy(priceHistory.endpoint_id)
  const known = new Map(
    database.sync
      .select({ endpoint: priceHistory.endpoint_id, pricing: priceHistory.pricing })
      .from(priceHistory)
      .where(inArray(priceHistory.id, newest))
      .all()
      .map(({ endpoint, pricing }) => [endpoint, JSON.stringify(pricing)]),
  )
  const changed = models
    .list()
    .flatMap(({ endpoints }) => endpoints.map((endpoint) => ({ endpoint, pricing: priceOf(endpoint) })))
    .filter(({ endpoint, pricing }) => known.get(endpoint.id) !== JSON.stringify(pricing))
  if (changed.length === 0) return 0
  const rows = changed.map(({ endpoint, pricing }) => ({
    endpoint_id: endpoint.id,
    provider: endpoint.providerSlug,
    model: endpoint.modelId,
    pricing,
    valid_from: new Date(now),
  }))
  transact(database.file, () => {
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      database.sync
        .insert(priceHistory)
        .values(rows.slice(at, at + ROWS_AT_ONCE))
        .run()
    }
  })
  return changed.length
}

/** Below SQLite's bound on parameters, and few enough to be built at once. */
const ROWS_AT_ONCE = 500

const priceOf = ({ pricing }: EndpointRecord): Record<string, unknown> | null =>
  pricing === null ? null : { ...pricingView(pricing) }

/** By provider; empty for a model that could never be called. With `at` the price that held then, where there was one. */
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
