import type { JsonObject } from '../../core/events.ts'
import { oneLine } from '../one-line.ts'

/** Writes the events of one stream: each has its name and the next `sequence_number`, from 0. */
export interface EventWriter {
  write(type: string, fields: JsonObject): string
  /** The same with one field, whose JSON text is known. */
  writeField(type: string, name: string, json: string): string
  /** A delta of visible text from the JSON text of the string: the same bytes as `write`. `head` is of `textHead`. */
  splice(head: string, json: string): string
}

/** A name from upstream that would break the line is told in the data alone. */
const isName = (type: string): boolean => /^[\w.:-]+$/.test(type)

const TEXT_DELTA = 'response.output_text.delta'
const TEXT_DELTA_OPEN = `event: ${TEXT_DELTA}\ndata: {"type":"${TEXT_DELTA}","sequence_number":`

export function createEventWriter(): EventWriter {
  let next = 0
  return {
    write(type, fields) {
      const json = oneLine(JSON.stringify({ type, sequence_number: next, ...fields }))
      next += 1
      return `${isName(type) ? `event: ${type}\n` : ''}data: ${json}\n\n`
    },
    writeField: (type, name, json) =>
      `event: ${type}\ndata: {"type":"${type}","sequence_number":${next++},"${name}":${oneLine(json)}}\n\n`,
    splice: (head, json) => `${TEXT_DELTA_OPEN}${next++},${head}${json}","logprobs":[]}\n\n`,
  }
}

/** Says nothing: for a reply in one piece, of which only the items are wanted. */
export const MUTE: EventWriter = { write: () => '', writeField: () => '', splice: () => '' }

/** What all deltas of one part begin with. */
export const textHead = (itemId: string, outputIndex: number, contentIndex: number): string => {
  const fields = { item_id: itemId, output_index: outputIndex, content_index: contentIndex }
  return `${oneLine(JSON.stringify(fields)).slice(1, -1)},"delta":"`
}

export const writeTextDelta = (events: EventWriter, fields: JsonObject): string =>
  events.write(TEXT_DELTA, fields)
