import type { Counted } from './held-windows.ts'

/** A request that waits at one counter. */
export interface Waiter {
  /** The number of its arrival. */
  readonly order: number
  /** By `performance.now()`. */
  readonly until: number
  at: Counted
  /** Reserves, waits at another counter, or ends with a refusal. */
  attempt(isLast: boolean): void
  reject(error: unknown): void
}

/** The waiting requests of each counter, in order of arrival. */
export interface WaitingQueues {
  add(waiter: Waiter): void
  remove(waiter: Waiter): void
  /** Admits requests that wait at this counter, a few per turn. */
  serve(counted: Counted): void
  /** Does the same at every counter, each in a turn of its own. */
  serveAll(): void
  /** The first of these counters at which an earlier arrival waits. */
  behindAnother(counters: readonly Counted[], order: number): Counted | undefined
  isEmpty(): boolean
  clear(): void
}

/** Waiting requests that are admitted or rejected in one turn, so that others are not delayed. */
export const MOST_IN_A_TURN = 64

export function createWaitingQueues(): WaitingQueues {
  const queues = new Map<Counted, Waiter[]>()
  const headOf = (counted: Counted): Waiter | undefined => queues.get(counted)?.[0]

  function remove(waiter: Waiter): void {
    const { at } = waiter
    const queue = queues.get(at)
    const place = queue?.indexOf(waiter) ?? -1
    if (queue === undefined || place < 0) return
    queue.splice(place, 1)
    at.waiters -= 1
    if (queue.length === 0) queues.delete(at)
  }

  /** Serves the head of a queue until it has to wait on: requests behind it keep their place. */
  function serve(counted: Counted): void {
    for (let served = 0; served < MOST_IN_A_TURN; served++) {
      const head = headOf(counted)
      if (head === undefined) return
      remove(head)
      head.attempt(false)
      if (headOf(counted) === head) return
    }
    setImmediate(serve, counted)
  }

  return {
    add(waiter) {
      const queue = queues.get(waiter.at) ?? []
      queues.set(waiter.at, queue)
      let place = queue.length
      while (place > 0 && queue[place - 1]!.order > waiter.order) place--
      queue.splice(place, 0, waiter)
      waiter.at.waiters += 1
    },
    remove,
    serve,
    serveAll() {
      for (const counted of [...queues.keys()]) setImmediate(serve, counted)
    },
    behindAnother: (counters, order) => counters.find((counted) => (headOf(counted)?.order ?? order) < order),
    isEmpty: () => queues.size === 0,
    clear: () => queues.clear(),
  }
}
