import type { JsonObject } from '../../core/events.ts'
import { isObject, isString, textOf } from '../../core/json.ts'
import { words } from '../../core/words.ts'
import type { EventWriter } from './write-events.ts'
import {
  type ItemStatus,
  type Items,
  isOpen,
  type Opened,
  type OutputItem,
  type Slot,
  writeAdded,
  writeDone,
} from './write-item.ts'
import { STAGES } from './write-server-tool.ts'

/** Relays the events of a Responses provider, with the places, numbers and ids of this stream. */
export interface Natives {
  write(event: JsonObject): string
  /** False for a complete item that was never announced. */
  isAnnounced(event: JsonObject): boolean
}

/** `announce` opens the item; null: it is not to be shown. */
export function createNatives(
  events: EventWriter,
  items: Items,
  announce: (native: JsonObject) => Opened | null,
): Natives {
  /** By upstream's `output_index`: some providers give an item another id in each event. Null: hidden. */
  const byPlace = new Map<unknown, OutputItem | null>()

  function begin({ output_index }: JsonObject, native: JsonObject): string {
    const opened = announce(native)
    byPlace.set(output_index, opened?.item ?? null)
    return opened?.text ?? ''
  }

  /** An item that the provider did not announce was opened here from its content, or is new. */
  function end(event: JsonObject, native: JsonObject): string {
    const known = byPlace.get(event.output_index)
    if (known === null) return ''
    const item = known !== undefined && isOpen(known) ? known : ownLike(native)
    if (item) return item.close(statusOf(native), native)
    const text = begin(event, skeletonOf(native))
    return text + (byPlace.get(event.output_index)?.close(statusOf(native), native) ?? '')
  }

  const ownLike = (native: unknown): OutputItem | undefined =>
    isObject(native) ? items.firstOwn(native.type) : undefined

  /** An event of an item that is not shown is not shown. */
  function pass(event: JsonObject): string {
    const { type, sequence_number: _, ...fields } = event
    if (!isString(type) || type === '') return ''
    if (fields.output_index === undefined) return events.write(type, fields)
    const item = byPlace.get(fields.output_index)
    if (!item) return ''
    const id = 'item_id' in fields ? { item_id: item.slot.id } : {}
    return events.write(type, { ...fields, output_index: item.slot.index, ...id })
  }

  return {
    write(event) {
      const { type, item } = event
      if (!isObject(item)) return pass(event)
      if (type === 'response.output_item.added') return begin(event, item)
      return type === 'response.output_item.done' ? end(event, item) : pass(event)
    },
    isAnnounced: ({ output_index, item }) => byPlace.has(output_index) || ownLike(item) !== undefined,
  }
}

/** A complete item that the provider did not announce in this stream, with the events that OpenAI has between its ends. */
export function writeOwnItem(slot: Slot, item: JsonObject): Opened {
  const complete = { ...item, id: slot.id }
  const type = textOf(item.type)
  const place = { item_id: slot.id, output_index: slot.index }
  const stage = STAGES.get(type)
  const steps = stage === undefined ? [] : ['in_progress', stage, 'completed']
  const text =
    writeAdded(slot, skeletonOf(complete)) +
    steps.map((step) => slot.events.write(`response.${type}.${step}`, place)).join('') +
    writeDone(slot, complete)
  return { text, item: { slot, type, complete, close: () => '' } }
}

const statusOf = ({ status }: JsonObject): ItemStatus =>
  status === 'incomplete' ? 'incomplete' : 'completed'

/** The announcement of a complete item. */
export function skeletonOf(item: JsonObject): JsonObject {
  const announced: JsonObject = { ...item, status: 'in_progress' }
  for (const name of CONTENT) delete announced[name]
  return announced
}
const CONTENT = words('content summary encrypted_content signature arguments input result action outputs')
