import { dataUrlHead } from '../../core/data-url.ts'
import type { JsonObject, ServerToolCall } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import { ITEM } from './items.ts'
import type { EventWriter } from './write-events.ts'

/** The place of an item in the output, and the id that all of its events use. */
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
  /** The complete item; null while it is open. */
  readonly complete: JsonObject | null
  /**
   * The events that end it, `output_item.done` the last of them. `native` is the item as a provider of this dialect
   * sent it at its end: callers receive that one, under the id that was announced.
   */
  close(status: ItemStatus, native?: JsonObject): string
  /** True where content of another kind does not end it. */
  mayGoOn?(): boolean
}

/** The item of one call of the gateway's own tools. */
export interface ServerToolOutput extends OutputItem {
  finish(call: ServerToolCall): string
}

/**
 * Such an item, which is open until its result is there. `unfinished`: as it is if the reply ends before. `finished`: the
 * events of its end before the last one, and the item.
 */
export function createServerToolOutput(
  slot: Slot,
  type: string,
  unfinished: JsonObject,
  finished: (call: ServerToolCall) => { readonly text: string; readonly item: JsonObject },
): ServerToolOutput {
  let complete: JsonObject | null = null
  const done = (item: JsonObject): string => {
    complete = item
    return writeDone(slot, item)
  }
  return {
    slot,
    type,
    get complete() {
      return complete
    },
    mayGoOn: () => complete === null,
    close: () => (complete === null ? done(unfinished) : ''),
    finish(call) {
      if (complete !== null) return ''
      const { text, item } = finished(call)
      return text + done(item)
    },
  }
}

export const writeAdded = ({ events, index }: Slot, item: JsonObject): string =>
  events.write('response.output_item.added', { output_index: index, item })

/** The end of the response repeats the item: its JSON text is remembered until then. */
export function writeDone({ events, index }: Slot, item: JsonObject, json = events.jsonOf(item)): string {
  events.remember(item, json)
  return events.writeField('response.output_item.done', { output_index: index }, 'item', json)
}

/** An item that is forwarded unchanged: built-in and server tools, and unknown ones. */
export function openPlain(slot: Slot, type: string): { text: string; item: OutputItem } {
  const added = { ...slot.native, type, id: slot.id }
  let complete: JsonObject | null = null
  return {
    text: writeAdded(slot, added),
    item: {
      slot,
      type,
      get complete() {
        return complete
      },
      close(status, native) {
        complete = { ...(native ?? { ...added, status }), id: slot.id }
        return writeDone(slot, complete)
      },
    },
  }
}

/** A complete image: `result` is its base64, or its address. */
export function writeImage(slot: Slot, url: string): { text: string; item: OutputItem } {
  const head = dataUrlHead(url)
  const format = head?.isBase64 ? /^image\/([a-z0-9.+-]+)$/i.exec(head.mediaType)?.[1] : undefined
  const place = { item_id: slot.id, output_index: slot.index }
  const item = { id: slot.id, type: 'image_generation_call', status: 'completed' }
  const complete = {
    ...item,
    ...(format === undefined ? {} : { output_format: format }),
    result: head === null || format === undefined ? url : url.slice(head.length),
  }
  const text =
    writeAdded(slot, { ...item, status: 'in_progress', result: null }) +
    slot.events.write('response.image_generation_call.in_progress', place) +
    slot.events.write('response.image_generation_call.generating', place) +
    slot.events.write('response.image_generation_call.completed', place) +
    writeDone(slot, complete)
  return { text, item: { slot, type: item.type, complete, close: () => '' } }
}

/** An item that has been opened, and the events of that. */
export interface Opened<T extends OutputItem = OutputItem> {
  readonly text: string
  readonly item: T
}

/** The items of one reply, in the order of their `output_index`. */
export interface Items {
  readonly all: readonly OutputItem[]
  /** The first item of this type that was made here and is open. */
  firstOwn(type: unknown): OutputItem | undefined
  /** An item that stayed open received more, so it may be complete now. */
  touch(item: OutputItem): void
  /** The place of the next item. `native`: the item as a provider of this dialect announced it. */
  slotOf(type: string, native: JsonObject | null): Slot
  add<T extends OutputItem>(opened: Opened<T>): Opened<T>
  /** Ends the items that this writer opened, except calls that may continue. */
  leave(): string
  /** Closes the open items. */
  close(status: ItemStatus): string
}

const PREFIXES: Readonly<Record<string, string>> = {
  [ITEM.message]: 'msg',
  [ITEM.reasoning]: 'rs',
  [ITEM.functionCall]: 'fc',
  [ITEM.customToolCall]: 'ctc',
  [ITEM.imageGenerationCall]: 'ig',
  [ITEM.mcpCall]: 'mcp',
  [ITEM.mcpListTools]: 'mcpl',
  [ITEM.mcpApprovalRequest]: 'mcpr',
}

/** `unique`: of the reply; ids that are made here have it and the place of the item. */
export function createItems(events: EventWriter, unique: string): Items {
  const all: OutputItem[] = []
  const ids = new Set<string>()
  /** Items made here, by type. Those that were closed go when they are met. */
  const own = new Map<string, Set<OutputItem>>()
  /** Items that were opened or got more since the last `leave`. A reply may have very many: no item is checked twice. */
  const touched = new Set<OutputItem>()
  return {
    all,
    firstOwn(type) {
      const candidates = own.get(String(type))
      for (const item of candidates ?? []) {
        if (item.complete === null) return item
        candidates?.delete(item)
      }
      return undefined
    },
    touch(item) {
      touched.add(item)
    },
    slotOf(type, native) {
      const index = all.length
      const reported = isString(native?.id) ? native.id : ''
      // xAI gives several items of one reply the same id (2026); clients distinguish items by it.
      const isFree = reported !== '' && !ids.has(reported)
      const id = isFree ? reported : `${PREFIXES[type] ?? 'item'}_${unique}_${index}`
      ids.add(id)
      return { events, index, id, native }
    },
    add(opened) {
      const { item } = opened
      all.push(item)
      if (item.slot.native !== null) return opened
      touched.add(item)
      const others = own.get(item.type) ?? new Set()
      own.set(item.type, others.add(item))
      return opened
    },
    leave() {
      let text = ''
      for (const item of touched) if (isOpen(item) && !item.mayGoOn?.()) text += item.close('completed')
      touched.clear()
      return text
    },
    close(status) {
      let text = ''
      for (const item of all) if (isOpen(item)) text += item.close(status)
      return text
    },
  }
}

export const isOpen = <T extends OutputItem>(item: T | null): item is T =>
  item !== null && item.complete === null
