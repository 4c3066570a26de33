import { annotationOf, type CitationFinder, findCitations } from '../../core/citations.ts'
import type { Finish, InferenceEvent, InferenceFrame, ReasoningDetail } from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { asCount } from '../../core/json.ts'
import type { InferenceResult } from '../../core/result.ts'
import type { SearchResult } from '../../core/web-access.ts'
import type { TurnCollector, TurnPiece } from '../../dialects/turn-pieces.ts'
import { addEvent } from '../reply/collect.ts'
import { MOST_ARGUMENT_CHARACTERS, type WrittenCall } from './written-call.ts'

/** What the caller was shown in earlier steps. */
export interface Shown {
  textLength: number
  /** The first index of reasoning details that is free. */
  nextDetail: number
  /** Ids of calls: some providers number them again in each reply. */
  readonly callIds: Set<string>
}

/** Reads one step: what the caller sees of it, and what the next step needs of it. */
export interface StepReader {
  /** The frame for the caller; null: it has nothing for it. */
  see(frame: InferenceFrame): InferenceFrame | null
  end(): StepEnd
}

interface StepEnd {
  /** The text, the reasoning and the caller's own calls. */
  readonly result: InferenceResult
  /** The turn with what only the provider's dialect has; null: it has nothing of that. */
  readonly pieces: readonly TurnPiece[] | null
  readonly calls: readonly WrittenCall[]
  /** Calls beyond the bound are left out of the conversation. */
  readonly requested: number
  readonly handedOver: number
  readonly finish: Finish
}

/** A model that calls more at once is broken. */
const MOST_CALLS_OF_A_STEP = 32

interface Collected {
  id: string
  name: string
  json: string
  isTooLong: boolean
  extra?: WrittenCall['extra']
}

/** The output of one step so far. */
interface Reading {
  readonly shown: Shown
  readonly isServerTool: (name: string) => boolean
  readonly separator: string
  /** Where the step begins in the text, and in the reasoning. */
  readonly start: number
  readonly firstDetail: number
  readonly result: InferenceResult
  /** By the provider's index; null beyond the bound. */
  readonly calls: Map<number, Collected | null>
  /** The caller's own calls: their places by the provider's index. */
  readonly own: Map<number, number>
  /** New ids of calls, by the provider's. */
  readonly renamed: Map<string, string>
  requested: number
  finish: Finish
  /** No separator is needed any more. */
  hasText: boolean
  /** Finds links to what earlier steps found; null: they found nothing. */
  readonly cited: CitationFinder | null
}

/**
 * `separator`: between the texts of two steps, for dialects whose answer is one text. Calls of server tools, usage, the end
 * and what only the provider's own dialect has are left out for the caller; `turn` has the last for the next step.
 */
export function createStepReader(
  shown: Shown,
  isServerTool: (name: string) => boolean,
  separator: string,
  sources: readonly SearchResult[],
  turn: TurnCollector | null,
): StepReader {
  const reading: Reading = {
    shown,
    isServerTool,
    separator,
    start: shown.textLength,
    firstDetail: shown.nextDetail,
    result: { created: null, choices: [], natives: [] },
    calls: new Map(),
    own: new Map(),
    renamed: new Map(),
    requested: 0,
    finish: { choice: 0, reason: 'stop', native: null },
    hasText: shown.textLength === 0,
    cited: sources.length === 0 ? null : findCitations(sources),
  }
  return {
    see(frame) {
      turn?.see(frame)
      const events = withCitations(
        frame.events.flatMap((event) => shownOf(event, reading) ?? []),
        reading,
      )
      if (frame.plainText !== undefined && events.length === 1 && events[0] === frame.events[0]) return frame
      return events.length === 0 ? null : { events }
    },
    end: () => ({
      result: reading.result,
      pieces: turn?.pieces() ?? null,
      calls: [...reading.calls.values()].filter((call) => call !== null),
      requested: reading.requested,
      handedOver: reading.own.size,
      finish: reading.finish,
    }),
  }
}

