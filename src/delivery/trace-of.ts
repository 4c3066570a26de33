import type { ExportNote } from '../core/export-note.ts'
import { asFilledText } from '../core/json.ts'
import { spanIdOfText, traceIdOfText } from '../core/trace-context.ts'
import type { ExportTrace } from '../exporters/record.ts'
import { traceIdOf } from '../exporters/span-ids.ts'
import type { GenerationRow } from '../ledger/row.ts'

type Traced = Pick<GenerationRow, 'id' | 'request_id' | 'trace'>

const NAMES = new Set(['trace_id', 'parent_span_id', 'trace_name', 'span_name', 'generation_name'])

/**
 * The trace of a generation: that of the body's `trace`, else of the header `traceparent`, else one of its request, which
 * the steps of a generation share. Ids of another form are hashed, and stay readable beside the hash.
 */
export function traceOf({ id, request_id, trace }: Traced, note: ExportNote | null): ExportTrace {
  const { trace_id, parent_span_id, trace_name, span_name, generation_name } = trace ?? {}
  const given = asFilledText(trace_id)
  const span = asFilledText(parent_span_id)
  const [headerTrace, headerSpan, traceState = null] = note?.trace ?? []
  const traceId = given === undefined ? (headerTrace ?? ownTraceId(id, request_id)) : traceIdOfText(given)
  const extra = Object.entries(trace ?? {}).filter(([name]) => !NAMES.has(name))
  if (span !== undefined && spanIdOfText(span) !== span.toLowerCase()) extra.push(['parent_span_id', span])
  const isOfHeader = traceId === headerTrace
  return {
    traceId,
    parentSpanId: span === undefined ? (isOfHeader && headerSpan) || null : spanIdOfText(span),
    traceState: isOfHeader ? traceState : null,
    traceName: asFilledText(trace_name) ?? null,
    spanName: asFilledText(span_name) ?? null,
    generationName: asFilledText(generation_name) ?? null,
    givenTraceId: given !== undefined && traceId !== given.toLowerCase() ? given : null,
    extra: Object.fromEntries(extra),
  }
}

const REQUEST_ID = /^req-([0-9a-f]{32})$/

/** The digits of a request's id, which are time and chance. */
const ownTraceId = (generationId: string, requestId: string): string =>
  REQUEST_ID.exec(requestId)?.[1] ?? traceIdOf(generationId)
