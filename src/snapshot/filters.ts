import type { ContentFilter, ContentFilters } from '../core/content-filter.ts'
import type { JsonObject } from '../core/events.ts'
import type { guardrails } from '../db/tables.ts'
import type { Builtins } from '../filters/builtins/index.ts'
import { type BuiltinEntry, compileFilters, type Direction, type PatternEntry } from '../filters/compile.ts'

type Row = typeof guardrails.$inferSelect

/** Undefined for a guardrail that has none. They are compiled when a request first needs them. */
export function compiledFilters(
  row: Row,
  former: { readonly row: Row; readonly filters: ContentFilters | undefined } | undefined,
  known: Builtins | undefined,
): ContentFilters | undefined {
  const { content_filter_builtins: builtins, content_filters: patterns } = row
  if (!builtins?.length && !patterns?.length) return undefined
  const isSame =
    former !== undefined &&
    Bun.deepEquals(former.row.content_filter_builtins, builtins) &&
    Bun.deepEquals(former.row.content_filters, patterns)
  if (isSame) return former.filters
  return compileFilters((builtins ?? []).map(builtinEntry), (patterns ?? []).map(patternEntry), known)
}

const builtinEntry = ({
  slug,
  action,
  label,
  scan_scope: scope,
  apply_to: to,
}: JsonObject): BuiltinEntry => ({
  slug: String(slug),
  action: actionOf(action),
  appliesTo: directionOf(to),
  ...labelOf(label),
  ...(scope === 'user_only' && { scanScope: scope }),
})

const patternEntry = ({ pattern, action, label, apply_to: to }: JsonObject): PatternEntry => ({
  pattern: String(pattern),
  action: actionOf(action),
  appliesTo: directionOf(to),
  ...labelOf(label),
})

/** A word that is not known here forbids more than it lets pass. */
const actionOf = (action: unknown): ContentFilter['action'] =>
  action === 'redact' || action === 'flag' ? action : 'block'

/** Filters stored before the field existed apply to input; an unknown value applies to input and output. */
const directionOf = (to: unknown): Direction =>
  to === undefined || to === null || to === 'input' ? 'input' : to === 'output' ? 'output' : 'both'

const labelOf = (label: unknown): { label?: string } => (typeof label === 'string' ? { label } : {})
