import { type ContentFilter, type ContentFilters, OverBudget, type Span } from '../../core/content-filter.ts'
import { GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import type { GuardrailRecord } from '../../core/guardrail.ts'
import type { RoutingMetadata } from '../../core/result.ts'
import type { KeyRecord } from '../../core/snapshot.ts'
import { createBudget, type GrowingBudget } from '../../filters/budget.ts'
import { createReport, type FilterReport } from './report.ts'
import { replaceTexts } from './texts.ts'

export interface FilteredBody {
  /** The body itself where nothing was redacted. */
  body: JsonObject
  /** What was done, for the routing metadata; absent: nothing was. */
  pipeline?: JsonObject[]
}

type Guarding = GuardrailRecord & { filters: ContentFilters }

/**
 * The body of an inference request with what the guardrails of its key redact, before anything of it is sent, held or
 * kept. Throws a `GatewayError` 403 where one of them blocks it, or where it would take too long to find out.
 */
export function withFilters(
  body: JsonObject,
  { key }: { key: Pick<KeyRecord, 'guardrails'> },
  wantsMetadata: boolean,
): FilteredBody {
  if (key.guardrails === undefined) return { body }
  const guardrails = key.guardrails.filter(hasFilters)
  if (guardrails.length === 0) return { body }
  const report = createReport()
  const budget = createBudget()
  try {
    const filtered = replaceTexts(body, (text, isUser) => replaced(text, isUser, guardrails, budget, report))
    if (report.blocking.length > 0) throw blocked(report, body, wantsMetadata)
    const pipeline = report.stages()
    return pipeline.length === 0 ? { body: filtered } : { body: filtered, pipeline }
  } catch (error) {
    if (error instanceof OverBudget) throw tooMuch(error)
    throw error
  }
}

const hasFilters = (guardrail: GuardrailRecord): guardrail is Guarding =>
  guardrail.filters?.holdOnInput === true

interface Place extends Span {
  readonly filter: ContentFilter
}

function replaced(
  text: string,
  isUser: boolean,
  guardrails: readonly Guarding[],
  budget: GrowingBudget,
  report: FilterReport,
): string {
  budget.grow(text.length)
  const places: Place[] = []
  for (const guardrail of guardrails) {
    for (const { filter, spans } of guardrail.filters.scan(text, isUser, budget)) {
      report.add(guardrail, filter, spans.length)
      for (const span of spans) places.push({ ...span, filter })
    }
  }
  return places.length === 0 ? text : redacted(text, places)
}

/** Places of several filters that overlap become one, under the name of the first and longest. */
function redacted(text: string, places: Place[]): string {
  places.sort((a, b) => a.start - b.start || b.end - a.end)
  let result = ''
  let done = 0
  for (const { start, end, filter } of places) {
    if (start >= done) {
      result += text.slice(done, start) + filter.placeholder
      done = end
    } else done = Math.max(done, end)
  }
  return result + text.slice(done)
}

function blocked(report: FilterReport, body: JsonObject, wantsMetadata: boolean): GatewayError {
  const names = [...new Set(report.blocking.map(({ name }) => name))]
  const pipeline = report.stages()
  return new GatewayError(
    403,
    `The request was blocked by ${names.length === 1 ? 'a content filter' : 'content filters'} of a guardrail: ${names.join(', ')}`,
    {
      metadata: { error_type: 'permission_denied', patterns: names },
      routing: wantsMetadata ? unrouted(body, pipeline) : null,
    },
  )
}

/** Nobody was asked, and it was not found out who could be. */
const unrouted = ({ model }: JsonObject, pipeline: JsonObject[]): RoutingMetadata => ({
  requested: typeof model === 'string' ? model : '',
  strategy: 'direct',
  summary: 'available=0, selected=none',
  attempt: 0,
  is_byok: false,
  region: null,
  endpoints: { total: 0, available: [] },
  attempts: [],
  pipeline,
})

const tooMuch = (cause: OverBudget): GatewayError =>
  new GatewayError(
    403,
    'The request was blocked: the content filters of its guardrails would take too long to look through it. A shorter text, or simpler patterns, would pass',
    { cause, metadata: { error_type: 'permission_denied', patterns: [] } },
  )
