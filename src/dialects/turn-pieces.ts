import type { InferenceFrame, JsonObject, ReasoningDetail } from '../core/events.ts'

/** A piece of a model's output, in order. Its calls follow all pieces. */
export type TurnPiece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thought'; readonly details: readonly ReasoningDetail[] }
  /** A block or an item that only the provider's dialect has, such as a call of the provider's own search. */
  | { readonly type: 'own'; readonly data: JsonObject }

/** Collects the turn of a provider from its frames, to send it back to a provider of the same dialect. */
export interface TurnCollector {
  see(frame: InferenceFrame): void
  /** Null: the turn has no piece of its dialect's own, and its neutral form is complete. */
  pieces(): TurnPiece[] | null
}

export const withOwnPieces = (pieces: TurnPiece[]): TurnPiece[] | null =>
  pieces.some(({ type }) => type === 'own') ? pieces : null
