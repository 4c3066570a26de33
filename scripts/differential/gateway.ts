/** One binary on a data folder of its own, with one provider and one model for each case. */
import { mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Case } from './cases.ts'
import { modelOf } from './upstream.ts'

export const API_KEY = 'differential-inference-key-0123456789'
const MANAGEMENT_KEY = 'differential-management-key-0123456789'

export interface Gateway {
  readonly url: string
  stop(): Promise<void>
}

const PRICING = { prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000001' }

const entryOf = (one: Case, index: number, upstreamPort: number): object => ({
  slug: `p${index}`,
  name: 'Lab',
  dialect: one.dialect,
  base_url: `http://127.0.0.1:${upstreamPort}/v1`,
  timeouts: { first_byte_ms: 5_000, between_bytes_ms: 5_000 },
  ...(one.dialect === 'converse'
    ? { aws: { region: 'us-east-1', access_key_id: 'AKIDEXAMPLE', secret_access_key: 'secret' } }
    : { api_key: 'upstream-key' }),
  models: [{ id: modelOf(index), pricing: PRICING, ...one.model }],
  ...one.entry,
})

export async function startGateway(
  binary: string,
  folder: string,
  cases: readonly Case[],
  upstreamPort: number,
): Promise<Gateway> {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'sluice.yaml')
  writeFileSync(config, JSON.stringify({ providers: cases.map((one, i) => entryOf(one, i, upstreamPort)) }))
  const port = freePort()
  const log = openSync(join(folder, 'log'), 'w')
  const child = Bun.spawn([binary, 'serve'], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      SLUICE_CONFIG: config,
      SLUICE_DATA: join(folder, 'data'),
      SLUICE_PORT: String(port),
      SLUICE_DISCOVER: 'off',
      SLUICE_API_KEY: API_KEY,
      SLUICE_MANAGEMENT_KEY: MANAGEMENT_KEY,
      SLUICE_ADMIN_RATE_LIMIT: '0',
    },
    stdout: log,
    stderr: log,
  })
  const url = `http://127.0.0.1:${port}`
  await untilReady(url, child)
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

function freePort(): number {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port } = server
  server.stop(true)
  return port ?? 0
}

async function untilReady(url: string, child: Bun.Subprocess): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`)
    const isReady = await fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    await Bun.sleep(100)
  }
  throw new Error('the gateway did not start within a minute')
}
