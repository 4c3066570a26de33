import { type JsonObject, nativeData } from '../../core/events.ts'
import { fieldsOf, isString, objectsIn } from '../../core/json.ts'
import { type TurnCollector, type TurnPiece, withOwnPieces } from '../turn-pieces.ts'
import { ownPartOf } from './build-parts.ts'
import { isGeminiNative } from './chunks.ts'

/** The turn of a Gemini provider, from its chunks. Its thoughts have their signatures at other parts. */
export function collectGeminiTurn(): TurnCollector {
  const pieces: TurnPiece[] = []
  return {
    see({ events }) {
      const chunks = events.flatMap((event): JsonObject[] => {
        const native = nativeData(event, 'gemini', isGeminiNative)
        return native === undefined ? [] : [native.chunk]
      })
      for (const chunk of chunks) {
        const [candidate] = objectsIn(chunk['candidates'])
        for (const part of objectsIn(fieldsOf(candidate?.['content'])['parts'])) {
          const own = ownPartOf(part)
          if (own !== null) pieces.push({ type: 'own', data: own })
          else if (isString(part['text']) && part['thought'] !== true)
            pieces.push({ type: 'text', text: part['text'] })
        }
      }
    },
    pieces: () => withOwnPieces(pieces),
  }
}
