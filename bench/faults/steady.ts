import { requestBody } from '../answers.ts'
import { type Connection, openConnection } from '../connection.ts'
import type { World } from './world.ts'

/** One request of a steady load, when it was sent and how it ended. Times are `performance.now()`. */
export interface Sent {
  model: string
  sentAt: number
  endedAt: number
  /** 0: the connection broke, or no answer came in time. */
  status: number
}

export interface SteadyLoad {
  /** Requests that have ended, in that order. */
  readonly ended: Sent[]
  /** Resolves when the requests under way have ended too. */
  stop(): Promise<void>
}

const TICK_MS = 5
const PATIENCE_MS = 30_000

/** Sends so many requests a second whether or not earlier ones are answered, dealt to the models in turn. */
export function startSteadyLoad(world: World, models: readonly string[], perSecond: number): SteadyLoad {
  const ended: Sent[] = []
  const running = new Set<Promise<void>>()
  const idle: Connection[] = []
  const requests = models.map((model) => ({ model, bytes: requestBytes(world, requestBody(model, 'unary')) }))
  const startedAt = performance.now()
  let sent = 0

  const send = async (): Promise<void> => {
    const request = requests[sent++ % requests.length]
    if (request === undefined) return
    const sentAt = performance.now()
    let status = 0
    try {
      const connection = idle.pop() ?? (await openConnection(world.target.port))
      const reply = await connection.ask(request.bytes, PATIENCE_MS, () => undefined)
      status = reply.status
      if (reply.closes) connection.close()
      else idle.push(connection)
    } catch {}
    ended.push({ model: request.model, sentAt, endedAt: performance.now(), status })
  }
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * perSecond
    while (sent < due) {
      const sending: Promise<void> = send().finally(() => running.delete(sending))
      running.add(sending)
    }
  }, TICK_MS)
  return {
    ended,
    async stop() {
      clearInterval(timer)
      await Promise.all(running)
      for (const connection of idle) connection.close()
    },
  }
}

/** A request to chat completions by the world's key. */
export const requestBytes = ({ target: { port, path }, key }: World, body: string): Buffer =>
  Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      `authorization: Bearer ${key}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
