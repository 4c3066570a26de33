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
  /** The bytes are not HTTP/1.1: the connection is of no more use. */
  onFault(message: string): void
}

type State = 'head' | 'length' | 'size' | 'chunk' | 'chunk-end' | 'trailer' | 'close' | 'broken'

const LINE = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

/**
 * Reads HTTP/1.1 replies off one keep-alive connection, cut anywhere; framed by length, by chunks or by the end of
 * the connection. Only what a load generator needs: bodies are read as latin1, trailers are skipped.
 */
export function createReplyReader(listener: Listener): ReplyReader {
  let state: State = 'head'
  let kept: Buffer = NOTHING
  let pieces: string[] = []
  let remaining = 0
  let status = 0
  let closes = false

  const finish = () => {
    const body = pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('')
    pieces = []
    state = 'head'
    listener.onReply({ status, body, closes })
  }

  const startBody = (head: string) => {
    const framing = framingOf(head)
    status = framing.status
    closes = framing.closes
    remaining = framing.length ?? 0
    if (framing.isChunked) state = 'size'
    else if (framing.length === null) state = 'close'
    else if (framing.length === 0) finish()
    else state = 'length'
  }

  const take = (bytes: Buffer, at: number, limit: number): number => {
    const end = Math.min(bytes.length, at + limit)
    if (end > at) {
      if (pieces.length === 0) listener.onFirstByte()
      pieces.push(bytes.toString('latin1', at, end))
    }
    return end
  }

  /** Answers where the next step begins, or -1 when it needs bytes that have not arrived. */
  const step = (bytes: Buffer, at: number): number => {
    if (state === 'head') {
      const end = bytes.indexOf(HEAD_END, at)
      if (end < 0) return -1
      startBody(bytes.toString('latin1', at, end))
      return end + 4
    }
    if (state === 'length' || state === 'chunk') {
      const end = take(bytes, at, remaining)
      remaining -= end - at
      if (remaining === 0) {
        if (state === 'length') finish()
        else state = 'chunk-end'
      }
      return end
    }
    if (state === 'close') return take(bytes, at, bytes.length)
    if (state === 'broken') return bytes.length
    const end = bytes.indexOf(LINE, at)
    if (end < 0) return -1
    line(bytes.toString('latin1', at, end))
    return end + 2
  }

  const line = (text: string) => {
    if (state === 'trailer') {
      if (text === '') finish()
      return
    }
    if (state === 'chunk-end' && text === '') {
      state = 'size'
      return
    }
    remaining = state === 'size' ? Number.parseInt(text, 16) : Number.NaN
    if (Number.isNaN(remaining)) {
      state = 'broken'
      listener.onFault(`a chunk is framed by ${JSON.stringify(text.slice(0, 40))}`)
      return
    }
    state = remaining === 0 ? 'trailer' : 'chunk'
  }

  return {
    push(incoming) {
      const bytes = kept.length === 0 ? incoming : Buffer.concat([kept, incoming])
      let at = 0
      while (at < bytes.length) {
        const next = step(bytes, at)
        if (next < 0) break
        at = next
      }
      kept = at < bytes.length ? bytes.subarray(at) : NOTHING
    },
    end() {
      if (state === 'close') finish()
    },
    isInside: () => state !== 'head' || kept.length > 0,
  }
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
