import type { Label, Settlement } from '../core/generation.ts'
import { completionTokens, promptTokens } from '../core/usage.ts'
import type { Bound } from '../db/hot-statement.ts'
import type { generations } from '../db/tables.ts'
import { amount, brief, count } from './brief.ts'
import { outboxText } from './outbox.ts'
import { type ChargedScopes, valuesOf } from './row-values.ts'
import type { Summed } from './summed.ts'

/** A row as it is read. */
export type GenerationRow = typeof generations.$inferSelect

/** A row on its way into the table: what sums take of it, and its values in the order of `ROW_COLUMNS`. */
export interface NewRow extends Summed {
  readonly id: string
  readonly origin: string
  readonly title: string
  values: Bound[]
  /** Filled in by the commit, which knows the tables. */
  userId: string
  /** What the outbox gets of it, as JSON; null: no destination takes it. */
  readonly outbox: string | null
  /** The commit replaces them by those that they are summed by. */
  labels: readonly Label[] | null
}

/** The row of a settlement. Throws a `RangeError` for an amount that is not an integer of nano-dollars. */
export function rowOf(settlement: Settlement, charged: ChargedScopes | null): NewRow {
  const { usage } = settlement
  const row: NewRow = {
    id: settlement.generationId,
    startedAt: settlement.startedAt,
    workspaceId: settlement.workspaceId,
    keyHash: settlement.keyHash,
    userId: '',
    model: settlement.modelId,
    providerSlug: settlement.providerSlug,
    providerName: settlement.providerName,
    endpointId: settlement.endpointId,
    isByok: settlement.isByok,
    isFailed: settlement.finishReason === 'error',
    promptTokens: count(promptTokens(usage)),
    completionTokens: count(completionTokens(usage)),
    reasoningTokens: count(usage.reasoningTokens),
    cachedTokens: count(usage.cacheReadTokens),
    costNanoUsd: amount(settlement.costNanoUsd),
    chargedScopes: charged === null ? null : charged.list,
    labels: settlement.labels === undefined ? null : briefLabels(settlement.labels),
    origin: brief(settlement.origin),
    title: brief(settlement.title),
    outbox: outboxText(settlement),
    values: [],
  }
  row.values = valuesOf(settlement, row, charged)
  return row
}

export const briefLabels = (labels: readonly Label[]): readonly Label[] =>
  labels.map(([name, value]) => [name, brief(value)])
