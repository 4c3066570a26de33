import {
  type ContentFilter,
  type ContentFilters,
  OverBudget,
  type Purpose,
  type Span,
  type Steps,
} from '../../../core/content-filter.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { JsonObject } from '../../../core/events.ts'
import type { GuardrailRecord } from '../../../core/guardrail.ts'
import type { RoutingMetadata } from '../../../core/result.ts'
import type { KeyRecord } from '../../../core/snapshot.ts'
import { createBudget, type GrowingBudget, OF_REQUESTS } from '../../../filters/budget.ts'
import { createReport, type FilterReport } from '../report.ts'
import { replaceTexts } from './texts.ts'

export interface FilteredBody {
  /** The same body if nothing was redacted. */
  body: JsonObject
  /** The findings, for the routing metadata; absent without findings. */
  pipeline?: JsonObject[]
}

type Filtering = { readonly key: Pick<KeyRecord, 'guardrails'> }
type Guarding = GuardrailRecord & { filters: ContentFilters }

/**
 * Applies the input filters of a key's guardrails to a request's body, before it is sent or stored. Works in slices of a
 * few milliseconds, between which other requests run. Throws a `GatewayError` 403 if a filter blocks the request, or if
 * searching it exceeds the budget. A filter that only flags never rejects: when it exceeds its budget it stops, and the
 * report notes that.
 */
export function withFilters(
  body: JsonObject,
  { key: { guardrails } }: Filtering,
  wantsMetadata: boolean,
): FilteredBody | Promise<FilteredBody> {
  return guardrails === undefined ? { body } : filtered(body, guardrails, wantsMetadata)
}

/**
 * The same filters on a text that the gateway itself brings into a conversation: a page, a file, the result of a tool. Throws
 * the same errors. `pipeline`: what was found.
 */
export async function filterText(
  text: string,
  { key: { guardrails = [] } }: Filtering,
): Promise<{ text: string; pipeline: JsonObject[] }> {
  const guarding = guardrails.filter(hasFilters)
  if (guarding.length === 0) return { text, pipeline: [] }
  const report = createReport()
  const clean = await createScan(guarding, report)(text, false)
  if (report.blocking.length > 0) throw blocked(report, {}, false)
  return { text: clean, pipeline: report.stages() }
}

async function filtered(
  body: JsonObject,
  all: readonly GuardrailRecord[],
  wantsMetadata: boolean,
): Promise<FilteredBody> {
  for (const { filters } of all) if (filters?.output) await inSlices(filters.output.compile())
  const guardrails = all.filter(hasFilters)
  if (guardrails.length === 0) return { body }
  const report = createReport()
  const scan = createScan(guardrails, report)
  const results: string[] = []
  let isChanged = false
  for (const { text, isUser } of textsOf(body)) {
    const result = await scan(text, isUser)
    isChanged ||= result !== text
    results.push(result)
  }
  if (report.blocking.length > 0) throw blocked(report, body, wantsMetadata)
  const pipeline = report.stages()
  let at = 0
  const clean = isChanged ? replaceTexts(body, (text) => results[at++] ?? text) : body
  return pipeline.length === 0 ? { body: clean } : { body: clean, pipeline }
}

interface Text {
  readonly text: string
  readonly isUser: boolean
}

async function inSlices<Value>(steps: Steps<Value>, resume?: () => void): Promise<Value> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await turn()
    resume?.()
  }
}

/** The body's texts, in the order of `replaceTexts`. */
function textsOf(body: JsonObject): Text[] {
  const texts: Text[] = []
  replaceTexts(body, (text, isUser) => {
    texts.push({ text, isUser })
    return text
  })
  return texts
}

const hasFilters = (guardrail: GuardrailRecord): guardrail is Guarding =>
  guardrail.filters?.holdOnInput === true

interface Place extends Span {
  readonly filter: ContentFilter
}

/** The cost of starting a text, so that many small texts also pause. */
const UNITS_OF_TEXT = 50

/** Returns a function that filters one text. */
function createScan(guardrails: readonly Guarding[], report: FilterReport) {
  const rewriting = createBudget(OF_REQUESTS)
  const recording = createBudget(OF_REQUESTS)
  let isRecording = true

  function* placesIn({ text, isUser }: Text, which: Purpose, budget: GrowingBudget): Steps<Place[]> {
    budget.grow(text.length)
    budget.spend(UNITS_OF_TEXT)
    const places: Place[] = []
    for (const guardrail of guardrails) {
      for (const { filter, spans } of yield* guardrail.filters.scan(text, isUser, which, budget)) {
        report.add(guardrail, filter, spans.length)
        for (const span of spans) places.push({ ...span, filter })
      }
    }
    if (budget.isPauseDue) yield
    return places
  }

  function placesOf(text: Text, which: Purpose, budget: GrowingBudget): Promise<Place[]> {
    return inSlices(placesIn(text, which, budget), budget.resume)
  }

  async function record(text: Text): Promise<void> {
    try {
      await placesOf(text, 'recording', recording)
    } catch (error) {
      if (!(error instanceof OverBudget)) throw error
      isRecording = false
      report.unfinished()
    }
  }

  return async (text: string, isUser: boolean): Promise<string> => {
    const places = await placesOf({ text, isUser }, 'rewriting', rewriting).catch((error: unknown) => {
      throw error instanceof OverBudget ? tooMuch(error) : error
    })
    if (isRecording) await record({ text, isUser })
    return places.length === 0 ? text : redacted(text, places)
  }
}

/** Overlapping places are merged, with the placeholder of the first and longest. */
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
      refusal: report.refusal(),
    },
  )
}

/** The routing metadata of a request that was blocked before it was planned. */
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
    'The request was blocked: searching it with the content filters of its guardrails would take too long. Send a shorter text, or use simpler patterns',
    {
      cause,
      metadata: { error_type: 'permission_denied', patterns: [] },
      refusal: { reason: 'filter', gate: 'time' },
    },
  )

/** Waiting slices of work, first in first out. */
const waiting: (() => void)[] = []

/**
 * Schedules long work of all requests: one slice per turn of the event loop, so that many long requests together block it
 * no longer than one does.
 */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(next)
  })
}

function next(): void {
  waiting[0]?.()
  waiting.shift()
  if (waiting.length > 0) setImmediate(next)
}
