import { afterAll, beforeAll } from 'bun:test'
import { type Gateway, startGateway } from '../gateway.ts'
import type { Recording } from '../recordings.ts'

export const DIALECTS = ['chat', 'messages', 'responses', 'gemini', 'converse', 'cohere']

export interface ReplayingDialects {
  readonly gateway: Gateway
  /** What every provider replies from now on. */
  replayed: Recording | null
  /** Requests that reached a provider. */
  readonly requests: number
}

/** For the tests of a file: a gateway with a provider of each dialect, its model named like it, that replays a recording. */
export function replayInEachDialect(): ReplayingDialects {
  let gateway: Gateway
  let requests = 0
  const upstream = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch() {
      requests += 1
      const { bytes, status, headers } = replaying.replayed ?? {
        bytes: '',
        status: 500,
        headers: new Headers(),
      }
      return new Response(bytes, {
        status,
        headers: { 'content-type': headers.get('content-type') ?? 'application/json' },
      })
    },
  })
  const replaying: ReplayingDialects = {
    replayed: null,
    get gateway() {
      return gateway
    },
    get requests() {
      return requests
    },
  }
  beforeAll(async () => {
    gateway = await startGateway({
      now: () => Date.UTC(2026, 6, 15, 12),
      providers: DIALECTS.map((dialect) => ({
        slug: `lab-${dialect}`,
        name: 'Lab',
        dialect,
        base_url: `http://127.0.0.1:${upstream.port}/v1`,
        api_key: 'secret',
        models: [{ id: dialect, pricing: { prompt: '0.000001', completion: '0.000002' } }],
      })),
    })
    gateway.deps.run.wait = async () => undefined
  })
  afterAll(async () => {
    await gateway.stop()
    await upstream.stop(true)
  })
  return replaying
}
