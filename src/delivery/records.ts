import { inArray } from 'drizzle-orm'
import type { ExportNote } from '../core/export-note.ts'
import type { FilterRules } from '../db/filter-rules.ts'
import { apiKeys, generations, workspaces } from '../db/tables.ts'
import type { GenerationRow } from '../ledger/row.ts'
import { withContents } from './contents-of.ts'
import type { Draft, ExportStores, Outcome } from './export-stores.ts'
import type { OutboxEntry } from './outbox-reader.ts'
import { type RecordNames, type RecordParts, recordOf } from './record-of.ts'
import { factsOf, withTexts } from './rule-facts.ts'
import { type CompiledRules, compileRules, EVERYTHING } from './rules.ts'
import { isInSample } from './sampling.ts'
import { traceOf } from './trace-of.ts'

/** What a destination may have, of the settings that its workspace gave it. */
export interface ExportSettings extends RecordParts {
  /** Null: generations of all workspaces. */
  readonly workspaceId: string | null
  readonly samplingRate: number
  /** Null: all keys. */
  readonly apiKeyHashes: readonly string[] | null
  readonly regions: readonly string[]
  readonly filterRules: FilterRules | null
}

/** The records of these entries for one destination, in the same order. */
export async function recordsOf(
  entries: readonly OutboxEntry[],
  destination: ExportSettings,
  stores: ExportStores,
): Promise<Outcome[]> {
  const rules = rulesOf(destination, stores)
  const drafts = draftsOf(entries, { destination, rules, stores })
  if (destination.privacyMode) return drafts.map(({ outcome }) => outcome)
  const outcomes = await withContents(
    drafts.map(({ outcome }) => outcome),
    entries,
    stores,
  )
  return rules.needsContent ? outcomes.map((outcome, at) => selected(outcome, drafts[at], rules)) : outcomes
}

function rulesOf({ filterRules }: ExportSettings, { rules }: ExportStores): CompiledRules {
  if (filterRules === null) return EVERYTHING
  const compiled = rules.get(filterRules) ?? compileRules(filterRules)
  rules.set(filterRules, compiled)
  return compiled
}

const EXCLUDED: Draft = { outcome: null, facts: null }
const GONE: Draft = { outcome: 'gone', facts: null }

interface Drafting {
  readonly destination: ExportSettings
  readonly rules: CompiledRules
  readonly stores: ExportStores
}

/** Makes what was not made for another destination with the same settings. */
function draftsOf(entries: readonly OutboxEntry[], { destination, rules, stores }: Drafting): Draft[] {
  const { drafts } = stores
  const { workspaceId } = destination
  const key = keyOf(destination)
  const isOwn = (entry: OutboxEntry): boolean => workspaceId === null || entry.workspaceId === workspaceId
  const missing = entries.filter((entry) => isOwn(entry) && drafts.get(entry)?.has(key) !== true)
  const read = missing.length === 0 ? null : readAll(missing, stores)
  return entries.map((entry) => {
    if (!isOwn(entry)) return EXCLUDED
    const made = drafts.get(entry) ?? new Map<string, Draft>()
    const known = made.get(key)
    if (known !== undefined) return known
    const row = read?.rows.get(entry.generationId)
    if (read === null || row === undefined) return GONE
    const draft = draftOf(row, entry.note, { destination, rules, read })
    made.set(key, draft)
    drafts.set(entry, made)
    return draft
  })
}

/** Applies rules that read the content. */
function selected(outcome: Outcome, draft: Draft | undefined, rules: CompiledRules): Outcome {
  const facts = draft?.facts ?? null
  if (typeof outcome !== 'object' || outcome === null || facts === null) return outcome
  const all = outcome.content === null ? facts : withTexts(facts, outcome.content)
  return rules.takes(all) ? outcome : null
}

/** Everything that a draft depends on, without the id and the config of the destination. */
const keyOf = (settings: ExportSettings): string =>
  JSON.stringify([
    settings.workspaceId,
    settings.privacyMode,
    settings.samplingRate,
    settings.apiKeyHashes,
    settings.regions,
    settings.filterRules,
    settings.cost,
    settings.identity,
    settings.requestContext,
  ])

interface Read extends RecordNames {
  readonly rows: ReadonlyMap<string, GenerationRow>
}

function readAll(entries: readonly OutboxEntry[], { ledger: { sync }, readRows }: ExportStores): Read {
  const ids = entries.map(({ generationId }) => generationId)
  const byId = readRows(ids)
  const rows = ids.flatMap((id) => byId.get(id) ?? [])
  const ofWorkspaces = [...new Set(rows.map((row) => row.workspace_id))]
  const hashes = [...new Set(rows.map((row) => row.key_hash))]
  const names = sync
    .select({ id: workspaces.id, name: workspaces.name })
    .from(workspaces)
    .where(inArray(workspaces.id, ofWorkspaces))
    .all()
  const keys = sync
    .select({ hash: apiKeys.hash, name: apiKeys.name })
    .from(apiKeys)
    .where(inArray(apiKeys.hash, hashes))
    .all()
  const sourceIds = rows.flatMap(({ response_cache_source_id: id }) => (id === null ? [] : [id]))
  const sources =
    sourceIds.length === 0
      ? []
      : sync
          .select({ id: generations.id, request_id: generations.request_id, trace: generations.trace })
          .from(generations)
          .where(inArray(generations.id, sourceIds))
          .all()
  return {
    rows: byId,
    workspaceNames: new Map(names.map(({ id, name }) => [id, name])),
    keyNames: new Map(keys.map(({ hash, name }) => [hash, name])),
    sourceTraces: new Map(sources.map((source) => [source.id, traceOf(source, null).traceId])),
  }
}

interface Selecting extends Omit<Drafting, 'stores'> {
  readonly read: RecordNames
}

function draftOf(
  row: GenerationRow,
  note: ExportNote | null,
  { destination, rules, read }: Selecting,
): Draft {
  const { apiKeyHashes, regions, samplingRate, privacyMode } = destination
  if (apiKeyHashes !== null && !apiKeyHashes.includes(row.key_hash)) return EXCLUDED
  if (!regions.includes(row.data_region)) return EXCLUDED
  const trace = traceOf(row, note)
  if (!isInSample({ sessionId: row.session_id, traceId: trace.traceId }, samplingRate)) return EXCLUDED
  const facts = factsOf(row, read.keyNames.get(row.key_hash) ?? '')
  const isUndecided = rules.needsContent && !privacyMode
  if (!isUndecided && !rules.takes(facts)) return EXCLUDED
  return { outcome: recordOf(row, note, trace, destination, read), facts: isUndecided ? facts : null }
}
