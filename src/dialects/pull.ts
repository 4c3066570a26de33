import { UpstreamError } from '../core/errors.ts'

/** What a body is, by its first character: providers answer with what was not asked for, under any content type. */
export type BodyForm = 'json' | 'page' | 'events'

/** Pulls the bytes of one reply, and knows when waiting for more is of no use. */
export interface Puller {
  /** The next bytes; null at the end. Throws what the connection throws. */
  next(): Promise<Uint8Array | null>
  /**
   * The same once the answer is complete, when nothing but accounts may follow: a reset is an end, and so is
   * `lingerMs` of waiting in all.
   */
  nextAfterFinish(): Promise<Uint8Array | null>
  /** The body ended by itself: what its last line holds counts. */
  readonly hasEnded: boolean
  /** Reads on to the end of the body, `ms` at most, so that the connection can be used again. */
  drain(ms: number): Promise<void>
  /** Closes the connection unless the body has ended. */
  leave(): Promise<void>
}

export function createPuller(bytes: AsyncIterable<Uint8Array>, lingerMs: number): Puller {
  const iterator = bytes[Symbol.asyncIterator]()
  let hasEnded = false
  let isPending = false
  let lingersUntil: number | undefined

  async function next(): Promise<Uint8Array | null> {
    isPending = true
    const { done, value } = await iterator.next()
    isPending = false
    if (done) hasEnded = true
    return done ? null : value
  }

  /** Undefined: nothing came in time. A reset ends the waiting too; an abort is rethrown. */
  async function nextWithin(ms: number): Promise<Uint8Array | null | undefined> {
    if (ms <= 0) return undefined
    try {
      return await within(next(), ms)
    } catch (error) {
      if (error instanceof UpstreamError) return undefined
      throw error
    }
  }

  return {
    next,
    async nextAfterFinish() {
      lingersUntil ??= performance.now() + lingerMs
      return (await nextWithin(lingersUntil - performance.now())) ?? null
    },
    get hasEnded() {
      return hasEnded
    },
    async drain(ms) {
      const until = performance.now() + ms
      while (!hasEnded && (await nextWithin(until - performance.now()))) {
        // Nothing after the terminal marker counts.
      }
    },
    async leave() {
      if (hasEnded) return
      hasEnded = true
      const left = iterator.return?.()
      // A generator that waits for bytes answers only when they come: it is not waited for.
      if (isPending) left?.catch(() => undefined)
      else await left
    },
  }
}

function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Reads until the form shows. `head` is what was read for it. */
export async function sniff(body: Puller): Promise<{ form: BodyForm; head: Uint8Array[] }> {
  const head: Uint8Array[] = []
  for (;;) {
    const bytes = await body.next()
    if (bytes === null) return { form: 'events', head }
    head.push(bytes)
    const first = bytes.find((byte) => !isBlank(byte))
    if (first !== undefined) return { form: formOf(first), head }
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

/** The whole body as text. Throws `malformed` beyond `maxBytes`. */
export async function restOfBody(
  head: readonly Uint8Array[],
  body: Puller,
  maxBytes: number,
): Promise<string> {
  const parts = [...head]
  let size = parts.reduce((sum, part) => sum + part.byteLength, 0)
  for (let bytes = await body.next(); bytes !== null; bytes = await body.next()) {
    size += bytes.byteLength
    if (size > maxBytes) throw new UpstreamError('malformed', `the reply is larger than ${maxBytes} bytes`)
    parts.push(bytes)
  }
  return new TextDecoder().decode(Buffer.concat(parts, size))
}
