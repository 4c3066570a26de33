import type { MetricName } from './list.ts'
import type { Series } from './series.ts'
import { METRIC_NAMES, type MetricsStore } from './store.ts'
import { type TextFormat, writeText } from './text.ts'

/** Adds to a gauge, or to a counter that another part of the gateway counts. Of money: nano-dollars. */
export type Add = (name: MetricName, values: readonly string[], amount: number) => void

export interface ScrapeOptions {
  readonly store: MetricsStore
  /** Reads everything that is not observed as it happens. */
  collect(add: Add): Promise<void>
}

/** Returns the current text. Scrapes that arrive while one is written share its text. */
export function createScrape(options: ScrapeOptions): (format: TextFormat) => Promise<string> {
  const writing = new Map<TextFormat, Promise<string>>()
  return (format) => {
    const known = writing.get(format)
    if (known !== undefined) return known
    const text = scrape(options, format).finally(() => writing.delete(format))
    writing.set(format, text)
    return text
  }
}

async function scrape({ store, collect }: ScrapeOptions, format: TextFormat): Promise<string> {
  const fresh = new Map<MetricName, Series>()
  await collect((name, values, amount) => {
    const series = fresh.get(name) ?? store.fresh(name)
    fresh.set(name, series)
    series.add(series.place(values), amount)
  })
  const all = METRIC_NAMES.map((name) => [name, fresh.get(name) ?? store.series(name)] as const)
  return writeText(all, format)
}
