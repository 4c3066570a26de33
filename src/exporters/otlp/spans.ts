import { type Conversation, conversationOf } from '../conversation.ts'
import type { ExportAttempt, ExportError, ExportRecord } from '../record.ts'
import { spanIdOf } from '../span-ids.ts'
import { chatAttributes, requestAttributes } from './attributes.ts'
import { contentAttributes } from './content-attributes.ts'
import { type Attributes, prefixed, type Span, type SpanEvent, type SpanLink } from './span.ts'

/** What a kind adds to the spans of a record. */
interface SpanExtras {
  readonly request?: Attributes
  readonly chat?: Attributes
}

/** Null: the record has no content. */
export type ExtrasOf = (record: ExportRecord, conversation: Conversation | null) => SpanExtras

/**
 * The spans of one generation: the request, below it the operation, below that every attempt. A step of another
 * generation has no request of its own: its operation is below that of the other one, in the same trace.
 */
export function spansOf(record: ExportRecord, extrasOf?: ExtrasOf): readonly Span[] {
  const conversation = conversationOf(record)
  const extras = extrasOf?.(record, conversation) ?? {}
  const chat = chatSpan(record, { ...contentAttributes(record, conversation), ...extras.chat })
  const attempts = record.attempts.map((attempt, index) => attemptSpan(record, attempt, index))
  return record.parent === null
    ? [requestSpan(record, extras.request), chat, ...attempts]
    : [chat, ...attempts]
}

/** How many spans `spansOf` makes. */
export const spanCountOf = ({ parent, attempts }: ExportRecord): number =>
  attempts.length + (parent === null ? 2 : 1)

const requestSpan = (record: ExportRecord, extras: Attributes = {}): Span => ({
  ...common(record),
  spanId: spanIdOf(record.id, 'request'),
  parentSpanId: record.trace.parentSpanId,
  name: record.trace.spanName ?? record.trace.traceName ?? `POST ${record.route}`,
  kind: 'server',
  attributes: { ...requestAttributes(record), ...extras },
  events: [],
  links: [],
})

const chatSpan = (record: ExportRecord, extras: Attributes): Span => {
  const attributes = chatAttributes(record)
  return {
    ...common(record),
    spanId: spanIdOf(record.id, 'chat'),
    parentSpanId:
      record.parent === null ? spanIdOf(record.id, 'request') : spanIdOf(record.parent.id, 'chat'),
    name: record.trace.generationName ?? `${attributes['gen_ai.operation.name']} ${record.requestedModel}`,
    kind: 'client',
    attributes: { ...attributes, ...extras },
    events: eventsOf(record),
    links: linksOf(record),
  }
}

/** Without `gen_ai.*`: vendors would count an attempt as a generation of its own. */
const attemptSpan = (record: ExportRecord, attempt: ExportAttempt, index: number): Span => ({
  ...common(record),
  spanId: spanIdOf(record.id, `attempt:${index}`),
  parentSpanId: spanIdOf(record.id, 'chat'),
  name: `attempt ${attempt.providerSlug}`,
  kind: 'client',
  startedAt: attempt.startedAt,
  endedAt: attempt.endedAt,
  attributes: {
    'sluice.generation.id': record.id,
    'sluice.attempt': index + 1,
    'sluice.fallback': index > 0,
    'sluice.provider': attempt.providerSlug,
    'sluice.model': attempt.model,
    'sluice.endpoint.id': attempt.endpointId,
    'sluice.byok': attempt.isByok,
    'http.request.method': 'POST',
    'http.response.status_code': attempt.status,
    'error.type': attempt.errorType,
  },
  events: [],
  links: [],
  failure: attempt.errorType === null ? null : { message: null },
})

function common(
  record: ExportRecord,
): Pick<Span, 'traceId' | 'traceState' | 'startedAt' | 'endedAt' | 'failure'> {
  return {
    traceId: record.trace.traceId,
    traceState: record.trace.traceState,
    startedAt: record.startedAt,
    endedAt: record.endedAt,
    failure: failureOf(record.error),
  }
}

const failureOf = (error: ExportError | null): Span['failure'] =>
  error === null ? null : { message: error.message }

function eventsOf(record: ExportRecord): SpanEvent[] {
  const { firstContentAt, endedAt } = record
  const fallbacks = record.attempts.slice(1).map((attempt, index) => ({
    name: 'sluice.fallback',
    at: attempt.startedAt,
    attributes: {
      'sluice.fallback.from': record.attempts[index]?.endpointId,
      'sluice.fallback.to': attempt.endpointId,
      'error.type': record.attempts[index]?.errorType,
    },
  }))
  const filters = record.guardrails.map((match) => ({
    name: 'sluice.filter',
    at: endedAt,
    attributes: prefixed('sluice.filter.', match),
  }))
  return [
    ...fallbacks,
    ...(firstContentAt === null ? [] : [{ name: 'sluice.first_chunk', at: firstContentAt, attributes: {} }]),
    ...filters,
    ...(record.truth === 'disconnected' ? [{ name: 'sluice.cancel', at: endedAt, attributes: {} }] : []),
  ]
}

/** The generation whose answer the response cache gave again. */
const linksOf = ({ cacheSourceId, cacheSourceTraceId }: ExportRecord): SpanLink[] =>
  cacheSourceId === null || cacheSourceTraceId === null
    ? []
    : [
        {
          traceId: cacheSourceTraceId,
          spanId: spanIdOf(cacheSourceId, 'chat'),
          attributes: { 'sluice.link': 'cache', 'sluice.generation.id': cacheSourceId },
        },
      ]
