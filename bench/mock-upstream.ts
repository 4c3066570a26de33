import type { Socket } from 'bun'
import { embeddingsBody, unaryBody } from './answers.ts'
import { announce } from './child.ts'
import { type Wire, wireOfPath } from './wires.ts'

/**
 * An OpenAI-shaped upstream that costs next to nothing, so that a measurement shows the gateway and not the mock:
 * plain TCP, replies encoded once for each model, one write for each burst or chunk.
 */

interface Connection {
  /** Received bytes of a request that is not complete yet. */
  received: Buffer | null
  /** Bytes that the socket did not take; empty almost always. */
  unsent: Buffer[]
  stream: Stream | null
}

interface Stream {
  chunks: Buffer[]
  next: number
}

const HEAD_END = Buffer.from('\r\n\r\n')
const unaryReplies = new Map<string, Buffer>()
const embeddingReplies = new Map<string, Buffer>()
const streams = new Map<Wire, Map<string, Buffer[]>>()

const unaryReply = (model: string): Buffer => replyOf(unaryReplies, model, unaryBody)
const embeddingsReply = (model: string): Buffer => replyOf(embeddingReplies, model, embeddingsBody)

function replyOf(known: Map<string, Buffer>, model: string, bodyOf: (model: string) => string): Buffer {
  let reply = known.get(model)
  if (reply === undefined) {
    reply = wholeReply('200 OK', bodyOf(model))
    known.set(model, reply)
  }
  return reply
}

function wholeReply(status: string, body: string): Buffer {
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`
  return Buffer.from(head + body)
}

/** The head and then each event as an HTTP chunk of its own; the last one carries the end of the body. */
function streamChunks(wire: Wire, model: string): Buffer[] {
  const ofWire = streams.get(wire) ?? new Map<string, Buffer[]>()
  streams.set(wire, ofWire)
  let chunks = ofWire.get(model)
  if (chunks === undefined) {
    const framed = wire
      .events(model)
      .map((event) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`)
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
    framed[0] = head + framed[0]
    framed[framed.length - 1] += '0\r\n\r\n'
    const texts = model.includes('burst') ? [framed.join('')] : framed
    chunks = texts.map((text) => Buffer.from(text))
    ofWire.set(model, chunks)
  }
  return chunks
}

function write(socket: Socket<Connection>, bytes: Buffer) {
  const { unsent } = socket.data
  if (unsent.length > 0) {
    unsent.push(bytes)
    return
  }
  const sent = socket.write(bytes)
  if (sent >= 0 && sent < bytes.length) unsent.push(bytes.subarray(sent))
}

function flush(socket: Socket<Connection>) {
  const waiting = socket.data.unsent.splice(0)
  for (const bytes of waiting) write(socket, bytes)
}

/** Writes the next chunk of each open stream at every beat; a beat is a turn of the event loop or an interval. */
function createPace(schedule: (beat: () => void) => void) {
  const open = new Set<Socket<Connection>>()
  let isRunning = false
  const beat = () => {
    for (const socket of open) {
      const { stream } = socket.data
      const chunk = stream?.chunks[stream.next]
      if (stream === null || chunk === undefined) {
        open.delete(socket)
        socket.data.stream = null
        continue
      }
      stream.next += 1
      write(socket, chunk)
    }
    isRunning = open.size > 0
    if (isRunning) schedule(beat)
  }
  return (socket: Socket<Connection>) => {
    open.add(socket)
    if (isRunning) return
    isRunning = true
    schedule(beat)
  }
}

const paceSteps = createPace((beat) => setImmediate(beat))

/** Slow streams are dealt to this many beats within the interval: real ones do not speak in chorus. */
const PHASES = 12
const tricklePaces = new Map<number, ReturnType<typeof createPace>[]>()
let trickled = 0

function paceTrickle(intervalMs: number) {
  let paces = tricklePaces.get(intervalMs)
  if (paces === undefined) {
    paces = Array.from({ length: PHASES }, (_, phase) => createPace(inPhase(intervalMs, phase / PHASES)))
    tricklePaces.set(intervalMs, paces)
  }
  trickled += 1
  return paces[trickled % PHASES] ?? paceSteps
}

/** Schedules for the next moment that is `share` of an interval after a full one. */
const inPhase = (intervalMs: number, share: number) => (beat: () => void) => {
  const since = (performance.now() - share * intervalMs) % intervalMs
  setTimeout(beat, intervalMs - (since < 0 ? since + intervalMs : since))
}

function answer(socket: Socket<Connection>, path: string, body: string) {
  const model = /"model":\s*"([^"]+)"/.exec(body)?.[1]
  if (model === undefined) {
    write(socket, wholeReply('400 Bad Request', '{"error":{"message":"The body has no model."}}'))
    return
  }
  if (!/"stream":\s*true/.test(body)) {
    write(socket, path.endsWith('/embeddings') ? embeddingsReply(model) : unaryReply(model))
    return
  }
  socket.data.stream = { chunks: streamChunks(wireOfPath(path), model), next: 0 }
  const interval = /-trickle-(\d+)$/.exec(model)?.[1]
  const pace = interval === undefined ? paceSteps : paceTrickle(Number(interval))
  if (!model.includes('burst')) {
    pace(socket)
    return
  }
  for (const chunk of socket.data.stream.chunks) write(socket, chunk)
  socket.data.stream = null
}

/** Where the first request in `bytes` has its body, or null while it is not complete. */
export function requestIn(bytes: Buffer): { path: string; start: number; end: number } | null {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return null
  const head = bytes.toString('latin1', 0, headEnd)
  const start = headEnd + HEAD_END.length
  const end = start + Number(/\r\ncontent-length:\s*(\d+)/i.exec(head)?.[1] ?? 0)
  return bytes.length < end ? null : { path: head.split(' ', 2)[1] ?? '', start, end }
}

function receive(socket: Socket<Connection>, incoming: Buffer) {
  const { data } = socket
  let bytes = data.received === null ? incoming : Buffer.concat([data.received, incoming])
  while (bytes.length > 0) {
    const request = requestIn(bytes)
    if (request === null) break
    answer(socket, request.path, bytes.toString('latin1', request.start, request.end))
    bytes = bytes.subarray(request.end)
  }
  data.received = bytes.length > 0 ? bytes : null
}

/** Listens on a free loopback port. */
export function startMockUpstream() {
  return Bun.listen<Connection>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { received: null, unsent: [], stream: null }
        socket.setNoDelay(true)
      },
      data: receive,
      drain: flush,
      close(socket) {
        if (socket.data.stream !== null) socket.data.stream.next = Number.POSITIVE_INFINITY
        socket.data.unsent = []
      },
      error() {},
    },
  })
}

if (import.meta.main) announce(startMockUpstream().port)
