import type { Piece } from '../../../core/content-filter.ts'
import type { InferenceEvent, JsonObject, ReasoningDetail } from '../../../core/events.ts'
import { type Scan, type Scanners, textOf } from '../scanners.ts'
import { type AnnotationQueue, createAnnotationQueue } from './annotations.ts'
import { type ArgumentsScan, openArguments } from './arguments.ts'

type ChoiceEvent = Extract<InferenceEvent, { choice: number }>
type TextType = 'text-delta' | 'reasoning-delta' | 'refusal-delta'

/**
 * Filters one choice of a reply. Text, reasoning, refusal, audio transcript and the arguments of each call are separate
 * texts. A text ends where the reply continues with another one; held text is released before that.
 */
export interface ChoiceOutput {
  /**
   * Releases the part of an event that is known to be clean; the same event if it is unchanged. `next` is the following
   * event of its frame: the detail that follows a reasoning delta identifies its block.
   */
  take(event: ChoiceEvent, next: InferenceEvent | undefined, out: InferenceEvent[]): void
  /** Releases text that was held before this event. */
  before(event: ChoiceEvent, next: InferenceEvent | undefined, out: InferenceEvent[]): void
  /** Ends all texts, and releases what was held. */
  flush(out: InferenceEvent[]): void
}

interface Thought {
  readonly key: string
  readonly scan: Scan
  last: ReasoningDetail
  isReplaced: boolean
}

interface Choice {
  readonly index: number
  readonly scanners: Scanners
  readonly drop: (name: string) => void
  readonly open: Map<TextType, Scan>
  readonly calls: Map<number, ArgumentsScan>
  readonly annotations: AnnotationQueue
  transcript: Scan | null
  thought: Thought | null
}

/** Calls `drop` with the names of omitted fields. */
export function createChoiceOutput(
  index: number,
  scanners: Scanners,
  drop: (name: string) => void,
): ChoiceOutput {
  const state: Choice = {
    index,
    scanners,
    drop,
    open: new Map(),
    calls: new Map(),
    annotations: createAnnotationQueue(scanners),
    transcript: null,
    thought: null,
  }
  return {
    flush: (out) => flush(state, scanners.rewrites ? out : []),
    before: (event, next, out) => before(state, event, next, scanners.rewrites ? out : []),
    take(event, next, out) {
      if (!scanners.rewrites) out.push(event)
      const to = scanners.rewrites ? out : []
      before(state, event, next, to)
      switch (event.type) {
        case 'text-delta':
        case 'reasoning-delta':
        case 'refusal-delta':
          return addText(state, event, to)
        case 'reasoning-detail':
          return addDetail(state, event, to)
        case 'tool-call-start':
        case 'image':
          to.push(event)
          return
        case 'tool-call-delta':
          return addArguments(state, event, to)
        case 'audio-delta':
          return addAudio(state, event, to)
        case 'annotation':
          return state.annotations.take(event, to)
        case 'logprobs':
          // Log probabilities contain the text that a filter may change.
          if (scanners.rewrites) drop('logprobs')
      }
    },
  }
}

function emitText(
  state: Choice,
  type: TextType,
  pieces: readonly Piece[],
  event: InferenceEvent | null,
  out: InferenceEvent[],
) {
  const text = textOf(pieces)
  if (event !== null && 'text' in event && event.text === text) out.push(event)
  else if (text !== '') out.push({ type, choice: state.index, text })
  if (type === 'text-delta') state.annotations.released(pieces, out)
}

function addText(
  state: Choice,
  event: Extract<ChoiceEvent, { type: TextType }>,
  out: InferenceEvent[],
): void {
  if (event.text === '') {
    out.push(event)
    return
  }
  const scan = state.open.get(event.type) ?? state.scanners.open()
  state.open.set(event.type, scan)
  if (event.type === 'text-delta') state.annotations.received(event.text)
  emitText(state, event.type, scan.push(event.text), event, out)
}

/** Reasoning details repeat the reasoning text: both are held and released together. */
function addDetail(
  state: Choice,
  event: Extract<ChoiceEvent, { type: 'reasoning-detail' }>,
  out: InferenceEvent[],
): void {
  const { detail } = event
  const field = textFieldOf(detail)
  const isSigned = isSignedDetail(detail)
  if (field === null && !isSigned) {
    out.push(event)
    return
  }
  state.thought ??= { key: keyOf(detail), scan: state.scanners.open(), last: detail, isReplaced: false }
  const { last } = state.thought
  state.thought.last = detail
  const text = field === null ? '' : String(detail[field])
  const pieces = [
    ...(text === '' ? [] : state.thought.scan.push(text)),
    ...(isSigned ? state.thought.scan.end() : []),
  ]
  state.thought.isReplaced ||= isChanged(pieces)
  const isLost = isSigned && state.thought.isReplaced
  if (isLost) state.drop('reasoning_details.signature')
  if (isSigned) {
    state.thought = null
    flushReasoning(state, out)
  }
  const passed = textOf(pieces)
  const { signature, ...unsigned } = detail
  const sanitized: ReasoningDetail = isLost ? { ...unsigned, type: detail.type } : detail
  if (passed === text && !isLost) out.push(event)
  else if (field === null && passed !== '') {
    out.push(pieceOf(state.index, last, passed))
    if (!isLost) out.push(event)
  } else if (passed !== '') out.push({ ...event, detail: { ...sanitized, [field ?? 'text']: passed } })
  else if (isSigned && !isLost) out.push({ ...event, detail: sanitized })
}

