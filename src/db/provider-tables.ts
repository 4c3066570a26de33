/** Entries of providers, prices and model overrides that operators store. */
import { Type } from '@sinclair/typebox'
import { index, json, serial, table, text, timestamp, uniqueIndex } from './columns.ts'
import * as field from './fields.ts'
import { flag, shownUuid } from './kinds.ts'

const entryFields = {
  id: field.given(text().primaryKey(), shownUuid()),
  slug: { ...field.given(text().notNull(), Type.String()), audited: true },
  /** The complete entry with its secrets, as one sealed JSON text. */
  sealed_entry: field.hidden(text().notNull()),
  disabled: field.withDefault(flag('Nothing is sent to it; default false.'), false),
  created_at: field.createdInstant(),
  updated_at: field.updatedInstant(),
}

/** Providers that the operator describes by the API: entries of the form of `providers:` in the settings. */
export const providerEntries = table('provider_entries', field.columnsOf(entryFields), (t) => [
  uniqueIndex('provider_entries_slug').on(t.slug),
])
export const storedEntry = field.resourceOf(
  'provider',
  providerEntries.slug,
  providerEntries,
  entryFields,
  'stored entry of a provider',
)
export type EntryRow = typeof providerEntries.$inferSelect

/** Prices of callable endpoints and when they began: a row for each price that differs from the one before. */
export const priceHistory = table(
  'price_history',
  {
    id: serial(),
    /** `<provider slug>/<model id>` */
    endpoint_id: text().notNull(),
    provider: text().notNull(),
    model: text().notNull(),
    /** The API's buckets, USD per unit as plain decimals; null: the price is unknown. */
    pricing: json<Record<string, unknown> | null>(),
    valid_from: timestamp().notNull(),
  },
  (t) => [
    index('price_history_model').on(t.model, t.id),
    index('price_history_endpoint').on(t.endpoint_id, t.id),
  ],
)

/** Overrides of model metadata by the API: entries of the form of `models:` in the settings. */
export const modelOverrides = table(
  'model_overrides',
  {
    /** UUID */
    id: text().primaryKey(),
    /** As the operator wrote it. */
    model: text().notNull(),
    /** '' for all that offer it. */
    provider: text().notNull(),
    entry: json<Record<string, unknown>>().notNull(),
    created_at: field.createdAt(),
    updated_at: timestamp(),
  },
  (t) => [uniqueIndex('model_overrides_place').on(t.model, t.provider)],
)
