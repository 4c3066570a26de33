import { GatewayError } from '../core/errors.ts'
import { createMemoryWatch } from './memory-watch.ts'
import { createTurns, type TurnBounds } from './turns.ts'

export interface PoolOptions<Task, Result> extends TurnBounds {
  /** Starts a worker. It answers each message with one message. */
  open(): Worker
  /** Checks the type of an answer; throws for what is not a result. */
  read(answer: unknown): Result
  /** Memory of the task that moves to the worker and is not copied; absent: none. */
  transfer?(task: Task): ArrayBuffer[]
  /** Workers at the same time. */
  most: number
  /** A task that takes longer is ended, with its worker. */
  longestMs: number
  /** A task that makes the process grow by more bytes is ended, with its worker. Absent: memory is not watched. */
  mostMemory?: number
  /** Bytes of the process; for tests. */
  memory?: () => number
  /** A worker without a task ends after this time, and its memory is free. Default: 30 seconds. */
  idleMs?: number
}

const IDLE_MS = 30_000

/**
 * Starts the worker of a folder of `src`. From the source it is a file; in the executable an entry point whose name is its
 * path in `src` (`build.ts` lists them).
 */
export const openWorker = (folder: string): Worker =>
  new Worker(
    import.meta.url.endsWith('.ts')
      ? new URL(`../${folder}/worker.ts`, import.meta.url).href
      : `./${folder}/worker.ts`,
    { smol: true, ref: false },
  )

/** Runs tasks off the thread of all requests. A task gets a worker of its own: it can be ended at any time. */
export interface Pool<Task, Result> {
  /** Tasks of different groups take turns. A task whose `signal` aborts is ended, or waits no longer. */
  run(task: Task, signal: AbortSignal, group?: string): Promise<Result>
  close(): void
}

/** A task ran longer than `longestMs`. */
export class TaskTimeout extends Error {
  constructor(longestMs: number) {
    super(`the task did not end within ${longestMs} ms`)
    this.name = 'TaskTimeout'
  }
}

interface Waiting<Task, Result> {
  readonly group: string
  readonly task: Task
  readonly signal: AbortSignal
  readonly settle: PromiseWithResolvers<Result>
}

export function createPool<Task, Result>(options: PoolOptions<Task, Result>): Pool<Task, Result> {
  const idle = new Map<Worker, Timer>()
  /** With the function that ends its task. */
  const busy = new Map<Worker, (reason: unknown) => void>()
  const waiting = createTurns<Waiting<Task, Result>>(options)
  const watch =
    options.mostMemory === undefined ? null : createMemoryWatch(options.mostMemory, options.memory)
  let isClosed = false

  function takeWorker(): Worker {
    const [first] = idle
    if (first === undefined) return options.open()
    const [worker, timer] = first
    clearTimeout(timer)
    idle.delete(worker)
    return worker
  }

  function keep(worker: Worker): void {
    const timer = setTimeout(() => {
      idle.delete(worker)
      worker.terminate()
    }, options.idleMs ?? IDLE_MS)
    timer.unref()
    idle.set(worker, timer)
  }

  function next(): void {
    while (busy.size < options.most && !isClosed) {
      const first = waiting.next()
      if (first === undefined) return
      start(first)
    }
  }

  function start(first: Waiting<Task, Result>): void {
    const worker = takeWorker()
    const end = assign(worker, first, options, (isReusable) => {
      busy.delete(worker)
      watch?.ended(end)
      waiting.ended(first)
      if (isReusable) keep(worker)
      else worker.terminate()
      next()
    })
    busy.set(worker, end)
    watch?.begin(end)
  }

  return {
    run(task, signal, group = '') {
      if (signal.aborted) return Promise.reject(signal.reason)
      const settle = Promise.withResolvers<Result>()
      const one = { group, task, signal, settle }
      if (isClosed || !waiting.add(one)) return Promise.reject(busyError())
      const leave = (): void => {
        waiting.remove(one)
        settle.reject(signal.reason)
      }
      untilSettled(settle.promise, signal, leave)
      next()
      return settle.promise
    },
    close() {
      isClosed = true
      for (const { settle } of waiting.clear()) settle.reject(busyError())
      for (const timer of idle.values()) clearTimeout(timer)
      for (const worker of idle.keys()) worker.terminate()
      for (const end of [...busy.values()]) end(busyError())
      idle.clear()
    },
  }
}

/** Listens to the signal for as long as the promise is not settled. */
function untilSettled(promise: Promise<unknown>, signal: AbortSignal, onAbort: () => void): void {
  signal.addEventListener('abort', onAbort, { once: true })
  const end = (): void => signal.removeEventListener('abort', onAbort)
  promise.then(end, end)
}

/** Gives the task to the worker, and calls `ended` once. The returned function ends the task. */
function assign<Task, Result>(
  worker: Worker,
  { task, signal, settle }: Waiting<Task, Result>,
  { longestMs, read, transfer }: PoolOptions<Task, Result>,
  ended: (isReusable: boolean) => void,
): (reason: unknown) => void {
  const end = (reason: unknown): void => {
    settle.reject(reason)
    free(false)
  }
  const onAbort = (): void => end(signal.reason)
  const timer = setTimeout(() => end(new TaskTimeout(longestMs)), longestMs)
  const free = (isReusable: boolean): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    worker.onmessage = null
    worker.onerror = null
    ended(isReusable)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  worker.onmessage = ({ data }) => {
    try {
      settle.resolve(read(data))
    } catch (error) {
      settle.reject(error)
    }
    free(true)
  }
  worker.onerror = ({ message }) => end(new Error(`a worker failed: ${message}`))
  worker.postMessage(task, transfer?.(task) ?? [])
  return end
}

const busyError = (): GatewayError =>
  new GatewayError(503, 'Too many documents wait to be read at this gateway. Send the request again later', {
    headers: { 'retry-after': '5' },
  })
