import { inArray } from 'drizzle-orm'
import type { ExportNote } from '../core/export-note.ts'
import { ROUTES } from '../core/export-note.ts'
import { TAG_LABEL } from '../core/generation.ts'
import type { FilterRules } from '../db/filter-rules.ts'
import { apiKeys, generations, workspaces } from '../db/tables.ts'
import type { ExportCost, ExportRecord } from '../exporters/record.ts'
import type { GenerationRow } from '../ledger/row.ts'
import { attemptsOf, errorOf, truthOf } from './attempts-of.ts'
import { withContents } from './contents-of.ts'
import type { ExportStores, Outcome } from './export-stores.ts'
import type { OutboxEntry } from './outbox-reader.ts'
import { factsOf, withTexts } from './rule-facts.ts'
import { type CompiledRules, compileRules, type RuleFacts } from './rules.ts'
import { isInSample } from './sampling.ts'
import { traceOf } from './trace-of.ts'

/** What a destination may have, of the settings that its workspace gave it. */
export interface ExportSettings {
  /** Null: generations of all workspaces. */
  readonly workspaceId: string | null
  readonly privacyMode: boolean
  readonly samplingRate: number
  /** Null: all keys. */
  readonly apiKeyHashes: readonly string[] | null
  readonly regions: readonly string[]
  readonly filterRules: FilterRules | null
  /** Whether costs, the key and user, and the calling application are sent. */
  readonly cost: boolean
  readonly identity: boolean
  readonly requestContext: boolean
}

/** The records of these entries for one destination, in the same order. */
export async function recordsOf(
  entries: readonly OutboxEntry[],
  destination: ExportSettings,
  stores: ExportStores,
): Promise<Outcome[]> {
  const { workspaceId } = destination
  const own = entries.filter((entry) => workspaceId === null || entry.workspaceId === workspaceId)
  if (own.length === 0) return entries.map(() => null)
  const read = await readAll(own, stores)
  const rules = compileRules(destination.filterRules)
  const drafts = entries.map((entry): Draft => {
    if (workspaceId !== null && entry.workspaceId !== workspaceId) return EXCLUDED
    const row = read.rows.get(entry.generationId)
    return row === undefined ? GONE : draftOf(row, entry.note, { destination, rules, read })
  })
  if (destination.privacyMode) return drafts.map(({ outcome }) => outcome)
  const outcomes = await withContents(
    drafts.map(({ outcome }) => outcome),
    entries,
    stores,
  )
  return rules.needsContent ? outcomes.map((outcome, at) => selected(outcome, drafts[at], rules)) : outcomes
}

/** An outcome without content, and what rules on the content are tested on; null: they need not be. */
interface Draft {
  readonly outcome: Outcome
  readonly facts: RuleFacts | null
}

const EXCLUDED: Draft = { outcome: null, facts: null }
const GONE: Draft = { outcome: 'gone', facts: null }

/** Applies rules that read the content. */
function selected(outcome: Outcome, draft: Draft | undefined, rules: CompiledRules): Outcome {
  const facts = draft?.facts ?? null
  if (typeof outcome !== 'object' || outcome === null || facts === null) return outcome
  const all = outcome.content === null ? facts : withTexts(facts, outcome.content)
  return rules.takes(all) ? outcome : null
}

interface Read {
  readonly rows: ReadonlyMap<string, GenerationRow>
  /** By id and by hash. */
  readonly workspaceNames: ReadonlyMap<string, string>
  readonly keyNames: ReadonlyMap<string, string>
  /** Of the generations whose answers the response cache gave again. */
  readonly sourceTraces: ReadonlyMap<string, string>
}

async function readAll(
  entries: readonly OutboxEntry[],
  { ledger: { db }, readRows }: ExportStores,
): Promise<Read> {
  const ids = entries.map(({ generationId }) => generationId)
  const byId = await readRows(ids)
  const rows = ids.flatMap((id) => byId.get(id) ?? [])
  const ofWorkspaces = [...new Set(rows.map((row) => row.workspace_id))]
  const hashes = [...new Set(rows.map((row) => row.key_hash))]
  const names = await db
    .select({ id: workspaces.id, name: workspaces.name })
    .from(workspaces)
    .where(inArray(workspaces.id, ofWorkspaces))
  const keys = await db
    .select({ hash: apiKeys.hash, name: apiKeys.name })
    .from(apiKeys)
    .where(inArray(apiKeys.hash, hashes))
  const sourceIds = rows.flatMap(({ response_cache_source_id: id }) => (id === null ? [] : [id]))
  const sources =
    sourceIds.length === 0
      ? []
      : await db
          .select({ id: generations.id, request_id: generations.request_id, trace: generations.trace })
          .from(generations)
          .where(inArray(generations.id, sourceIds))
  return {
    rows: byId,
    workspaceNames: new Map(names.map(({ id, name }) => [id, name])),
    keyNames: new Map(keys.map(({ hash, name }) => [hash, name])),
    sourceTraces: new Map(sources.map((source) => [source.id, traceOf(source, null).traceId])),
  }
}

