import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { MODELS, USAGE } from './answers.ts'
import { type Child, freePort, spawn } from './process.ts'
import { firstHealthy, type StartOptions, type Target } from './target.ts'

const root = join(import.meta.dir, '..')
const binary = join(root, 'dist', process.platform === 'win32' ? 'sluice.exe' : 'sluice')

export const MANAGEMENT_KEY = 'bench-management-key-that-no-one-else-knows'
/** Without limits. */
export const BOOTSTRAP_KEY = 'bench-inference-key-that-no-one-else-knows'
const LIMITED_KEYS = 4
const KEY_LIMIT_USD = 100_000

/** Decimal USD a token, and what that makes of one answer in nano-dollars. */
const PRICES = { prompt: '0.000001', completion: '0.000002' }
export const ANSWER_NANO_USD = USAGE.prompt_tokens * 1000 + USAGE.completion_tokens * 2000

export const hasBinary = () => existsSync(binary)

/** As an operator would run it: keys with limits, priced models, ledger, logs at their default level. */
export async function startSluice(options: StartOptions): Promise<Target> {
  const { folder } = options
  const port = freePort()
  const config = join(folder, 'sluice.yaml')
  mkdirSync(join(folder, 'data'), { recursive: true })
  await Bun.write(
    config,
    JSON.stringify({ providers: options.providers ?? providers(options.upstreamPort) }, null, 2),
  )
  const startedAt = performance.now()
  const child = spawn({
    place: 'gateway',
    command: command(options),
    cwd: options.fromSource ? root : folder,
    env: {
      SLUICE_CONFIG: config,
      SLUICE_DATA: join(folder, 'data'),
      SLUICE_HOST: '127.0.0.1',
      SLUICE_PORT: String(port),
      SLUICE_DISCOVER: 'off',
      SLUICE_API_KEY: BOOTSTRAP_KEY,
      SLUICE_MANAGEMENT_KEY: MANAGEMENT_KEY,
      // Lists are asked for more often than anybody may.
      SLUICE_ADMIN_RATE_LIMIT: '0',
      ...options.env,
    },
    log: join(folder, 'sluice.log'),
  })
  const { liveAt, readyAt } = await started(port, child, folder)
  return {
    name: 'sluice',
    port,
    path: '/api/v1/chat/completions',
    keys: await limitedKeys(port, options.keys ?? LIMITED_KEYS),
    pid: child.pid,
    coldStartMs: liveAt - startedAt,
    readyMs: readyAt - startedAt,
    stop: child.stop,
  }
}

function command(options: StartOptions): string[] {
  if (!options.fromSource && hasBinary()) return [binary, 'serve']
  return [process.execPath, ...options.bunFlags, join(root, 'src', 'main.ts'), 'serve']
}

async function started(port: number, child: Child, folder: string) {
  try {
    const liveAt = await firstHealthy(port, child)
    const readyAt = await firstHealthy(port, child, '/health/ready')
    return { liveAt, readyAt }
  } catch (error) {
    await child.stop()
    const log = await Bun.file(join(folder, 'sluice.log')).text()
    throw new Error(`Sluice did not start. Its last words:\n${log.slice(-2000)}`, { cause: error })
  }
}

const providers = (upstreamPort: number): object[] => [
  entry('bench', 'chat', upstreamPort, Object.values(MODELS)),
]

/** One `providers:` entry with priced models, at the mock. */
export const entry = (
  slug: string,
  dialect: string,
  upstreamPort: number,
  models: readonly string[],
): object => ({
  slug,
  name: 'Bench',
  dialect,
  base_url: `http://127.0.0.1:${upstreamPort}/v1`,
  api_key: 'bench-upstream-key',
  max_in_flight: 4096,
  models: models.map((id) => ({
    id,
    context_length: 128_000,
    max_completion_tokens: 8192,
    pricing: PRICES,
  })),
})

/** Keys with a limit that is checked and never reached: a bootstrap key would skip the check. */
async function limitedKeys(port: number, wanted: number): Promise<string[]> {
  const keys: string[] = []
  for (let index = 0; index < wanted; index++) {
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `bench ${index}`, limit: KEY_LIMIT_USD }),
    })
    const text = await reply.text()
    if (reply.status !== 200) throw new Error(`POST /keys answered ${reply.status}: ${text.slice(0, 500)}`)
    const { key } = JSON.parse(text)
    keys.push(String(key))
  }
  return keys
}

/** What the ledger has booked on all of the bench's keys, in nano-dollars. */
export async function bookedNanoUsd(target: Target): Promise<number> {
  let total = 0
  for (const key of target.keys) {
    const reply = await fetch(`http://127.0.0.1:${target.port}/api/v1/key`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const { data } = await reply.json()
    total += Math.round(Number(data.usage) * 1e9)
  }
  return total
}
