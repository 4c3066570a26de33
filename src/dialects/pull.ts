import { UpstreamError } from '../core/errors.ts'
import { turnsByLength } from '../core/turn.ts'

/** The form of a body by its first character: providers send unrequested forms, under any content type. */
type BodyForm = 'json' | 'page' | 'events'

export type Pulled = IteratorResult<Uint8Array, undefined>

/** The wait is over, but the body has not ended: half a line at its end does not count. */
export const GAVE_UP: Pulled = { done: true, value: undefined }

/** Pulls the bytes of one reply, and stops waiting when only usage or nothing can follow. */
export interface Puller {
  /** The next bytes. Rethrows errors of the connection. */
  next(): Promise<Pulled>
  /**
   * The same once the answer is complete and only usage may follow: `GAVE_UP` after a reset, and
   * after `lingerMs` of waiting in all.
   */
  nextAfterFinish(): Promise<Pulled>
  /** Reads to the end of the body, for at most `ms`, so that the connection can be reused; true: it has ended. */
  drain(ms: number): Promise<boolean>
  /** Closes the connection unless the body has ended. */
  leave(): Promise<void>
}

export function createPuller(bytes: AsyncIterable<Uint8Array>, lingerMs: number): Puller {
  const iterator = bytes[Symbol.asyncIterator]()
  let lingersUntil: number | undefined
  let isWaiting = false

  /** A reset ends the waiting too; an abort is rethrown. */
  async function nextWithin(ms: number): Promise<Pulled> {
    if (ms <= 0) return GAVE_UP
    isWaiting = true
    try {
      const pulled = await within(iterator.next(), ms)
      isWaiting = pulled === undefined
      return pulled ?? GAVE_UP
    } catch (error) {
      isWaiting = false
      if (error instanceof UpstreamError) return GAVE_UP
      throw error
    }
  }

  return {
    // Inlined: it runs for every chunk.
    next: () => iterator.next(),
    nextAfterFinish() {
      lingersUntil ??= performance.now() + lingerMs
      return nextWithin(lingersUntil - performance.now())
    },
    async drain(ms) {
      const until = performance.now() + ms
      let pulled = await nextWithin(ms)
      // Bytes after the terminal marker are dropped.
      while (!pulled.done) pulled = await nextWithin(until - performance.now())
      return pulled !== GAVE_UP
    },
    async leave() {
      const left = iterator.return?.()
      // A generator that waits for bytes returns only when they arrive, so its return is not awaited.
      if (isWaiting) left?.catch(() => undefined)
      else await left
    },
  }
}

/** Turns of the microtask queue in which a read settles if its bytes, or its end, have arrived. */
const READY_TURNS = 8

async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let isSettled = false
  const settle = (): void => {
    isSettled = true
  }
  promise.then(settle, settle)
  // Nearly every body ends with its last bytes: it needs no timer.
  for (let turn = 0; turn < READY_TURNS && !isSettled; turn++) await undefined
  return isSettled ? promise : withTimer(promise, ms)
}

function withTimer<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined)
    promise.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

/** Reads of buffered bytes take no turn of the event loop: megabytes of blanks would block all other requests. */
const BLANK_TURN_BYTES = 512 * 1024

/** Reads until the form is known. `head`: the bytes read so far. Throws `malformed` after `maxBytes` of blanks. */
export async function sniff(body: Puller, maxBytes: number): Promise<{ form: BodyForm; head: Uint8Array[] }> {
  const head: Uint8Array[] = []
  const turnAfter = turnsByLength(BLANK_TURN_BYTES)
  let size = 0
  for (;;) {
    const { done, value } = await body.next()
    if (done) return { form: 'events', head }
    size += value.byteLength
    if (size > maxBytes) throw tooLarge(maxBytes)
    head.push(value)
    const first = value.find((byte) => !isBlank(byte))
    if (first !== undefined) return { form: formOf(first), head }
    const turn = turnAfter(value.byteLength)
    if (turn) await turn
  }
}

/** The form of a body as text. */
export const formOfText = (text: string): BodyForm => formOf(text.charCodeAt(text.search(/[^\s\ufeff]/)))

const OPENING_BRACE = 0x7b
const OPENING_BRACKET = 0x5b
const LESS_THAN = 0x3c

function formOf(first: number): BodyForm {
  if (first === OPENING_BRACE || first === OPENING_BRACKET) return 'json'
  return first === LESS_THAN ? 'page' : 'events'
}

/** White space and the bytes of a byte order mark. */
const isBlank = (byte: number): boolean =>
  byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0xef || byte === 0xbb || byte === 0xbf

/** The complete body as text. Throws `malformed` beyond `maxBytes`. */
export async function restOfBody(
  head: readonly Uint8Array[],
  body: Puller,
  maxBytes: number,
): Promise<string> {
  const parts = [...head]
  let size = parts.reduce((sum, part) => sum + part.byteLength, 0)
  for (let pulled = await body.next(); !pulled.done; pulled = await body.next()) {
    size += pulled.value.byteLength
    if (size > maxBytes) throw tooLarge(maxBytes)
    parts.push(pulled.value)
  }
  return new TextDecoder().decode(Buffer.concat(parts, size))
}

const tooLarge = (maxBytes: number): UpstreamError =>
  new UpstreamError('malformed', `the reply is larger than ${maxBytes} bytes`)
