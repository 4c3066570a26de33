import type { Socket } from 'node:net'
import { streamEvents, unaryBody } from '../answers.ts'
import type { Behaviour, Call } from './provider.ts'

/** What scripted providers do. */

export const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const LAST_CHUNK = '0\r\n\r\n'

/** One chunk of HTTP/1.1's chunked coding. */
const chunked = (bytes: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`), Buffer.from(bytes), CRLF])
const CRLF = Buffer.from('\r\n')

const reply = (status: string, body: string, headers = ''): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** The head and every event of a stream, each as it is written. */
export const streamPieces = (model: string): Buffer[] => {
  const events = streamEvents(model).map(chunked)
  return [Buffer.from(STREAM_HEAD), ...events, Buffer.from(LAST_CHUNK)]
}

const completeReply = ({ model, isStream }: Call): Buffer =>
  isStream ? Buffer.concat(streamPieces(model)) : Buffer.from(reply('200 OK', unaryBody(model)))

/** A complete and correct answer, at once. */
export const answers: Behaviour = (call) => call.socket.write(completeReply(call))

export const answersAfter =
  (ms: number): Behaviour =>
  (call) =>
    setTimeout(() => answers(call), ms)

/** An error status; `headers` are lines that end in CRLF. */
export const fails =
  (status: number, { headers = '', body = '{}', afterMs = 0 } = {}): Behaviour =>
  ({ socket }) => {
    const send = () => socket.write(reply(`${status} No`, body, headers))
    if (afterMs === 0) send()
    else setTimeout(send, afterMs)
  }

/** The first `bytes` of a complete answer, and then a reset. */
export const resetsAfter =
  (bytes: number): Behaviour =>
  (call) =>
    reset(call.socket, completeReply(call).subarray(0, bytes))

/** Some bytes and then a reset; without bytes it comes at once. */
export function reset(socket: Socket, bytes: string | Uint8Array): void {
  if (bytes.length === 0) socket.resetAndDestroy()
  else socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), FLUSH_MS))
}
/** A reset discards what the other side has not read yet. */
const FLUSH_MS = 10

/** Raw bytes, each part after a pause, and then nothing more. */
export const drips =
  (parts: readonly string[], everyMs: number): Behaviour =>
  ({ socket }) => {
    let next = 0
    const timer = setInterval(() => {
      const part = parts[next++]
      if (part === undefined || socket.destroyed) clearInterval(timer)
      else socket.write(part)
    }, everyMs)
  }

/** A stream of exactly these bytes, cut into chunks as they are given, that ends cleanly. */
export const streams =
  (parts: readonly (string | Uint8Array)[]): Behaviour =>
  ({ socket }) => {
    socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), ...parts.map(chunked), Buffer.from(LAST_CHUNK)]))
  }

/** Accepts the request and never answers. */
export const stalls: Behaviour = () => undefined

/** Begins a stream and never goes on. */
export const stallsAfterFirstWord: Behaviour = ({ socket, model }) =>
  socket.write(Buffer.concat(streamPieces(model).slice(0, 3)))

/** The text of a stream as the caller got it. */
export const textIn = (body: string): string =>
  [...body.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('')
