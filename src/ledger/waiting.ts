import type { GatewayError } from '../core/errors.ts'
import { unavailable } from '../core/errors.ts'
import { DRAINING } from '../core/refusal.ts'
import type { Counted } from './held-windows.ts'
import type { Amounts, Claim, ClaimRequest } from './ledger.ts'
import { type Holds, mustBeWhole, type OpenHold } from './reserve.ts'
import { createWaitingQueues, MOST_IN_A_TURN, type Waiter, type WaitingQueues } from './waiting-queues.ts'

/** Requests that wait until the reservations of running ones end. */
export interface Waiting {
  claim<Needed extends Amounts>(request: ClaimRequest<Needed>): Claim<Needed> | Promise<Claim<Needed>>
  /** Admits requests that wait at the counters of these ended holds. */
  serve(ended: readonly OpenHold[]): void
  count(): number
  /** Rejects every waiting request, a few per turn, while no request may be admitted. */
  refuse(): void
  /** Rejects every request that still waits. */
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
const RETRY_AFTER_SECONDS = 5

type Tried<Needed extends Amounts> = { claim: Claim<Needed> } | { at: Counted; refusal(): GatewayError }

/** Where one ledger's requests wait. */
interface WaitingRoom extends Pick<WaitingOptions, 'holds' | 'mustBeOpen'> {
  /** In order of arrival, which is the order of their deadlines. */
  readonly waiters: Set<Waiter>
  readonly queues: WaitingQueues
}

export function createWaiting({ holds, waitMs, mustBeOpen }: WaitingOptions): Waiting {
  const waiters = new Set<Waiter>()
  const queues = createWaitingQueues()
  const room: WaitingRoom = { holds, mustBeOpen, waiters, queues }
  let arrivals = 0
  let timer: ReturnType<typeof setTimeout> | undefined

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
      queues.remove(waiter)
      waiter.attempt(true)
      queues.serve(at)
    }
  }

  return {
    claim(request) {
      const order = ++arrivals
      const first = tried(room, request, order, waitMs === 0)
      if ('claim' in first) return first.claim
      if (first.at.waiters >= MOST_WAITING || waiters.size >= MOST_WAITING_IN_ALL) throw first.refusal()
      if (request.signal.aborted) throw request.signal.reason
      const claimed = wait(room, request, order, first.at, performance.now() + waitMs)
      timer ??= setTimeout(expire, waitMs)
      return claimed
    },
    serve(ended) {
      if (queues.isEmpty()) return
      for (const { windows } of ended) for (const { counted } of windows) queues.serve(counted)
    },
    count: () => waiters.size,
    refuse: queues.serveAll,
    close() {
      clearTimeout(timer)
      timer = undefined
      queues.clear()
      for (const waiter of [...waiters]) {
        waiter.at.waiters = 0
        waiter.reject(unavailable('The gateway is shutting down', RETRY_AFTER_SECONDS, DRAINING))
      }
    },
  }
}

/** Reserves, or returns the counter to wait at. Throws the refusal if waiting does not help. */
function tried<Needed extends Amounts>(
  { holds, mustBeOpen, queues }: WaitingRoom,
  request: ClaimRequest<Needed>,
  order: number,
  isLast: boolean,
): Tried<Needed> {
  const { generationId, gates, startedAt, hint } = request
  mustBeOpen()
  const needed = request.need((some) => holds.remaining(some, startedAt), isLast)
  mustBeWhole(needed.amountNanoUsd)
  mustBeWhole(needed.sharedNanoUsd ?? 0)
  const shut = holds.shutBy(gates, startedAt, needed)
  if (shut !== null) {
    if (isLast || shut.waitsAt === null) throw shut.refusal(hint)
    return { at: shut.waitsAt, refusal: () => shut.refusal(hint) }
  }
  if (!isLast && !queues.isEmpty()) {
    const at = queues.behindAnother(holds.countersOf(gates, startedAt, needed), order)
    if (at !== undefined) return { at, refusal: tooManyWait }
  }
  return { claim: { hold: holds.open(generationId, gates, startedAt, needed), needed } }
}

/** Waits at a counter until the request is admitted, refused, or its signal aborts. */
function wait<Needed extends Amounts>(
  room: WaitingRoom,
  request: ClaimRequest<Needed>,
  order: number,
  at: Counted,
  until: number,
): Promise<Claim<Needed>> {
  const { promise, resolve, reject } = Promise.withResolvers<Claim<Needed>>()
  const { waiters, queues } = room
  const { signal } = request
  const leave = (): void => {
    queues.remove(waiter)
    waiter.reject(signal.reason)
    queues.serve(waiter.at)
  }
  const end = (): void => {
    waiters.delete(waiter)
    signal.removeEventListener('abort', leave)
  }
  const waiter: Waiter = {
    order,
    until,
    at,
    attempt(isLast) {
      try {
        const result = tried(room, request, order, isLast)
        if ('at' in result) {
          waiter.at = result.at
          return queues.add(waiter)
        }
        end()
        resolve(result.claim)
      } catch (error) {
        waiter.reject(error)
      }
    },
    reject(error) {
      end()
      reject(error)
    },
  }
  waiters.add(waiter)
  queues.add(waiter)
  signal.addEventListener('abort', leave, { once: true })
  return promise
}

const tooManyWait = (): GatewayError =>
  unavailable(
    `${MOST_WAITING.toLocaleString('en')} requests wait for room in the same limit already: send this one again later`,
    RETRY_AFTER_SECONDS,
    { reason: 'budget', gate: 'waiting' },
  )
