import type { JournalEntry } from '../core/generation.ts'
import type { Bound } from '../db/hot-statement.ts'
import type { journal } from '../db/tables.ts'
import { amount, brief, briefOrNull, count } from './brief.ts'
import { briefLabels } from './row.ts'
import { type ChargedScopes, chargedScopes, stepOf } from './row-values.ts'

export type JournalRow = typeof journal.$inferSelect

/** A journaled request and the scopes that it is charged to. */
export interface Journaled {
  readonly entry: JournalEntry
  readonly charged: ChargedScopes | null
  /** When it is written, of `performance.now()`. */
  dueAt: number
}

export const JOURNAL_COLUMNS = [
  'generation_id',
  'key_hash',
  'workspace_id',
  'model',
  'provider_slug',
  'provider_name',
  'endpoint_id',
  'api_type',
  'streamed',
  'is_byok',
  'origin',
  'http_referer',
  'title',
  'user_agent',
  'request_id',
  'session_id',
  'external_user',
  'started_at',
  'prompt_tokens_estimate',
  'prompt_cost_nano_usd',
  'charged_scopes',
  'labels',
  'parent_id',
  'step',
  'trace',
  'caller_trace',
] as const satisfies readonly (keyof JournalRow)[]

/** In the order of `JOURNAL_COLUMNS`. Throws a `RangeError` for a cost that is not an integer of nano-dollars. */
export const journalValuesOf = ({ entry, charged }: Journaled): Bound[] => [
  entry.generationId,
  entry.keyHash,
  entry.workspaceId,
  entry.modelId,
  entry.providerSlug,
  entry.providerName,
  entry.endpointId,
  entry.apiType,
  entry.streamed,
  entry.isByok,
  brief(entry.origin),
  brief(entry.httpReferer),
  brief(entry.title),
  brief(entry.userAgent),
  entry.requestId,
  briefOrNull(entry.sessionId),
  briefOrNull(entry.externalUser),
  entry.startedAt,
  count(entry.promptTokensEstimate),
  amount(entry.promptCostNanoUsd),
  charged === null ? null : charged.json,
  entry.labels === undefined ? null : JSON.stringify(briefLabels(entry.labels)),
  entry.parent?.id ?? null,
  stepOf(entry),
  entry.trace === undefined ? null : JSON.stringify(entry.trace),
  entry.callerTrace === undefined ? null : JSON.stringify(entry.callerTrace),
]

/** The fields of a journal row. */
export const journaledOf = (row: JournalRow): Journaled => ({
  entry: {
    generationId: row.generation_id,
    keyHash: row.key_hash,
    workspaceId: row.workspace_id,
    modelId: row.model,
    providerSlug: row.provider_slug,
    providerName: row.provider_name,
    endpointId: row.endpoint_id,
    apiType: row.api_type,
    streamed: row.streamed,
    isByok: row.is_byok,
    origin: row.origin,
    httpReferer: row.http_referer,
    title: row.title,
    userAgent: row.user_agent,
    requestId: row.request_id,
    sessionId: row.session_id,
    externalUser: row.external_user,
    startedAt: row.started_at.getTime(),
    promptTokensEstimate: row.prompt_tokens_estimate,
    promptCostNanoUsd: row.prompt_cost_nano_usd,
    ...(row.labels && { labels: row.labels }),
    ...(row.trace && { trace: row.trace }),
    ...(row.caller_trace && { callerTrace: row.caller_trace }),
    ...(row.parent_id !== null && { parent: { id: row.parent_id, kind: row.step?.kind ?? '' } }),
  },
  charged: chargedScopes(row.charged_scopes ?? []),
  dueAt: 0,
})
