import { join } from 'node:path'
import { type Child, freePort, spawn } from '../process.ts'
import { MANAGEMENT_KEY, startSluice } from '../sluice.ts'
import type { Stop } from './loop-watch.ts'
import { replies } from './replies.ts'
import type { Scale, Shape } from './shape.ts'
import { streams } from './streams/index.ts'

/** What one hostile request came to. */
export interface Outcome {
  name: string
  /** 0: the connection broke, or no answer came in time. */
  status: number
  stop: Stop
  /** The beginning of the answer. */
  text: string
}

export interface HostileServer {
  send(shape: Shape, scale: Scale): Promise<Outcome>
  stop(): Promise<void>
}

/** More than any of them may take, also on a slow machine. */
const PATIENCE_MS = 120_000

/** The gateway as a process of its own, its main thread watched, before a provider that is hostile too. */
export async function startHostile(folder: string, scale: Scale): Promise<HostileServer> {
  const upstream = spawn({
    place: 'bench',
    command: [process.execPath, join(import.meta.dir, 'upstream.ts'), String(scale)],
  })
  const upstreamPort = await portOf(upstream)
  const watchPort = freePort()
  const target = await startSluice({
    upstreamPort,
    folder,
    fromSource: true,
    bunFlags: ['--preload', join(import.meta.dir, 'watched.ts')],
    env: { LOOP_WATCH_PORT: String(watchPort) },
    providers: Object.keys(streams).flatMap((dialect) => [
      entry(dialect, upstreamPort, true),
      entry(dialect, upstreamPort, false),
    ]),
    keys: 1,
  })
  const look = async (): Promise<Stop> =>
    (await fetch(`http://127.0.0.1:${watchPort}/`, { signal: AbortSignal.timeout(PATIENCE_MS) })).json()
  return {
    async send(shape, size) {
      const body = shape.body(size)
      const init = {
        method: shape.method ?? 'POST',
        headers: {
          authorization: `Bearer ${shape.isAdmin ? MANAGEMENT_KEY : target.keys[0]}`,
          ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
          ...shape.headers,
        },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      }
      await look()
      const { status, text } = await read(`http://127.0.0.1:${target.port}${shape.path}`, init)
      return { name: shape.name, status, text, stop: await look() }
    },
    async stop() {
      await target.stop()
      await upstream.stop()
    },
  }
}

/** Reads all of it and keeps the beginning. */
async function read(url: string, init: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const reply = await fetch(url, init)
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of reply.body ?? []) if (text.length < 500) text += decoder.decode(chunk)
    return { status: reply.status, text: text.slice(0, 500) }
  } catch (error) {
    return { status: 0, text: String(error) }
  }
}

async function portOf(child: Child): Promise<number> {
  const line = await child.firstLine()
  if (typeof line === 'object' && line !== null && 'port' in line && typeof line.port === 'number')
    return line.port
  throw new Error(`The hostile upstream printed ${JSON.stringify(line)} in place of its port.`)
}

/** Two of each dialect: what the hostile one breaks must not keep requests from the plain one. */
const entry = (dialect: string, upstreamPort: number, isPlain: boolean): object => ({
  slug: `${isPlain ? 'plain' : 'hostile'}-${dialect}`,
  name: 'Hostile',
  dialect,
  base_url: `http://127.0.0.1:${upstreamPort}/v1`,
  api_key: 'hostile-upstream-key',
  models: [...replies.keys()]
    .filter((name) => name.startsWith(`${dialect}-`) && name.endsWith('-plain') === isPlain)
    .map((id) => ({
      id,
      upstream_id: `up~${id}`,
      // No text of 20 MB is refused for its length before anything looked at it.
      context_length: 100_000_000,
      max_completion_tokens: 8192,
      pricing: { prompt: '0.000000001', completion: '0.000000001' },
    })),
})
