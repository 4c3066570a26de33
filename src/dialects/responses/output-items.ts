import type { JsonObject } from '../../core/events.ts'
import { isString } from '../values.ts'
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
  return {
    all,
    slotOf(type, native) {
      const index = all.length
      const told = isString(native?.id) ? native.id : ''
      // xAI gives several items of one reply the same id (2026); clients tell items apart by it.
      const isFree = told !== '' && all.every(({ slot }) => slot.id !== told)
      const id = isFree ? told : `${PREFIXES[type] ?? 'item'}_${unique}_${index}`
      return { events, index, id, native }
    },
    add(opened) {
      all.push(opened.item)
      return opened
    },
    leave() {
      let text = ''
      for (const item of all) {
        if (isOpen(item) && item.slot.native === null && !item.mayGoOn?.()) text += item.close('completed')
      }
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
