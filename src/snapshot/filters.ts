import type { ContentFilter, ContentFilters } from '../core/content-filter.ts'
import type { JsonObject } from '../core/events.ts'
import type { Database } from '../db/database.ts'
import type { Builtins } from '../filters/builtins/index.ts'
import { type BuiltinEntry, compileFilters, type Direction, type PatternEntry } from '../filters/compile.ts'

interface Stored {
  id: string
  content_filter_builtins: readonly JsonObject[] | null
  content_filters: readonly JsonObject[] | null
}

/** What was compiled and learned for the last Snapshot, by what is stored. */
const kept = new WeakMap<Database, ReadonlyMap<string, ContentFilters>>()

/**
 * The filters of guardrails that have any. They are compiled when a request first needs them, and stay so from one
 * Snapshot to the next as long as they are stored as they were.
 */
export function filtersById(
  rows: readonly Stored[],
  database: Database,
  known: Builtins | undefined,
): ReadonlyMap<string, ContentFilters> {
  const former = kept.get(database)
  const current = new Map<string, ContentFilters>()
  const byId = new Map<string, ContentFilters>()
  for (const { id, content_filter_builtins: builtins, content_filters: patterns } of rows) {
    if (!builtins?.length && !patterns?.length) continue
    const stored = JSON.stringify([id, builtins, patterns])
    const filters =
      former?.get(stored) ??
      compileFilters((builtins ?? []).map(builtinEntry), (patterns ?? []).map(patternEntry), known)
    current.set(stored, filters)
    byId.set(id, filters)
  }
  kept.set(database, current)
  return byId
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

/** What was stored before there was a choice holds on what is asked; an unknown word holds everywhere. */
const directionOf = (to: unknown): Direction =>
  to === undefined || to === null || to === 'input' ? 'input' : to === 'output' ? 'output' : 'both'

const labelOf = (label: unknown): { label?: string } => (typeof label === 'string' ? { label } : {})
