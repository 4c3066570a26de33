import type { ContentFilter, ContentFilters } from '../core/content-filter.ts'
import type { JsonObject } from '../core/events.ts'
import { type BuiltinEntry, compileFilters, type PatternEntry } from '../filters/compile.ts'

interface Stored {
  content_filter_builtins: readonly JsonObject[] | null
  content_filters: readonly JsonObject[] | null
}

/** The filters of a guardrail's row; undefined: it has none. They are compiled when a request first needs them. */
export function filtersOf({
  content_filter_builtins: builtins,
  content_filters: patterns,
}: Stored): ContentFilters | undefined {
  if (!builtins?.length && !patterns?.length) return undefined
  return compileFilters((builtins ?? []).map(builtinEntry), (patterns ?? []).map(patternEntry))
}

const builtinEntry = ({ slug, action, label, scan_scope: scope }: JsonObject): BuiltinEntry => ({
  slug: String(slug),
  action: actionOf(action),
  ...labelOf(label),
  ...(scope === 'user_only' && { scanScope: scope }),
})

const patternEntry = ({ pattern, action, label }: JsonObject): PatternEntry => ({
  pattern: String(pattern),
  action: actionOf(action),
  ...labelOf(label),
})

/** A word that is not known here forbids more than it lets pass. */
const actionOf = (action: unknown): ContentFilter['action'] =>
  action === 'redact' || action === 'flag' ? action : 'block'

const labelOf = (label: unknown): { label?: string } => (typeof label === 'string' ? { label } : {})