/** A link of the answer to a page that a tool found is a citation, right behind the text that ends it. */
function withCitations(events: InferenceEvent[], { cited, start }: Reading): InferenceEvent[] {
  if (cited === null) return events
  return events.flatMap((event): InferenceEvent[] => {
    if (event.type !== 'text-delta') return [event]
    const found = cited.see(event.text).map((citation) => ({
      type: 'annotation' as const,
      choice: 0,
      annotation: annotationOf({
        ...citation,
        startIndex: start + citation.startIndex,
        endIndex: start + citation.endIndex,
      }),
    }))
    return [event, ...found]
  })
}

function shownOf(event: InferenceEvent, reading: Reading): InferenceEvent | null {
  switch (event.type) {
    case 'tool-call-start':
      return startCall(event, reading)
    case 'tool-call-delta':
      return addArguments(event, reading)
    case 'native':
    case 'usage':
      return null
    case 'response-end':
      reading.finish = event.finishes.find(({ choice }) => choice === 0) ?? reading.finish
      return null
    case 'response-start':
      return reading.start === 0 && reading.firstDetail === 0 ? event : null
    case 'reasoning-detail':
      return see(
        reading.renamed.size === 0 ? event : { ...event, detail: ofCall(event.detail, reading) },
        reading,
      )
    default:
      return see(event, reading)
  }
}

function see(event: InferenceEvent, reading: Reading): InferenceEvent {
  addEvent(reading.result, event)
  return moved(event, reading)
}

/** The signature of a call has the call's id. */
function ofCall(detail: ReasoningDetail, { renamed }: Reading): ReasoningDetail {
  const id = renamed.get(String(detail['id']))
  return id === undefined ? detail : { ...detail, id }
}

function startCall(
  event: Extract<InferenceEvent, { type: 'tool-call-start' }>,
  reading: Reading,
): InferenceEvent | null {
  const { index, name, extra } = event
  const { own, shown, calls } = reading
  if (!reading.isServerTool(name)) {
    const renamed = { ...event, index: own.size }
    own.set(index, renamed.index)
    addEvent(reading.result, renamed)
    return renamed
  }
  reading.requested += 1
  const id = shown.callIds.has(event.id) ? newToolCallId() : event.id
  shown.callIds.add(id)
  if (id !== event.id) reading.renamed.set(event.id, id)
  const isKept = reading.requested <= MOST_CALLS_OF_A_STEP
  calls.set(index, isKept ? { id, name, json: '', isTooLong: false, extra } : null)
  return null
}

function addArguments(
  event: Extract<InferenceEvent, { type: 'tool-call-delta' }>,
  { own, calls, result }: Reading,
): InferenceEvent | null {
  const place = own.get(event.index)
  if (place !== undefined) {
    const renamed = { ...event, index: place }
    addEvent(result, renamed)
    return renamed
  }
  const call = calls.get(event.index)
  if (!call || call.isTooLong) return null
  call.json += event.json
  call.isTooLong = call.json.length > MOST_ARGUMENT_CHARACTERS
  // The model is sent its own call again.
  if (call.isTooLong) call.json = '{}'
  return null
}

/** Places of citations and indexes of reasoning count through all steps. */
function moved(event: InferenceEvent, reading: Reading): InferenceEvent {
  const { shown, start, separator } = reading
  if (event.type === 'text-delta') {
    const isFirst = !reading.hasText && event.text !== ''
    reading.hasText ||= isFirst
    const text = isFirst ? separator + event.text : event.text
    shown.textLength += text.length
    return isFirst && separator !== '' ? { ...event, text } : event
  }
  if (event.type === 'annotation' && start > 0) {
    const { startIndex, endIndex } = event.annotation
    const [from, to] = [asCount(startIndex), asCount(endIndex)]
    if (from === undefined || to === undefined) return event
    const by = start + separator.length
    return { ...event, annotation: { ...event.annotation, startIndex: from + by, endIndex: to + by } }
  }
  return event.type === 'reasoning-detail' ? { ...event, detail: movedDetail(event.detail, reading) } : event
}

function movedDetail(detail: ReasoningDetail, { shown, firstDetail }: Reading): ReasoningDetail {
  const index = asCount(detail['index'])
  if (index === undefined) return detail
  shown.nextDetail = Math.max(shown.nextDetail, firstDetail + index + 1)
  return firstDetail === 0 ? detail : { ...detail, index: firstDetail + index }
}
