import type { InferenceEvent, JsonObject, ReasoningDetail } from '../../core/events.ts'
import { REASONING_FORMAT } from '../claude-thoughts.ts'
import { seal } from '../opaque.ts'
import { isString } from '../values.ts'
import { addBlock, addDelta, type BlockState, type OpenThought, startBlock } from './block-state.ts'

/** A piece of reasoning: its text, and the detail that it belongs to, without the text. */
interface Piece {
  readonly text: string
  readonly detail: ReasoningDetail | undefined
}

/**
 * The reasoning of one frame. Most readers tell it twice, as text for people and in details for the next turn: where
 * both say the same it is one; else the text stands for itself.
 */
export function writeThoughts(events: readonly InferenceEvent[], state: BlockState): void {
  let text = ''
  const details: Piece[] = []
  for (const event of events) {
    if (event.type === 'reasoning-delta') text += event.text
    if (event.type === 'reasoning-detail') details.push(pieceOf(event.detail))
  }
  const isToldTwice = text === '' || text === details.map((piece) => piece.text).join('')
  if (!isToldTwice) addText({ text, detail: undefined }, state)
  for (const { text: own, detail } of details) {
    const piece = { text: isToldTwice ? own : '', detail }
    if (detail && isTextual(detail)) addText(piece, state)
    else if (detail) addBlock(state, redactedOf(detail))
  }
}

const isTextual = ({ type }: JsonObject): boolean => type === 'reasoning.text' || type === 'reasoning.summary'

function pieceOf(detail: ReasoningDetail): Piece {
  if (!isTextual(detail)) return { text: '', detail }
  const { text, summary, ...rest } = detail
  const said = detail.type === 'reasoning.summary' ? summary : text
  return { text: isString(said) ? said : '', detail: { ...rest, type: detail.type } }
}

/** Claude's own goes as Anthropic writes it. */
const redactedOf = (detail: ReasoningDetail): JsonObject => ({
  type: 'redacted_thinking',
  data:
    detail.type === 'reasoning.encrypted' && isClaudes(detail) && isString(detail.data)
      ? detail.data
      : seal(detail),
})

function addText({ text, detail }: Piece, state: BlockState): void {
  // Hidden text leaves nothing; its detail is what the next turn needs.
  if (detail === undefined && state.hidesReasoning) return
  const thought = thoughtFor(detail, state)
  const wasTold = detail !== undefined && thought.detail === undefined && thought.text === text
  if (detail !== undefined) thought.detail = { ...thought.detail, ...detail }
  if (text !== '' && !wasTold && !state.hidesReasoning) {
    thought.text += text
    addDelta(state, { type: 'thinking_delta', thinking: text })
  }
  if (detail === undefined || !isClaudes(detail) || !isString(detail.signature)) return
  thought.isSigned = true
  addDelta(state, { type: 'signature_delta', signature: detail.signature })
}

/** The thought under way where the piece belongs to it, else a new one. */
function thoughtFor(detail: JsonObject | undefined, state: BlockState): OpenThought {
  const { open } = state
  if (open?.kind === 'thinking' && !open.isSigned) {
    if (detail === undefined || open.detail === undefined || keyOf(detail) === keyOf(open.detail)) return open
  }
  const thought: OpenThought = { kind: 'thinking', text: '', detail: undefined, isSigned: false }
  startBlock(state, thought, { type: 'thinking', thinking: '', signature: '' })
  return thought
}

/** Pieces of one thought have the same. */
const keyOf = ({ type, format, id, index }: JsonObject): string =>
  JSON.stringify([type, format ?? null, id ?? null, index ?? null])

/** Claude's own, or of somebody who does not say. */
const isClaudes = ({ format }: JsonObject): boolean =>
  format === undefined || format === null || format === REASONING_FORMAT
