import type { GatewayError } from '../core/errors.ts'
import { unavailable } from '../core/errors.ts'
import type { Counted } from './held-windows.ts'
import type { Amounts, Claim, ClaimRequest } from './ledger.ts'
import { type Holds, mustBeWhole, type OpenHold } from './reserve.ts'

/** Requests that wait until running ones give their reservations back. */
export interface Waiting {
  claim<Needed extends Amounts>(request: ClaimRequest<Needed>): Claim<Needed> | Promise<Claim<Needed>>
  /** Admits requests that wait at the counters of these ended holds. */
  serve(ended: readonly OpenHold[]): void
  count(): number
  /** Rejects every waiting request, a few per turn, while no request may be admitted. */
  refuse(): void
  /** Refuses every request that still waits. */
  close(): void
}

export interface WaitingOptions {
  holds: Holds
  /** 0: no request waits. */
  waitMs: number
  /** Throws while no request may be admitted. */
  mustBeOpen(): void
}

/** The most waiting requests per limit and in total. Further ones are rejected at once. */
export const MOST_WAITING = 1_000
const MOST_WAITING_IN_ALL = 10_000
/** Waiting requests that are admitted or rejected in one turn, so that others are not delayed. */
const MOST_IN_A_TURN = 64
const RETRY_AFTER_SECONDS = 5

interface Waiter {
  /** The number of its arrival. */
  readonly order: number
  readonly until: number
  /** Where it waits. */
  at: Counted
  /** Reserves, waits elsewhere, or ends with a refusal. */
  attempt(isLast: boolean): void
  reject(error: unknown): void
}

type Tried<Needed extends Amounts> = { claim: Claim<Needed> } | { at: Counted; refusal(): GatewayError }

export function createWaiting({ holds, waitMs, mustBeOpen }: WaitingOptions): Waiting {
  /** In order of arrival, which is the order of their deadlines. */
  const waiters = new Set<Waiter>()
  /** By counter, in order of arrival. */
  const queues = new Map<Counted, Waiter[]>()
  let arrivals = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function enqueue(waiter: Waiter): void {
    const queue = queues.get(waiter.at) ?? []
    queues.set(waiter.at, queue)
    let place = queue.length
    while (place > 0 && queue[place - 1]!.order > waiter.order) place--
    queue.splice(place, 0, waiter)
    waiter.at.waiters += 1
  }

  function dequeue({ at }: Waiter, place: number): void {
    const queue = queues.get(at)
    if (queue === undefined || place < 0) return
    queue.splice(place, 1)
    at.waiters -= 1
    if (queue.length === 0) queues.delete(at)
  }

  /** The first counter at which an earlier arrival waits. */
  const behindAnother = (counters: readonly Counted[], order: number): Counted | undefined =>
    counters.find((counted) => (queues.get(counted)?.[0]?.order ?? order) < order)

  function tried<Needed extends Amounts>(
    request: ClaimRequest<Needed>,
    order: number,
    isLast: boolean,
  ): Tried<Needed> {
    const { generationId, gates, startedAt, hint } = request
    mustBeOpen()
    const needed = request.need((some) => holds.room(some, startedAt), isLast)
    mustBeWhole(needed.amountNanoUsd)
    mustBeWhole(needed.sharedNanoUsd ?? 0)
    const shut = holds.shutBy(gates, startedAt, needed)
    if (shut !== null) {
      if (isLast || shut.waitsAt === null) throw shut.refusal(hint)
      return { at: shut.waitsAt, refusal: () => shut.refusal(hint) }
    }
    if (!isLast && queues.size > 0) {
      const at = behindAnother(holds.countersOf(gates, startedAt, needed), order)
      if (at !== undefined) return { at, refusal: tooManyWait }
    }
    return { claim: { hold: holds.open(generationId, gates, startedAt, needed), needed } }
  }

  function wait<Needed extends Amounts>(
    request: ClaimRequest<Needed>,
    order: number,
    at: Counted,
  ): Promise<Claim<Needed>> {
    const { promise, resolve, reject } = Promise.withResolvers<Claim<Needed>>()
    const { signal } = request
    const leave = (): void => {
      const place = queues.get(waiter.at)?.indexOf(waiter) ?? -1
      dequeue(waiter, place)
      end()
      reject(signal.reason)
      serveCounter(waiter.at)
    }
    const end = (): void => {
      waiters.delete(waiter)
      signal.removeEventListener('abort', leave)
    }
    const waiter: Waiter = {
      order,
      until: performance.now() + waitMs,
      at,
      attempt(isLast) {
        try {
          const result = tried(request, order, isLast)
          if ('at' in result) {
            waiter.at = result.at
            return enqueue(waiter)
          }
          end()
          resolve(result.claim)
        } catch (error) {
          end()
          reject(error)
        }
      },
      reject(error) {
        end()
        reject(error)
      },
    }
    waiters.add(waiter)
    enqueue(waiter)
    signal.addEventListener('abort', leave, { once: true })
    timer ??= setTimeout(expire, waitMs)
    return promise
  }

  /** Serves the head of a queue until it has to wait on: requests behind it keep their place. */
  function serveCounter(counted: Counted): void {
    for (let served = 0; served < MOST_IN_A_TURN; served++) {
      const head = queues.get(counted)?.[0]
      if (head === undefined) return
      dequeue(head, 0)
      head.attempt(false)
      if (queues.get(counted)?.[0] === head) return
    }
    setImmediate(serveCounter, counted)
  }

  function expire(): void {
    timer = undefined
    const now = performance.now()
    let expired = 0
    for (const waiter of waiters) {
      if (waiter.until > now || expired === MOST_IN_A_TURN) {
        timer = setTimeout(expire, Math.max(0, Math.ceil(waiter.until - now)))
        return
      }
      expired += 1
      const { at } = waiter
      dequeue(waiter, queues.get(at)?.indexOf(waiter) ?? -1)
      waiter.attempt(true)
      serveCounter(at)
    }
  }

  return {
    claim(request) {
      const order = ++arrivals
      const first = tried(request, order, waitMs === 0)
      if ('claim' in first) return first.claim
      if (first.at.waiters >= MOST_WAITING || waiters.size >= MOST_WAITING_IN_ALL) throw first.refusal()
      if (request.signal.aborted) throw request.signal.reason
      return wait(request, order, first.at)
    },
    serve(ended) {
      if (queues.size === 0) return
      for (const { windows } of ended) for (const { counted } of windows) serveCounter(counted)
    },
    count: () => waiters.size,
    refuse() {
      for (const counted of [...queues.keys()]) setImmediate(serveCounter, counted)
    },
    close() {
      clearTimeout(timer)
      timer = undefined
      queues.clear()
      for (const waiter of [...waiters]) {
        waiter.at.waiters = 0
        waiter.reject(unavailable('The gateway is shutting down', RETRY_AFTER_SECONDS))
      }
    },
  }
}

const tooManyWait = (): GatewayError =>
  unavailable(
    `${MOST_WAITING.toLocaleString('en')} requests wait for room in the same limit already: send this one again later`,
    RETRY_AFTER_SECONDS,
  )
