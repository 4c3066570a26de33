import type { Piece } from '../../../core/content-filter.ts'
import type { InferenceEvent, JsonObject, ReasoningDetail } from '../../../core/events.ts'
import { type Scan, type Scanners, textOf } from '../scanners.ts'
import { type AnnotationQueue, createAnnotationQueue } from './annotations.ts'
import { type ArgumentsScan, openArguments } from './arguments.ts'

type ChoiceEvent = Extract<InferenceEvent, { choice: number }>
type Spoken = 'text-delta' | 'reasoning-delta' | 'refusal-delta'

/**
 * One choice of an answer as filters let it pass. Visible text, reasoning, refusal, the transcript of a sound and the
 * arguments of each call are texts of their own; one ends where the answer goes on in another of them. Text that
 * is held back passes before that.
 */
export interface ChoiceOutput {
  /**
   * Writes the part of an event that may pass; the event itself if it is unchanged. `next` is the following event of its
   * frame: the detail behind a piece of reasoning identifies its thought.
   */
  take(event: ChoiceEvent, next: InferenceEvent | undefined, out: InferenceEvent[]): void
  /** Writes text that was held back before this event. */
  before(event: ChoiceEvent, next: InferenceEvent | undefined, out: InferenceEvent[]): void
  /** All texts end here. */
  leave(out: InferenceEvent[]): void
}

interface Thought {
  readonly key: string
  readonly scan: Scan
  last: ReasoningDetail
  isReplaced: boolean
}

