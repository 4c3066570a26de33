import OpenAI from 'openai'
import { API_KEY, type Gateway, startGateway } from './gateway.ts'
import type { Recording } from './recordings.ts'

export interface ReplayingGateway {
  gateway: Gateway
  /** The official client, pointed at it; its model is `recorded`. */
  client: OpenAI
  /** What the provider answers from now on. */
  replay(recording: Recording): void
  stop(): Promise<void>
}

/** A gateway before a provider that says again what was recorded. `entry` is its `providers:` entry but for the address. */
export async function startReplaying(entry: Record<string, unknown>): Promise<ReplayingGateway> {
  let replayed: Recording | null = null
  const upstream = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch() {
      if (!replayed) return new Response('nothing is replayed', { status: 500 })
      const type = replayed.headers.get('content-type') ?? 'application/json'
      return new Response(replayed.bytes, { status: replayed.status, headers: { 'content-type': type } })
    },
  })
  let now = Date.UTC(2026, 0, 1)
  const gateway = await startGateway({
    listens: true,
    // An hour between two requests: no failure of one recording holds back the next.
    now: () => {
      now += 3_600_000
      return now
    },
    providers: [
      {
        slug: 'lab',
        base_url: `http://127.0.0.1:${upstream.port}/v1`,
        models: [{ id: 'recorded', pricing: { prompt: '0.000001', completion: '0.000002' } }],
        ...entry,
      },
    ],
  })
  gateway.deps.run.wait = async () => undefined
  return {
    gateway,
    client: new OpenAI({ baseURL: `${gateway.url}/api/v1`, apiKey: API_KEY, maxRetries: 0 }),
    replay(recording) {
      replayed = recording
    },
    async stop() {
      await gateway.stop()
      await upstream.stop(true)
    },
  }
}
