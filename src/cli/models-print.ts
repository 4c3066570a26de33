import { isRecord } from './client.ts'
import { table } from './terminal.ts'

type Answer = Readonly<Record<string, unknown>>

/** The most lines per kind of change; `--json` has all. */
const MOST_LINES = 40

/** Prints the changes of a refresh. */
export function changeLines(answer: Answer): string[] {
  const head = `Facts of ${answer['facts_at']} from ${answer['source']}`
  if (answer['unchanged'] === true) return [`${head}: nothing differs from what is in use`]
  const rows = (name: string, line: (row: Answer) => string): string[] => {
    const all = rowsOf(answer, name)
    const rest = all.length - MOST_LINES
    return [...all.slice(0, MOST_LINES).map(line), ...(rest > 0 ? [`  … and ${rest} more (--json)`] : [])]
  }
  return [
    head,
    ...rows('added', (row) => `+ ${placeOf(row)}`),
    ...rows('removed', (row) => `- ${placeOf(row)}`),
    ...rows('price_changes', (row) => `$ ${placeOf(row)}: ${priceChange(row)}`),
    ...rows('warnings', (row) => `! ${row['message']}`),
    summaryOf(answer),
  ]
}

export const summaryOf = (answer: Answer): string =>
  `${countOf(answer, 'added')} added, ${countOf(answer, 'removed')} removed, ` +
  `${countOf(answer, 'price_changes')} prices changed, ${countOf(answer, 'other_changes')} changed otherwise, ` +
  `${countOf(answer, 'warnings')} warnings`

export const countOf = (answer: Answer, name: string): number | null => {
  const rows = answer[name]
  return Array.isArray(rows) ? rows.length : null
}

/** A model's price history, one line per price. */
export function priceHistoryTable(body: unknown): string {
  const data = isRecord(body) && isRecord(body['data']) ? body['data'] : {}
  const rows = rowsOf(data, 'providers').flatMap((one) =>
    rowsOf(one, 'prices').map((price) => [
      String(one['provider']),
      String(price['from']),
      isRecord(price['pricing']) ? pricesOf(price['pricing']) : 'no price',
    ]),
  )
  if (rows.length === 0) return 'No price was kept: the model could not be called here yet'
  return table(['PROVIDER', 'FROM', 'USD PER TOKEN'], rows)
}

const rowsOf = (answer: Answer, name: string): Answer[] => {
  const rows = answer[name]
  return Array.isArray(rows) ? rows.filter(isRecord) : []
}

const placeOf = (row: Answer): string => `${row['model']} at ${row['provider']}`

/** The buckets that differ: `prompt 0.000001 → 0.000002`. */
function priceChange({ before, after }: Answer): string {
  if (!isRecord(before)) return `unpriced → ${isRecord(after) ? pricesOf(after) : 'unpriced'}`
  if (!isRecord(after)) return `${pricesOf(before)} → unpriced`
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => `${name} ${shown(before[name])} → ${shown(after[name])}`)
    .join(', ')
}

const pricesOf = (pricing: Answer): string =>
  Object.entries(pricing)
    .filter(([, price]) => price !== '0')
    .map(([name, price]) => `${name} ${shown(price)}`)
    .join(', ') || 'free'

const shown = (price: unknown): string =>
  price === undefined ? 'none' : typeof price === 'string' ? price : JSON.stringify(price)