/** `drop` gets the names of omitted fields. */
export function createChoiceOutput(
  choice: number,
  scanners: Scanners,
  drop: (name: string) => void,
): ChoiceOutput {
  const open = new Map<Spoken, Scan>()
  const calls = new Map<number, ArgumentsScan>()
  let transcript: Scan | null = null
  let thought: Thought | null = null
  const annotations: AnnotationQueue = createAnnotationQueue(scanners)

  function say(type: Spoken, pieces: readonly Piece[], event: InferenceEvent | null, out: InferenceEvent[]) {
    const text = textOf(pieces)
    if (event !== null && 'text' in event && event.text === text) out.push(event)
    else if (text !== '') out.push({ type, choice, text })
    if (type === 'text-delta') annotations.passed(pieces, out)
  }

  function speak(event: Extract<ChoiceEvent, { type: Spoken }>, out: InferenceEvent[]): void {
    if (event.text === '') {
      out.push(event)
      return
    }
    const scan = open.get(event.type) ?? scanners.open()
    open.set(event.type, scan)
    if (event.type === 'text-delta') annotations.came(event.text)
    say(event.type, scan.push(event.text), event, out)
  }

  /** Pieces of details repeat the reasoning beside them: both are held back and released together. */
  function think(event: Extract<ChoiceEvent, { type: 'reasoning-detail' }>, out: InferenceEvent[]): void {
    const { detail } = event
    const field = textFieldOf(detail)
    const isSigned = isSignedDetail(detail)
    if (field === null && !isSigned) {
      out.push(event)
      return
    }
    thought ??= { key: keyOf(detail), scan: scanners.open(), last: detail, isReplaced: false }
    const { last } = thought
    thought.last = detail
    const text = field === null ? '' : String(detail[field])
    const pieces = [...(text === '' ? [] : thought.scan.push(text)), ...(isSigned ? thought.scan.end() : [])]
    thought.isReplaced ||= isChanged(pieces)
    const isLost = isSigned && thought.isReplaced
    if (isLost) drop('reasoning_details.signature')
    if (isSigned) {
      thought = null
      leaveReasoning(out)
    }
    const said = textOf(pieces)
    const { signature, ...unsigned } = detail
    const kept: ReasoningDetail = isLost ? { ...unsigned, type: detail.type } : detail
    if (said === text && !isLost) out.push(event)
    else if (field === null && said !== '') {
      out.push(pieceOf(last, said))
      if (!isLost) out.push(event)
    } else if (said !== '') out.push({ ...event, detail: { ...kept, [field ?? 'text']: said } })
    else if (isSigned && !isLost) out.push({ ...event, detail: kept })
  }

  function leaveReasoning(out: InferenceEvent[]): void {
    const scan = open.get('reasoning-delta')
    open.delete('reasoning-delta')
    if (scan) say('reasoning-delta', scan.end(), null, out)
  }

  function leaveThoughts(out: InferenceEvent[]): void {
    leaveReasoning(out)
    if (thought === null) return
    const { scan, last } = thought
    thought = null
    const text = textOf(scan.end())
    if (text !== '') out.push(pieceOf(last, text))
  }

  /** The rest of a thought, in the form of its last piece. */
  function pieceOf(last: ReasoningDetail, text: string): InferenceEvent {
    const { signature: _, ...detail } = last
    const field = textFieldOf(last) ?? 'text'
    return { type: 'reasoning-detail', choice, detail: { ...detail, type: last.type, [field]: text } }
  }

  /** All but what goes on. */
  function leaveAll(out: InferenceEvent[], but: Spoken | 'calls' | null): void {
    if (but !== 'reasoning-delta') leaveThoughts(out)
    for (const [type, scan] of open) {
      if (type === but || type === 'reasoning-delta') continue
      open.delete(type)
      say(type, scan.end(), null, out)
    }
    if (but !== 'text-delta') annotations.leave(out)
    if (but === 'calls') return
    for (const [index, call] of calls) {
      calls.delete(index)
      const json = call.end()
      if (json !== '') out.push({ type: 'tool-call-delta', choice, index, json })
    }
  }

  function call(event: Extract<ChoiceEvent, { type: 'tool-call-delta' }>, out: InferenceEvent[]): void {
    const known = calls.get(event.index) ?? openArguments(scanners)
    calls.set(event.index, known)
    const json = known.push(event.json)
    if (json === event.json) out.push(event)
    else if (json !== '') out.push({ ...event, json })
  }

  /** The bytes of a sound are not listened to. */
  function sound(event: Extract<ChoiceEvent, { type: 'audio-delta' }>, out: InferenceEvent[]): void {
    const { transcript: said } = event.audio
    if (typeof said !== 'string' || said === '') {
      out.push(event)
      return
    }
    transcript ??= scanners.open()
    const text = textOf(transcript.push(said))
    out.push(text === said ? event : { ...event, audio: { ...event.audio, transcript: text } })
  }

  function leave(out: InferenceEvent[]): void {
    leaveAll(out, null)
    const rest = transcript === null ? '' : textOf(transcript.end())
    transcript = null
    if (rest !== '') out.push({ type: 'audio-delta', choice, audio: { transcript: rest } })
  }

  function before(event: ChoiceEvent, next: InferenceEvent | undefined, out: InferenceEvent[]): void {
    switch (event.type) {
      case 'text-delta':
      case 'refusal-delta':
        if (event.text !== '') leaveAll(out, event.type)
        return
      case 'reasoning-delta':
        if (event.text === '') return
        if (next?.type === 'reasoning-detail') leaveOtherThoughts(next.detail, out)
        leaveAll(out, 'reasoning-delta')
        return
      case 'reasoning-detail':
        if (textFieldOf(event.detail) === null && !isSignedDetail(event.detail)) leaveAll(out, 'calls')
        else {
          leaveOtherThoughts(event.detail, out)
          leaveAll(out, 'reasoning-delta')
        }
        return
      case 'tool-call-start':
      case 'tool-call-delta':
      case 'image':
        leaveAll(out, 'calls')
    }
  }

  function leaveOtherThoughts(detail: ReasoningDetail, out: InferenceEvent[]): void {
    if (thought !== null && thought.key !== keyOf(detail)) leaveThoughts(out)
  }

  return {
    leave: (out) => leave(scanners.rewrites ? out : []),
    before: (event, next, out) => before(event, next, scanners.rewrites ? out : []),
    take(event, next, out) {
      if (!scanners.rewrites) out.push(event)
      const to = scanners.rewrites ? out : []
      before(event, next, to)
      switch (event.type) {
        case 'text-delta':
        case 'reasoning-delta':
        case 'refusal-delta':
          return speak(event, to)
        case 'reasoning-detail':
          return think(event, to)
        case 'tool-call-start':
        case 'image':
          to.push(event)
          return
        case 'tool-call-delta':
          return call(event, to)
        case 'audio-delta':
          return sound(event, to)
        case 'annotation':
          return annotations.take(event, to)
        case 'logprobs':
          // They spell out the text that a filter may change.
          if (scanners.rewrites) drop('logprobs')
      }
    },
  }
}

const isSignedDetail = ({ signature }: JsonObject): boolean =>
  typeof signature === 'string' && signature !== ''

/** Pieces of one thought share it. */
const keyOf = ({ type, index, id }: JsonObject): string => `${String(type)}/${String(index)}/${String(id)}`

function textFieldOf(detail: JsonObject): 'text' | 'summary' | null {
  if (typeof detail['text'] === 'string' && detail['text'] !== '') return 'text'
  return typeof detail['summary'] === 'string' && detail['summary'] !== '' ? 'summary' : null
}

const isChanged = (pieces: readonly Piece[]): boolean => pieces.some(({ kind }) => kind !== 'kept')
