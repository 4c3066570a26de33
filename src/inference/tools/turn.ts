import type { InferenceEvent, JsonObject, ReasoningDetail } from '../../core/events.ts'
import { isOwnDetail as isGoogles } from '../../dialects/gemini/signatures.ts'
import { ownPieceOf } from '../../dialects/own-pieces.ts'

/** A piece of a model's output, in order. Its calls follow all pieces. */
export type TurnPiece =
  | { readonly type: 'text'; text: string }
  | { readonly type: 'thought'; readonly details: ReasoningDetail[] }
  /** A block, an item or a part that only the provider's dialect has. */
  | { readonly type: 'own'; readonly data: JsonObject }

/**
 * Adds what a provider said to its turn, which is sent back to a provider of the same dialect. Google's thoughts have their
 * signatures at other parts, so they are no pieces.
 */
export function addToTurn(event: InferenceEvent, turn: TurnPiece[]): void {
  const last = turn.at(-1)
  const own = ownPieceOf(event)
  if (own !== undefined) turn.push({ type: 'own', data: own })
  else if (event.type === 'text-delta') {
    if (last?.type === 'text') last.text += event.text
    else turn.push({ type: 'text', text: event.text })
  } else if (event.type === 'reasoning-detail' && !isGoogles(event.detail)) {
    if (last?.type === 'thought') last.details.push(event.detail)
    else turn.push({ type: 'thought', details: [event.detail] })
  }
}
