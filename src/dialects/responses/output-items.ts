import type { JsonObject } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import type { EventWriter } from './event-writer.ts'
import { ITEM } from './items.ts'
import type { ItemStatus, OutputItem, Slot } from './output-item.ts'

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
  /** An item that stayed open got more, so that it may be whole now. */
  touch(item: OutputItem): void
  /** The place of the next item. `native`: the item as a provider of this dialect announced it. */
  slotOf(type: string, native: JsonObject | null): Slot
  add<T extends OutputItem>(opened: Opened<T>): Opened<T>
  /** Ends what was made here, but for calls that may go on. */
  leave(): string
  /** Ends what is open. */
  close(status: ItemStatus): string
}

const PREFIXES: Readonly<Record<string, string>> = {
  [ITEM.message]: 'msg',
  [ITEM.reasoning]: 'rs',
  [ITEM.functionCall]: 'fc',
  [ITEM.customToolCall]: 'ctc',
  [ITEM.imageGenerationCall]: 'ig',
}

/** `unique`: of the reply; ids that are made here have it and the place of the item. */
export function createItems(events: EventWriter, unique: string): Items {
  const all: OutputItem[] = []
  const ids = new Set<string>()
  /** Items made here, by type. Those that were closed go when they are met. */
  const own = new Map<string, Set<OutputItem>>()
  /** Items that were opened or got more since the last `leave`. A reply may have very many: none is asked twice. */
  const touched = new Set<OutputItem>()
  return {
    all,
    firstOwn(type) {
      const candidates = own.get(String(type))
      for (const item of candidates ?? []) {
        if (item.whole === null) return item
        candidates?.delete(item)
      }
      return undefined
    },
    touch(item) {
      touched.add(item)
    },
    slotOf(type, native) {
      const index = all.length
      const told = isString(native?.id) ? native.id : ''
      // xAI gives several items of one reply the same id (2026); clients tell items apart by it.
      const isFree = told !== '' && !ids.has(told)
      const id = isFree ? told : `${PREFIXES[type] ?? 'item'}_${unique}_${index}`
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
  item !== null && item.whole === null
