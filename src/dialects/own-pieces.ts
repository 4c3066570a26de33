import type { DialectName, InferenceEvent, JsonObject } from '../core/events.ts'
import { isObject } from '../core/json.ts'

/**
 * A complete block, item or part of what ran at the provider, such as a call of its own search: in its place among the
 * neutral events. Writers have it from other native events; a loop of the gateway's tools, which hides those, from this one.
 */
export const ownPiece = (dialect: DialectName, own: JsonObject): InferenceEvent => ({
  type: 'native',
  dialect,
  data: { own },
})

/** The piece that such an event holds; undefined for any other event. */
export const ownPieceOf = (event: InferenceEvent): JsonObject | undefined =>
  event.type === 'native' && isObject(event.data) && isObject(event.data['own'])
    ? event.data['own']
    : undefined
