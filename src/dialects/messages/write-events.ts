import type { JsonObject } from '../../core/events.ts'
import { oneLine } from '../one-line.ts'

export interface StreamEvent extends JsonObject {
  type: string
}

/** One event of a stream: its name is its type. */
export const writeEvent = (event: StreamEvent): string =>
  `event: ${event.type}\ndata: ${oneLine(JSON.stringify(event))}\n\n`

export const PING = writeEvent({ type: 'ping' })

/** Pieces of text from the JSON texts of their strings: what `writeEvent` would give, without an encoding. */
export function spliceText(index: number, jsons: readonly string[]): string {
  const head = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":"`
  return `${head}${jsons.length === 1 ? jsons[0] : jsons.join(TEXT_END + head)}${TEXT_END}`
}

const TEXT_END = '"}}\n\n'
