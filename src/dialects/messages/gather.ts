import type { FrameBatch, InferenceEvent, JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { createCollector } from './collect-blocks.ts'
import { isMessagesNative } from './native.ts'

/**
 * A reply that a provider of this dialect streamed, as it would have been told whole: with the `message` that its
 * events make, block by block, in place of those events. Any other reply is as it was.
 */
export function gatherMessage(frames: FrameBatch): FrameBatch {
  const collector = createCollector()
  let begun: JsonObject | undefined
  const end: JsonObject = {}
  let started = 0

  function read({ type, ...fields }: JsonObject): void {
    const at = Number(fields.index)
    if (type === 'message_start' && isObject(fields.message)) begun = fields.message
    else if (type === 'content_block_start' && isObject(fields.content_block)) {
      started = at + 1
      collector.start(at, fields.content_block)
    } else if (type === 'content_block_delta' && isObject(fields.delta)) collector.delta(at, fields.delta)
    else if (type === 'content_block_stop') collector.stop(at)
    else if (type === 'message_delta') {
      const { delta, usage: _, ...rest } = fields
      Object.assign(end, rest, isObject(delta) ? delta : {})
    }
  }

  for (const { events } of frames) {
    const own = events.flatMap(eventOf)
    for (const event of own) read(event)
    // Plain pieces of text have no event of their own.
    if (own.length === 0) {
      for (const event of events) {
        if (event.type === 'text-delta')
          collector.delta(started - 1, { type: 'text_delta', text: event.text })
      }
    }
  }
  if (begun === undefined || !isString(end.stop_reason)) return frames
  const message = { ...begun, ...end, content: collector.content }
  return [
    ...frames.map(({ events }) => ({ events: events.filter((event) => eventOf(event).length === 0) })),
    { events: [{ type: 'native', dialect: 'messages', data: { message } }] },
  ]
}

function eventOf(event: InferenceEvent): JsonObject[] {
  if (event.type !== 'native' || event.dialect !== 'messages' || !isMessagesNative(event.data)) return []
  return event.data.event ? [event.data.event] : []
}
