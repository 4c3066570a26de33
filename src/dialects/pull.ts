import { UpstreamError } from '../core/errors.ts'
import { turnsByLength } from '../core/turn.ts'

/** What a body is, by its first character: providers answer with what was not asked for, under any content type. */
type BodyForm = 'json' | 'page' | 'events'

export type Pulled = IteratorResult<Uint8Array, undefined>

/** Nothing more is waited for, but the body has not ended by itself: half a line at its end counts for nothing. */
export const GAVE_UP: Pulled = { done: true, value: undefined }

/** Pulls the bytes of one reply, and knows when waiting for more is of no use. */
interface Puller {
  /** The next bytes. Throws what the connection throws. */
  next(): Promise<Pulled>
  /**
   * The same once the answer is complete, when nothing but accounts may follow: `GAVE_UP` after a reset, and
   * after `lingerMs` of waiting in all.
   */
  nextAfterFinish(): Promise<Pulled>
  /** Reads on to the end of the body, `ms` at most, so that the connection can be used again; true: it has ended. */
  drain(ms: number): Promise<boolean>
  /** Closes the connection where the body has not ended. */
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
    // Not a function of its own: it runs for every chunk.
    next: () => iterator.next(),
    nextAfterFinish() {
      lingersUntil ??= performance.now() + lingerMs
      return nextWithin(lingersUntil - performance.now())
    },
    async drain(ms) {
      const until = performance.now() + ms
      let pulled = await nextWithin(ms)
      // What comes is dropped: nothing after the terminal marker counts.
      while (!pulled.done) pulled = await nextWithin(until - performance.now())
      return pulled !== GAVE_UP
    },
    async leave() {
      const left = iterator.return?.()
      // A generator that waits for bytes answers only when they come: it is not waited for.
      if (isWaiting) left?.catch(() => undefined)
      else await left
    },
  }
}

/** Turns of the microtask queue within which a read answers whose bytes, or whose end, are there already. */
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

/** What has arrived already is read without a turn of the event loop: megabytes of blanks would hold up everyone else. */
const BLANK_TURN_BYTES = 512 * 1024

/** Reads until the form shows. `head` is what was read for it. Throws `malformed` for `maxBytes` of nothing. */
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

/** The form of a body that is there as text. */
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
