import type { ExportNote } from '../core/export-note.ts'
import type { ExportAttempt, ExportError, ExportTruth } from '../exporters/record.ts'
import type { GenerationRow } from '../ledger/row.ts'
import { providerResponsesOf } from '../ledger/row-values.ts'

/** The words of failed attempts. A provider's own code may be any text, so that others are named by the status. */
const WORDS = new Set([
  'connect',
  'malformed',
  'truncated',
  'server',
  'credential',
  'timeout',
  'overloaded',
  'rate-limit',
  'capacity',
  'caller',
  'unsuitable',
  'hedged',
])

function wordOf(code: string | null, status: number | null): string {
  if (code !== null && WORDS.has(code)) return code
  if (status === null) return code === null ? 'cancelled' : 'connect'
  if (status === 429) return 'rate-limit'
  if (status === 401 || status === 403) return 'credential'
  if (status === 408 || status === 504) return 'timeout'
  return status >= 500 ? 'server' : 'caller'
}

/** The attempts of a generation. Without a note each begins where the one before it ended. */
export function attemptsOf(row: GenerationRow, note: ExportNote | null): ExportAttempt[] {
  const began = row.created_at.getTime()
  const codes = row.routing?.[8] ?? []
  let last = began
  return (providerResponsesOf(row) ?? []).map((tried, index, all) => {
    const offset = note?.attempts?.[index]
    const startedAt = offset === undefined ? last : began + offset
    const isAnswer = tried.status !== null && (codes[index] ?? null) === null
    // The latency of an attempt is the time to its first content; the answer ends later.
    last = Math.max(
      startedAt + tried.latency,
      isAnswer && index === all.length - 1 ? row.ended_at.getTime() : 0,
    )
    return {
      providerSlug: tried.endpoint_id.split('/', 1)[0] ?? '',
      providerName: tried.provider_name,
      model: tried.model_permaslug,
      endpointId: tried.endpoint_id,
      startedAt,
      endedAt: last,
      status: tried.status,
      errorType: isAnswer ? null : wordOf(codes[index] ?? null, tried.status),
      isByok: tried.is_byok,
    }
  })
}

export function truthOf(row: GenerationRow, hasContent: boolean): ExportTruth {
  if (row.response_cache_source_id !== null) return 'cached'
  if (row.cancelled) return 'disconnected'
  if (row.finish_reason === 'content_filter') return 'filtered'
  if (row.finish_reason === 'error') return hasContent ? 'truncated' : 'failed'
  return row.usage_source === 'estimated' ? 'estimated' : 'complete'
}

/** The error of a generation that failed or was truncated, with the sentence that its caller got. */
export function errorOf(
  truth: ExportTruth,
  attempts: readonly ExportAttempt[],
  message: string | null,
): ExportError | null {
  if (truth !== 'failed' && truth !== 'truncated') return null
  const last = attempts.at(-1)
  const type = last?.errorType ?? (truth === 'truncated' ? 'truncated' : 'error')
  return { type, status: last?.errorType == null ? null : last.status, message }
}
