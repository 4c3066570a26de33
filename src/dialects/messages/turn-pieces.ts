import { type InferenceEvent, type JsonObject, nativeData } from '../../core/events.ts'
import { asList, fieldsOf, isObject, textOf } from '../../core/json.ts'
import { addRedacted, addThought } from '../claude-blocks.ts'
import { REASONING_FORMAT } from '../thoughts.ts'
import { type TurnCollector, type TurnPiece, withOwnPieces } from '../turn-pieces.ts'
import { isOwnBlock } from './fields.ts'
import { createCollector, isMessagesNative } from './write-native.ts'

/** The turn of a Messages provider, from its events or its complete message. */
export function collectMessagesTurn(): TurnCollector {
  const collector = createCollector()
  let complete: readonly unknown[] | null = null
  let started = 0

  function read({ type, index, content_block, delta }: JsonObject): void {
    const at = Number(index)
    if (type === 'content_block_start' && isObject(content_block)) {
      started = at + 1
      collector.start(at, content_block)
    } else if (type === 'content_block_delta' && isObject(delta)) collector.delta(at, delta)
    else if (type === 'content_block_stop') collector.stop(at)
  }

  return {
    see({ events }) {
      const natives = events.flatMap((event) => nativeData(event, 'messages', isMessagesNative) ?? [])
      for (const { event, message } of natives) {
        if (message) complete = asList(message['content'])
        if (event) read(event)
      }
      if (natives.length > 0) return
      // Plain pieces of text have no event of their own.
      for (const event of events)
        if (event.type === 'text-delta')
          collector.delta(started - 1, { type: 'text_delta', text: event.text })
    },
    pieces() {
      let thoughts = 0
      return withOwnPieces(
        (complete ?? collector.content).flatMap((block): TurnPiece[] => {
          const piece = pieceOf(fieldsOf(block), thoughts)
          if (piece?.type === 'thought') thoughts += 1
          return piece === null ? [] : [piece]
        }),
      )
    },
  }
}

function pieceOf(block: JsonObject, index: number): TurnPiece | null {
  if (block.type === 'text') return { type: 'text', text: textOf(block.text) }
  if (isOwnBlock(block)) return { type: 'own', data: block }
  const events: InferenceEvent[] = []
  if (block.type === 'thinking')
    addThought(textOf(block.thinking), textOf(block.signature), index, REASONING_FORMAT, events)
  if (block.type === 'redacted_thinking') addRedacted(textOf(block.data), index, events)
  const details = events.flatMap((event) => (event.type === 'reasoning-detail' ? [event.detail] : []))
  return details.length === 0 ? null : { type: 'thought', details }
}