function flushReasoning(state: Choice, out: InferenceEvent[]): void {
  const scan = state.open.get('reasoning-delta')
  state.open.delete('reasoning-delta')
  if (scan) emitText(state, 'reasoning-delta', scan.end(), null, out)
}

function flushThoughts(state: Choice, out: InferenceEvent[]): void {
  flushReasoning(state, out)
  if (state.thought === null) return
  const { scan, last } = state.thought
  state.thought = null
  const text = textOf(scan.end())
  if (text !== '') out.push(pieceOf(state.index, last, text))
}

/** The held text of a reasoning block, as a detail like its last one. */
function pieceOf(choice: number, last: ReasoningDetail, text: string): InferenceEvent {
  const { signature: _, ...detail } = last
  const field = textFieldOf(last) ?? 'text'
  return { type: 'reasoning-detail', choice, detail: { ...detail, type: last.type, [field]: text } }
}

/** Ends every text except the one that continues. */
function flushOthers(state: Choice, out: InferenceEvent[], except: TextType | 'calls' | null): void {
  if (except !== 'reasoning-delta') flushThoughts(state, out)
  for (const [type, scan] of state.open) {
    if (type === except || type === 'reasoning-delta') continue
    state.open.delete(type)
    emitText(state, type, scan.end(), null, out)
  }
  if (except !== 'text-delta') state.annotations.flush(out)
  if (except === 'calls') return
  for (const [index, scan] of state.calls) {
    state.calls.delete(index)
    const json = scan.end()
    if (json !== '') out.push({ type: 'tool-call-delta', choice: state.index, index, json })
  }
}

function addArguments(
  state: Choice,
  event: Extract<ChoiceEvent, { type: 'tool-call-delta' }>,
  out: InferenceEvent[],
): void {
  const known = state.calls.get(event.index) ?? openArguments(state.scanners)
  state.calls.set(event.index, known)
  const json = known.push(event.json)
  if (json === event.json) out.push(event)
  else if (json !== '') out.push({ ...event, json })
}

/** Scans the transcript; the audio itself is not scanned. */
function addAudio(
  state: Choice,
  event: Extract<ChoiceEvent, { type: 'audio-delta' }>,
  out: InferenceEvent[],
): void {
  const { transcript } = event.audio
  if (typeof transcript !== 'string' || transcript === '') {
    out.push(event)
    return
  }
  state.transcript ??= state.scanners.open()
  const text = textOf(state.transcript.push(transcript))
  out.push(text === transcript ? event : { ...event, audio: { ...event.audio, transcript: text } })
}

function flush(state: Choice, out: InferenceEvent[]): void {
  flushOthers(state, out, null)
  const rest = state.transcript === null ? '' : textOf(state.transcript.end())
  state.transcript = null
  if (rest !== '') out.push({ type: 'audio-delta', choice: state.index, audio: { transcript: rest } })
}

function before(
  state: Choice,
  event: ChoiceEvent,
  next: InferenceEvent | undefined,
  out: InferenceEvent[],
): void {
  switch (event.type) {
    case 'text-delta':
    case 'refusal-delta':
      if (event.text !== '') flushOthers(state, out, event.type)
      return
    case 'reasoning-delta':
      if (event.text === '') return
      if (next?.type === 'reasoning-detail') flushOtherThoughts(state, next.detail, out)
      flushOthers(state, out, 'reasoning-delta')
      return
    case 'reasoning-detail':
      if (textFieldOf(event.detail) === null && !isSignedDetail(event.detail))
        flushOthers(state, out, 'calls')
      else {
        flushOtherThoughts(state, event.detail, out)
        flushOthers(state, out, 'reasoning-delta')
      }
      return
    case 'tool-call-start':
    case 'tool-call-delta':
    case 'image':
      flushOthers(state, out, 'calls')
  }
}

function flushOtherThoughts(state: Choice, detail: ReasoningDetail, out: InferenceEvent[]): void {
  if (state.thought !== null && state.thought.key !== keyOf(detail)) flushThoughts(state, out)
}

const isSignedDetail = ({ signature }: JsonObject): boolean =>
  typeof signature === 'string' && signature !== ''

/** Identifies the reasoning block of a detail. */
const keyOf = ({ type, index, id }: JsonObject): string => `${String(type)}/${String(index)}/${String(id)}`

function textFieldOf(detail: JsonObject): 'text' | 'summary' | null {
  if (typeof detail['text'] === 'string' && detail['text'] !== '') return 'text'
  return typeof detail['summary'] === 'string' && detail['summary'] !== '' ? 'summary' : null
}

const isChanged = (pieces: readonly Piece[]): boolean => pieces.some(({ kind }) => kind !== 'kept')
