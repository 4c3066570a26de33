import type { ResponseStore, StoredResponse } from '../../core/stored-response.ts'
import { isTerminal, terminalEvent } from './terminal-event.ts'

/** Consecutive events of a stream, and the number of the last one. */
export interface EventRange {
  readonly text: string
  readonly last: number
}

/** The source of a stream: a running response, or the store. */
export interface EventSource {
  /** The events after this number, waiting for the next one if necessary; null at the end. */
  after(sequence: number): Promise<EventRange | null>
}

/** The events of a running response. Each reader reads at its own pace. */
export interface EventLog extends EventSource {
  /** Appends complete SSE blocks, whose sequence numbers count up from 0. */
  append(text: string): void
  /** The number of the last event; -1 before the first. */
  last(): number
  /** The text of the last event; '' before the first. */
  lastEvent(): string
  /** Ends the log. Resolves once all events are stored, or storing them has failed. */
  close(): Promise<void>
}

/** Events beyond this are moved to the store, to bound memory. */
const HELD_CHARACTERS = 256 * 1024
const BLOCK_END = '\n\n'
const DONE = 'data: [DONE]'

/** The events of a text, without comments and the terminal marker. */
export const eventsOf = (text: string): string[] =>
  text.split(BLOCK_END).filter((block) => block !== '' && !block.startsWith(':') && block !== DONE)

/** Splits a stream that arrives in pieces: returns the blocks that each piece completes. */
export function createBlockSplitter(): (piece: string) => string {
  let open: string[] = []
  /** A trailing line feed, which may be the first half of a block's end. */
  let carried = ''
  return (piece) => {
    const text = carried + piece
    carried = text.endsWith('\n') && !text.endsWith(BLOCK_END) ? '\n' : ''
    const known = carried === '' ? text : text.slice(0, -1)
    const at = known.lastIndexOf(BLOCK_END)
    if (at === -1) {
      open.push(known)
      return ''
    }
    const whole = open.join('') + known.slice(0, at + BLOCK_END.length)
    open = [known.slice(at + BLOCK_END.length)]
    return whole
  }
}

const joined = (events: readonly string[]): string => events.map((event) => event + BLOCK_END).join('')

export function createEventLog(
  response: StoredResponse,
  store: ResponseStore,
  onLost: (error: unknown) => void,
): EventLog {
  /** Events that are not in the store yet, and the number of the first. */
  let held: string[] = []
  let first = 0
  let characters = 0
  let isClosed = false
  let isStoreLost = false
  let saving: Promise<void> = Promise.resolve()
  let lastEvent = ''
  let waiting: (() => void)[] = []
  const last = (): number => first + held.length - 1

  function wake(): void {
    const woken = waiting
    waiting = []
    for (const go of woken) go()
  }

  /** Moves events to the store until `leave` characters remain. If that fails, they stay in memory for current readers. */
  async function save(leave: number): Promise<void> {
    while (held.length > 0 && characters > leave && !isStoreLost) {
      const count = held.length
      const text = joined(held)
      try {
        await store.addEvents(response, { first, last: first + count - 1, text })
      } catch (error) {
        isStoreLost = true
        return onLost(error)
      }
      held = held.slice(count)
      first += count
      characters -= text.length
    }
  }

  return {
    last,
    lastEvent: () => lastEvent,
    append(text) {
      const events = eventsOf(text)
      if (events.length === 0) return
      for (const event of events) {
        held.push(event)
        lastEvent = event
        characters += event.length + BLOCK_END.length
      }
      if (characters > HELD_CHARACTERS) saving = saving.then(() => save(HELD_CHARACTERS))
      wake()
    },
    async after(sequence) {
      while (sequence >= last()) {
        if (isClosed) return null
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
      if (sequence + 1 >= first) return { text: joined(held.slice(sequence + 1 - first)), last: last() }
      return storedAfter(response, store, sequence)
    },
    async close() {
      isClosed = true
      wake()
      saving = saving.then(() => save(0))
      await saving
    },
  }
}

/**
 * The stored events of an ended response. A crash may have lost the last events, some of which a reader may have seen: such
 * a reader gets a terminal event numbered after its last one.
 */
export function storedEvents(response: StoredResponse, store: ResponseStore): EventSource {
  let isEnded = false
  return {
    async after(sequence) {
      const range = await storedAfter(response, store, sequence)
      if (range !== null || isEnded) return range
      const seen = sequence < 0 ? null : await store.eventsFrom(response, sequence)
      if (seen !== null && isTerminal(eventsOf(seen.text).at(-1) ?? '')) return null
      const ended = await store.find(response.id, response.workspaceId)
      if (ended === null) return null
      isEnded = true
      const { reply } = await store.open(ended)
      return { text: terminalEvent(ended.status, reply, sequence + 1), last: sequence + 1 }
    },
  }
}

/** The stored events after this number; null without any. */
async function storedAfter(
  response: StoredResponse,
  store: ResponseStore,
  sequence: number,
): Promise<EventRange | null> {
  const range = await store.eventsFrom(response, sequence + 1)
  if (range === null) return null
  const events = eventsOf(range.text)
  return { text: joined(events.slice(Math.max(0, sequence + 1 - range.first))), last: range.last }
}
