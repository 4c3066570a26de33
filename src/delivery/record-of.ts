import type { ExportNote } from '../core/export-note.ts'
import { ROUTES } from '../core/export-note.ts'
import { TAG_LABEL } from '../core/generation.ts'
import type { ExportCost, ExportRecord } from '../exporters/record.ts'
import type { GenerationRow } from '../ledger/row.ts'
import { attemptsOf, errorOf, truthOf } from './attempts-of.ts'

/** Names that records have and rows of the ledger have not. */
export interface RecordNames {
  /** By id and by hash. */
  readonly workspaceNames: ReadonlyMap<string, string>
  readonly keyNames: ReadonlyMap<string, string>
  /** Of the generations whose answers the response cache gave again. */
  readonly sourceTraces: ReadonlyMap<string, string>
}

/** Which parts of a record a destination may have. */
export interface RecordParts {
  readonly privacyMode: boolean
  /** Whether costs, the key and user, and the calling application are sent. */
  readonly cost: boolean
  readonly identity: boolean
  readonly requestContext: boolean
}

/** The record of a row, without its content. */
export function recordOf(
  row: GenerationRow,
  note: ExportNote | null,
  trace: ExportRecord['trace'],
  destination: RecordParts,
  names: RecordNames,
): ExportRecord {
  const attempts = attemptsOf(row, note)
  const hasContent = attempts.at(-1)?.errorType === null
  const truth = truthOf(row, hasContent)
  return {
    ...plainOf(row, note),
    workspace: { id: row.workspace_id, name: names.workspaceNames.get(row.workspace_id) ?? '' },
    cacheSourceTraceId:
      note?.sourceTraceId ?? names.sourceTraces.get(row.response_cache_source_id ?? '') ?? null,
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