interface Drafting {
  readonly destination: ExportSettings
  readonly rules: CompiledRules
  readonly read: Omit<Read, 'rows'>
}

function draftOf(row: GenerationRow, note: ExportNote | null, { destination, rules, read }: Drafting): Draft {
  const { apiKeyHashes, regions, samplingRate, privacyMode } = destination
  if (apiKeyHashes !== null && !apiKeyHashes.includes(row.key_hash)) return EXCLUDED
  if (!regions.includes(row.data_region)) return EXCLUDED
  const trace = traceOf(row, note)
  if (!isInSample({ sessionId: row.session_id, traceId: trace.traceId }, samplingRate)) return EXCLUDED
  const facts = factsOf(row, read.keyNames.get(row.key_hash) ?? '')
  const isUndecided = rules.needsContent && !privacyMode
  if (!isUndecided && !rules.takes(facts)) return EXCLUDED
  return { outcome: recordOf(row, note, trace, destination, read), facts }
}

function recordOf(
  row: GenerationRow,
  note: ExportNote | null,
  trace: ExportRecord['trace'],
  destination: ExportSettings,
  names: Drafting['read'],
): ExportRecord {
  const attempts = attemptsOf(row, note)
  const hasContent = attempts.at(-1)?.errorType === null
  const truth = truthOf(row, hasContent)
  return {
    ...plainOf(row, note),
    workspace: { id: row.workspace_id, name: names.workspaceNames.get(row.workspace_id) ?? '' },
    cacheSourceTraceId: names.sourceTraces.get(row.response_cache_source_id ?? '') ?? null,
    parameters: parametersOf(note, destination.privacyMode),
    firstContentAt: hasContent || truth === 'cached' ? row.created_at.getTime() + row.latency_ms : null,
    attempts,
    cost: destination.cost ? costOf(row, note) : null,
    truth,
    error: errorOf(truth, attempts, null),
    identity: destination.identity
      ? { user: row.external_user, keyName: names.keyNames.get(row.key_hash) ?? '', keyHash: row.key_hash }
      : null,
    requestContext: destination.requestContext
      ? {
          origin: row.origin,
          httpReferer: row.http_referer,
          title: row.title,
          userAgent: row.user_agent,
        }
      : null,
    trace,
    content: null,
    contentMissing: destination.privacyMode ? 'privacy' : null,
  }
}

/** What every destination may have. */
const plainOf = (row: GenerationRow, note: ExportNote | null) =>
  ({
    id: row.id,
    requestId: row.request_id,
    apiType: row.api_type,
    route: note?.route ?? ROUTES[row.api_type],
    streamed: row.streamed,
    model: row.model,
    requestedModel: note?.model ?? row.model,
    provider: { slug: row.provider_slug, name: row.provider_name, host: note?.host ?? null },
    endpointId: row.endpoint_id,
    upstreamId: row.upstream_id,
    serviceTier: row.service_tier,
    dataRegion: row.data_region,
    startedAt: row.created_at.getTime(),
    endedAt: row.ended_at.getTime(),
    usage: {
      promptTokens: row.native_tokens_prompt,
      completionTokens: row.native_tokens_completion,
      cacheReadTokens: row.native_tokens_cached,
      cacheWriteTokens: row.native_tokens_cache_write,
      reasoningTokens: row.native_tokens_reasoning,
    },
    finishReason: row.finish_reason,
    nativeFinishReason: row.native_finish_reason,
    sessionId: row.session_id,
    presetId: row.preset_id,
    metadata: metadataOf(row),
    parent: row.parent_id === null ? null : { id: row.parent_id, kind: row.step?.kind ?? '' },
    cacheSourceId: row.response_cache_source_id,
    guardrails: row.guardrails ?? [],
  }) satisfies Partial<ExportRecord>

/** Sequences that end an answer are words of its prompt or answer. */
function parametersOf(note: ExportNote | null, privacyMode: boolean): ExportRecord['parameters'] {
  const { stop, ...parameters } = note?.parameters ?? {}
  return stop === undefined || privacyMode ? parameters : { ...parameters, stop }
}

function costOf(row: GenerationRow, note: ExportNote | null): ExportCost {
  const totalNanoUsd = row.cost_nano_usd
  const promptNanoUsd = totalNanoUsd === 0 ? 0 : (note?.promptNanoUsd ?? null)
  return {
    totalNanoUsd,
    promptNanoUsd,
    completionNanoUsd: promptNanoUsd === null ? null : totalNanoUsd - promptNanoUsd,
    cacheDiscountNanoUsd: row.cache_discount_nano_usd,
    isByok: row.is_byok,
  }
}

/** Of the row's labels, which are bounded in number and length. */
const metadataOf = ({ labels }: GenerationRow): Record<string, string> =>
  Object.fromEntries(
    (labels ?? [])
      .filter(([name]) => name.startsWith(TAG_LABEL) && name.length > TAG_LABEL.length)
      .map(([name, value]) => [name.slice(TAG_LABEL.length), value]),
  )
