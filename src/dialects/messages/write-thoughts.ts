import type { Carrier } from '../../core/carrier.ts'
import type { InferenceEvent, JsonObject, ReasoningDetail } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import { seal } from '../opaque.ts'
import { createTextQueue } from '../text-places.ts'
import { REASONING_FORMAT } from '../thoughts.ts'
import { addBlock, addDelta, type BlockState, type OpenThought, startBlock } from './write-state.ts'

/** A piece of reasoning: its text, and the detail that it belongs to, without the text. */
interface Piece {
  readonly text: string
  readonly detail: ReasoningDetail | undefined
  /** The same text came both ways at once: nothing more is to be expected of it. */
  readonly isRepeated: boolean
}

/**
 * The reasoning of one frame. Most readers return it twice, as text for people and in details for the next turn, in one
 * frame or in two: it is written once.
 */
export function writeThoughts(events: readonly InferenceEvent[], state: BlockState): void {
  let text = ''
  const details: ReasoningDetail[] = []
  for (const event of events) {
    if (event.type === 'reasoning-delta') text += event.text
    if (event.type === 'reasoning-detail') details.push(event.detail)
  }
  const isRepeated = text !== '' && isContainedIn(text, details)
  if (text !== '' && !isRepeated) addText({ text, detail: undefined, isRepeated }, state)
  for (const detail of details) {
    if (isTextual(detail)) addText({ text: textOf(detail), detail: withoutText(detail), isRepeated }, state)
    else addBlock(state, redactedOf(detail, state.carrier))
  }
}

/** True if the texts of the details, in order, make up all of `text`. */
function isContainedIn(text: string, details: readonly ReasoningDetail[]): boolean {
  let rest = text
  for (const detail of details) {
    const written = textOf(detail)
    if (rest.startsWith(written)) rest = rest.slice(written.length)
  }
  return rest === ''
}

const isTextual = ({ type }: JsonObject): boolean => type === 'reasoning.text' || type === 'reasoning.summary'

const textOf = ({ type, text, summary }: ReasoningDetail): string => {
  const visible = type === 'reasoning.summary' ? summary : type === 'reasoning.text' ? text : ''
  return isString(visible) ? visible : ''
}

const withoutText = ({ text, summary, ...detail }: ReasoningDetail): ReasoningDetail => ({
  ...detail,
  type: detail.type,
})

/** Claude's own goes as Anthropic writes it. */
const redactedOf = (detail: ReasoningDetail, carrier: Carrier | undefined): JsonObject => ({
  type: 'redacted_thinking',
  data:
    detail.type === 'reasoning.encrypted' && isClaudes(detail) && isString(detail.data)
      ? detail.data
      : seal(detail, carrier),
})

function addText(piece: Piece, state: BlockState): void {
  const { detail } = piece
  // Hidden text leaves nothing; its detail is what the next turn needs.
  if (detail === undefined && state.hidesReasoning) return
  const thought = thoughtFor(detail, state)
  if (detail !== undefined) thought.detail = Object.assign(thought.detail ?? {}, detail)
  const thinking = state.hidesReasoning ? '' : withoutWritten(piece, thought)
  if (thinking !== '') addDelta(state, { type: 'thinking_delta', thinking })
  if (detail === undefined || !isClaudes(detail) || !isString(detail.signature)) return
  thought.isSigned = true
  addDelta(state, { type: 'signature_delta', signature: detail.signature })
}

/** The text of a piece, '' if the other form of it is already written. */
function withoutWritten({ text, detail, isRepeated }: Piece, thought: OpenThought): string {
  if (isRepeated || text === '') return text
  const [own, other] =
    detail === undefined ? (['bare', 'detailed'] as const) : (['detailed', 'bare'] as const)
  if (thought[other].take(text)) return ''
  thought[own].add(text)
  return text
}

/** The open thought if the piece belongs to it, else a new one. */
function thoughtFor(detail: JsonObject | undefined, state: BlockState): OpenThought {
  const { open } = state
  if (open?.kind === 'thinking' && !open.isSigned) {
    if (detail === undefined || open.detail === undefined || isOfOneThought(detail, open.detail)) return open
  }
  const thought: OpenThought = {
    kind: 'thinking',
    bare: createTextQueue(),
    detailed: createTextQueue(),
    detail: undefined,
    isSigned: false,
  }
  startBlock(state, thought, { type: 'thinking', thinking: '', signature: '' })
  return thought
}

/** Bedrock's pieces name their format with the signature alone, which comes last. */
function isOfOneThought(piece: JsonObject, open: JsonObject): boolean {
  const has = (name: string): boolean => piece[name] !== undefined && piece[name] !== null
  const isSame = (name: string): boolean => (piece[name] ?? null) === (open[name] ?? null)
  const isOpenFormat = !has('format') || open.format === undefined || open.format === null
  return ['type', 'id', 'index'].every(isSame) && (isOpenFormat || isSame('format'))
}

/** Claude's own details, and those without a format. */
const isClaudes = ({ format }: JsonObject): boolean =>
  format === undefined || format === null || format === REASONING_FORMAT
