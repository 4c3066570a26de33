import { UpstreamError } from '../core/errors.ts'
import type { UpstreamReply } from '../core/reply.ts'
import type { Exchange } from './exchange.ts'
import { connectionFailure } from './failure.ts'

/** An answer that is read whole may not be larger: 32 MB holds any completion, images in base64 included. */
const DEFAULT_TEXT_LIMIT_BYTES = 32 * 1024 * 1024

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }
const decoder = new TextDecoder()

/**
 * The answer of an exchange. Its place is held until the body is read to the end, left or cut. Bytes that come
 * in the same instant as a broken end of the connection may be lost (Bun 1.4.5 drops what it has buffered when
 * a `fetch` fails); such a body still throws and never looks whole.
 */
export function replyOf(exchange: Exchange, response: Response): UpstreamReply {
  const body = response.body
  if (body === null) exchange.finish()
  return {
    status: response.status,
    headers: response.headers,
    bytes: { [Symbol.asyncIterator]: () => (body === null ? NOTHING : pull(exchange, body)) },
    async text(limitBytes = DEFAULT_TEXT_LIMIT_BYTES) {
      if (Number(response.headers.get('content-length')) > limitBytes) throw tooLarge(exchange, limitBytes)
      return body === null ? '' : readText(exchange, body, limitBytes)
    },
  }
}

const NOTHING: AsyncIterator<Uint8Array> = { next: () => Promise.resolve(END) }

/**
 * A body may be iterated once. Written by hand, because it runs for every chunk of every stream: a generator
 * costs two more promises a chunk.
 */
function pull(exchange: Exchange, body: ReadableStream<Uint8Array>): AsyncIterator<Uint8Array> {
  const reader = body.getReader()
  exchange.reader = reader

  const received = (result: IteratorResult<Uint8Array, undefined>) => {
    // First: a cancelled reader says `done`, and a cut must never look like an end.
    if (exchange.failure !== null) throw exchange.failure.error
    if (result.done) exchange.finish()
    else exchange.receive()
    return result
  }
  const broken = (error: unknown): never => {
    throw brokenBy(exchange, error)
  }
  return {
    next() {
      if (exchange.failure !== null) return Promise.reject(exchange.failure.error)
      if (!exchange.isOpen) return Promise.resolve(END)
      exchange.await()
      return reader.read().then(received, broken)
    },
    return() {
      exchange.cut(new DOMException('The reader left before the end of the reply', 'AbortError'))
      return Promise.resolve(END)
    },
  }
}

/** Beside `pull`, not on top of it: the same rules without an iterator's promises, for the hot unary path. */
async function readText(
  exchange: Exchange,
  body: ReadableStream<Uint8Array>,
  limitBytes: number,
): Promise<string> {
  const reader = body.getReader()
  exchange.reader = reader
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      if (exchange.failure === null) exchange.await()
      const { done, value } = await reader.read()
      if (exchange.failure !== null) throw exchange.failure.error
      if (done) break
      exchange.receive()
      size += value.byteLength
      if (size > limitBytes) throw tooLarge(exchange, limitBytes)
      parts.push(value)
    }
  } catch (error) {
    throw brokenBy(exchange, error)
  }
  exchange.finish()
  const [only] = parts
  return decoder.decode(only !== undefined && parts.length === 1 ? only : Buffer.concat(parts, size))
}

/** What the consumer is told: the reason of the cut, where there was one, else what the connection said. */
function brokenBy(exchange: Exchange, error: unknown): unknown {
  const failure = exchange.failure ?? { error: connectionFailure(error) }
  exchange.cut(failure.error)
  return failure.error
}

function tooLarge(exchange: Exchange, limitBytes: number): UpstreamError {
  const error = new UpstreamError('malformed', `the reply is larger than ${limitBytes} bytes`)
  exchange.cut(error)
  return error
}
