import { type JsonObject, nativeData } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { type TurnCollector, type TurnPiece, withOwnPieces } from '../turn-pieces.ts'
import { detailsOfItem, ITEM, isOwnItem, isResponsesNative, textsOf } from './items.ts'

/** The turn of a Responses provider, from its complete items. */
export function collectResponsesTurn(): TurnCollector {
  const pieces: TurnPiece[] = []
  let details = 0

  function add(item: JsonObject): void {
    if (item.type === ITEM.message)
      for (const text of textsOf(item.content)) pieces.push({ type: 'text', text })
    else if (item.type === ITEM.reasoning) {
      const thought = detailsOfItem(item, details)
      details += thought.length
      pieces.push({ type: 'thought', details: thought })
    } else if (isOwnItem(item)) pieces.push({ type: 'own', data: item })
  }

  return {
    see({ events }) {
      for (const each of events) {
        const event = nativeData(each, 'responses', isResponsesNative)?.event
        if (event?.type === 'response.output_item.done' && isObject(event.item)) add(event.item)
      }
    },
    pieces: () => withOwnPieces(pieces),
  }
}
