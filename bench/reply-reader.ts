export interface Reply {
  status: number
  body: string
  /** The server closes the connection after this reply. */
  closes: boolean
}

export interface ReplyReader {
  push(bytes: Buffer): void
  /** The connection ended: completes a reply that is framed by its end. */
  end(): void
  /** True while a reply has begun and not ended. */
  isInside(): boolean
}

interface Listener {
  onReply(reply: Reply): void
  /** The first byte of a body has arrived. */
  onFirstByte(): void
  /** The bytes are not HTTP/1.1: the connection can no longer be used. */
  onFault(message: string): void
}

type State = 'head' | 'length' | 'size' | 'chunk' | 'chunk-end' | 'trailer' | 'close' | 'broken'

const LINE = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

/** What is known of the reply that is being read. */
interface Reading {
  readonly listener: Listener
  state: State
  pieces: string[]
  /** Bytes still missing of the body or of its chunk. */
  remaining: number
  status: number
  closes: boolean
}

/**
 * Reads HTTP/1.1 replies off one keep-alive connection, cut anywhere; framed by length, by chunks or by the end of
 * the connection. Only what a load generator needs: bodies are read as latin1, trailers are skipped.
 */
export function createReplyReader(listener: Listener): ReplyReader {
  const reading: Reading = { listener, state: 'head', pieces: [], remaining: 0, status: 0, closes: false }
  let kept: Buffer = NOTHING
  return {
    push(incoming) {
      const bytes = kept.length === 0 ? incoming : Buffer.concat([kept, incoming])
      let at = 0
      while (at < bytes.length) {
        const next = step(reading, bytes, at)
        if (next < 0) break
        at = next
      }
      kept = at < bytes.length ? bytes.subarray(at) : NOTHING
    },
    end() {
      if (reading.state === 'close') finish(reading)
    },
    isInside: () => reading.state !== 'head' || kept.length > 0,
  }
}

/** Returns where the next step begins, or -1 if it needs bytes that have not arrived. */
function step(reading: Reading, bytes: Buffer, at: number): number {
  const { state } = reading
  if (state === 'head') {
    const end = bytes.indexOf(HEAD_END, at)
    if (end < 0) return -1
    startBody(reading, bytes.toString('latin1', at, end))
    return end + 4
  }
  if (state === 'length' || state === 'chunk') {
    const end = take(reading, bytes, at, reading.remaining)
    reading.remaining -= end - at
    if (reading.remaining > 0) return end
    if (state === 'length') finish(reading)
    else reading.state = 'chunk-end'
    return end
  }
  if (state === 'close') return take(reading, bytes, at, bytes.length)
  if (state === 'broken') return bytes.length
  const end = bytes.indexOf(LINE, at)
  if (end < 0) return -1
  readLine(reading, bytes.toString('latin1', at, end))
  return end + 2
}

function startBody(reading: Reading, head: string): void {
  const { status, closes, length, isChunked } = framingOf(head)
  Object.assign(reading, { status, closes, remaining: length ?? 0 })
  if (isChunked) reading.state = 'size'
  else if (length === null) reading.state = 'close'
  else if (length === 0) finish(reading)
  else reading.state = 'length'
}

function take({ listener, pieces }: Reading, bytes: Buffer, at: number, limit: number): number {
  const end = Math.min(bytes.length, at + limit)
  if (end > at) {
    if (pieces.length === 0) listener.onFirstByte()
    pieces.push(bytes.toString('latin1', at, end))
  }
  return end
}

function readLine(reading: Reading, text: string): void {
  if (reading.state === 'trailer') {
    if (text === '') finish(reading)
    return
  }
  if (reading.state === 'chunk-end' && text === '') {
    reading.state = 'size'
    return
  }
  reading.remaining = reading.state === 'size' ? Number.parseInt(text, 16) : Number.NaN
  if (Number.isNaN(reading.remaining)) {
    reading.state = 'broken'
    reading.listener.onFault(`a chunk is framed by ${JSON.stringify(text.slice(0, 40))}`)
    return
  }
  reading.state = reading.remaining === 0 ? 'trailer' : 'chunk'
}

function finish(reading: Reading): void {
  const { listener, pieces, status, closes } = reading
  const body = pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('')
  reading.pieces = []
  reading.state = 'head'
  listener.onReply({ status, body, closes })
}

interface Framing {
  status: number
  closes: boolean
  isChunked: boolean
  length: number | null
}

function framingOf(head: string): Framing {
  const lower = head.toLowerCase()
  const length = headerOf(lower, 'content-length')
  return {
    status: Number(head.slice(9, 12)),
    closes: headerOf(lower, 'connection') === 'close',
    isChunked: headerOf(lower, 'transfer-encoding') === 'chunked',
    length: length === null ? null : Number(length),
  }
}

function headerOf(head: string, name: string): string | null {
  const at = head.indexOf(`\r\n${name}:`)
  if (at < 0) return null
  const end = head.indexOf('\r\n', at + 2)
  return head.slice(at + name.length + 3, end < 0 ? head.length : end).trim()
}
