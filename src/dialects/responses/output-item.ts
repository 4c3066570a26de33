import { dataUrlHead } from '../../core/data-url.ts'
import type { JsonObject } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import type { EventWriter } from './event-writer.ts'

/** Where an item stands in the output, and under which id all of its events name it. */
export interface Slot {
  readonly events: EventWriter
  /** `output_index`. */
  readonly index: number
  readonly id: string
  /** The item as a provider of this dialect announced it; null: it is made here. */
  readonly native: JsonObject | null
}

export type ItemStatus = 'completed' | 'incomplete'

/** One item of the output while it comes. */
export interface OutputItem {
  readonly slot: Slot
  readonly type: string
  /** The whole item; null while it is open. */
  readonly whole: JsonObject | null
  /**
   * The events that end it, `output_item.done` the last of them. `native` is the item as a provider of this dialect
   * told it at its end: it is what is shown, under the id that was announced.
   */
  close(status: ItemStatus, native?: JsonObject): string
  /** True where content of another kind does not end it. */
  mayGoOn?(): boolean
}

export const writeAdded = ({ events, index }: Slot, item: JsonObject): string =>
  events.write('response.output_item.added', { output_index: index, item })

/** The end of the response repeats the item: its JSON text is remembered until then. */
export function writeDone({ events, index }: Slot, item: JsonObject, json = events.jsonOf(item)): string {
  events.remember(item, json)
  return events.writeField('response.output_item.done', { output_index: index }, 'item', json)
}

/** An item that is shown as its provider tells it: built-in and server tools, and any that nobody here knows. */
export function openPlain(slot: Slot, type: string): { text: string; item: OutputItem } {
  const added = { ...slot.native, type, id: slot.id }
  let whole: JsonObject | null = null
  return {
    text: writeAdded(slot, added),
    item: {
      slot,
      type,
      get whole() {
        return whole
      },
      close(status, native) {
        whole = { ...(native ?? { ...added, status }), id: slot.id }
        return writeDone(slot, whole)
      },
    },
  }
}

/** An image that came whole: `result` is its base64, or its address. */
export function writeImage(slot: Slot, url: string): { text: string; item: OutputItem } {
  const head = dataUrlHead(url)
  const format = head?.isBase64 ? /^image\/([a-z0-9.+-]+)$/i.exec(head.mediaType)?.[1] : undefined
  const place = { item_id: slot.id, output_index: slot.index }
  const item = { id: slot.id, type: 'image_generation_call', status: 'completed' }
  const whole = {
    ...item,
    ...(format === undefined ? {} : { output_format: format }),
    result: head === null || format === undefined ? url : url.slice(head.length),
  }
  const text =
    writeAdded(slot, { ...item, status: 'in_progress', result: null }) +
    slot.events.write('response.image_generation_call.in_progress', place) +
    slot.events.write('response.image_generation_call.generating', place) +
    slot.events.write('response.image_generation_call.completed', place) +
    writeDone(slot, whole)
  return { text, item: { slot, type: item.type, whole, close: () => '' } }
}

export const textOf = (value: unknown): string => (isString(value) ? value : '')
