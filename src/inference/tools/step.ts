import { annotationOf, type CitationFinder, findCitations } from '../../core/citations.ts'
import type {
  DialectName,
  Finish,
  InferenceEvent,
  InferenceFrame,
  ReasoningDetail,
} from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { asCount } from '../../core/json.ts'
import type { InferenceResult } from '../../core/result.ts'
import type { SearchResult } from '../../core/web-access.ts'
import { ownPieceOf } from '../../dialects/own-pieces.ts'
import { addEvent } from '../reply/collect.ts'
import { addToTurn, type TurnPiece } from './turn.ts'
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
  /** The frame for the caller, parted at pieces that only the provider's dialect has. Empty: it has nothing for it. */
  see(frame: InferenceFrame): readonly InferenceFrame[]
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

/** How the steps of a request are read. */
export interface Reading {
  readonly shown: Shown
  isServerTool(name: string): boolean
  /** Between the texts of two steps, for dialects whose answer is one text. */
  readonly separator: string
  /** What earlier steps found. */
  readonly sources: readonly SearchResult[]
  /** The caller's: it sees the pieces that only this dialect has. */
  readonly dialect: DialectName | null
}

/** The output of one step so far. */
interface StepState extends Reading {
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
 * Calls of server tools, usage and the end are left out for the caller; and what only the provider's dialect has, unless it is
 * the caller's too.
 */
export function createStepReader(asked: Reading): StepReader {
  const { shown, sources } = asked
  const turn: TurnPiece[] = []
  const reading: StepState = {
    ...asked,
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
      for (const event of frame.events) addToTurn(event, turn)
      const events = withCitations(
        frame.events.flatMap((event) => shownOf(event, reading) ?? []),
        reading,
      )
      if (frame.plainText !== undefined && events.length === 1 && events[0] === frame.events[0])
        return [frame]
      return parted(events)
    },
    end: () => ({
      result: reading.result,
      pieces: turn.some(({ type }) => type === 'own') ? turn : null,
      calls: [...reading.calls.values()].filter((call) => call !== null),
      requested: reading.requested,
      handedOver: reading.own.size,
      finish: reading.finish,
    }),
  }
}

/** Writers put the thoughts of a frame first: a piece has a frame of its own. */
function parted(events: readonly InferenceEvent[]): InferenceFrame[] {
  const frames: { events: InferenceEvent[] }[] = []
  let isNew = true
  for (const event of events) {
    const isOwn = event.type === 'own-piece'
    if (isNew || isOwn) frames.push({ events: [event] })
    else frames.at(-1)?.events.push(event)
    isNew = isOwn
  }
  return frames
}

/** A link of the answer to a page that a tool found is a citation, right behind the text that ends it. */
function withCitations(events: InferenceEvent[], { cited, start }: StepState): InferenceEvent[] {
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

function shownOf(event: InferenceEvent, reading: StepState): InferenceEvent | null {
  switch (event.type) {
    case 'tool-call-start':
      return startCall(event, reading)
    case 'tool-call-delta':
      return addArguments(event, reading)
    case 'native': {
      const data = event.dialect === reading.dialect ? ownPieceOf(event) : undefined
      return data === undefined ? null : { type: 'own-piece', data }
    }
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

function see(event: InferenceEvent, reading: StepState): InferenceEvent {
  addEvent(reading.result, event)
  return moved(event, reading)
}

/** The signature of a call has the call's id. */
function ofCall(detail: ReasoningDetail, { renamed }: StepState): ReasoningDetail {
  const id = renamed.get(String(detail['id']))
  return id === undefined ? detail : { ...detail, id }
}

function startCall(
  event: Extract<InferenceEvent, { type: 'tool-call-start' }>,
  reading: StepState,
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
  { own, calls, result }: StepState,
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
function moved(event: InferenceEvent, reading: StepState): InferenceEvent {
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

function movedDetail(detail: ReasoningDetail, { shown, firstDetail }: StepState): ReasoningDetail {
  const index = asCount(detail['index'])
  if (index === undefined) return detail
  shown.nextDetail = Math.max(shown.nextDetail, firstDetail + index + 1)
  return firstDetail === 0 ? detail : { ...detail, index: firstDetail + index }
}
