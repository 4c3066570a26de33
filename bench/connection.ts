import type { Socket } from 'bun'
import { createReplyReader, type Reply } from './reply-reader.ts'

/** One keep-alive HTTP/1.1 connection that carries one request at a time. */
export interface Connection {
  /** Rejects when the connection breaks, the answer is not HTTP, or it takes longer than `patienceMs`. */
  ask(request: Buffer, patienceMs: number, onFirstByte: () => void): Promise<Reply>
  /** More bytes of a request that was begun. */
  send(bytes: Buffer): void
  close(): void
}

interface Waiting {
  resolve(reply: Reply): void
  reject(error: Error): void
  onFirstByte(): void
  deadline: number
}

export async function openConnection(port: number): Promise<Connection> {
  let waiting: Waiting | null = null
  let unsent: Buffer | null = null
  let isClosed = false

  const settle = (outcome: Reply | Error) => {
    const current = waiting
    waiting = null
    if (outcome instanceof Error) current?.reject(outcome)
    else current?.resolve(outcome)
  }
  const reader = createReplyReader({
    onReply: settle,
    onFirstByte: () => waiting?.onFirstByte(),
    onFault: (message) => settle(new Error(message)),
  })
  const send = (socket: Socket<undefined>, bytes: Buffer) => {
    const sent = Math.max(0, socket.write(bytes))
    unsent = sent < bytes.length ? bytes.subarray(sent) : null
  }
  const lose = (message: string) => {
    isClosed = true
    clearInterval(watch)
    reader.end()
    settle(new Error(message))
  }
  // One slow clock for the connection: a timer for each request would be measured too.
  const watch = setInterval(() => {
    if (waiting !== null && performance.now() > waiting.deadline) settle(new Error('no answer in time'))
  }, 1000)

  const socket = await Bun.connect<undefined>({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (opened) => {
        opened.setNoDelay(true)
      },
      data: (_, bytes) => reader.push(bytes),
      drain: (drained) => {
        if (unsent !== null) send(drained, unsent)
      },
      close: () => lose('the connection was closed before the end of the answer'),
      error: (_, error) => lose(error.message),
    },
  }).catch((error) => {
    clearInterval(watch)
    throw error
  })
  return {
    ask(request, patienceMs, onFirstByte) {
      if (isClosed) return Promise.reject(new Error('the connection is closed'))
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject, onFirstByte, deadline: performance.now() + patienceMs }
        send(socket, request)
      })
    },
    send: (bytes) => send(socket, bytes),
    close() {
      clearInterval(watch)
      socket.end()
    },
  }
}
