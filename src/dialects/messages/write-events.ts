import type { JsonObject } from '../../core/events.ts'
import { oneLine } from '../one-line.ts'

export interface StreamEvent extends JsonObject {
  type: string
}

/** One event of a stream: its name is its type. */
export const writeEvent = (event: StreamEvent): string =>
  `event: ${event.type}\ndata: ${oneLine(JSON.stringify(event))}\n\n`

export const PING = writeEvent({ type: 'ping' })

/** A piece of text from the JSON text of its string: what `writeEvent` would give, without an encoding. */
export const spliceText = (index: number, json: string): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":"${json}"}}\n\n`
