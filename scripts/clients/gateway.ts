import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../src/core/events.ts'

const root = join(import.meta.dir, '../..')
const binary = join(root, 'dist', process.platform === 'win32' ? 'sluice.exe' : 'sluice')

export const KEY = 'clients-inference-key-that-no-one-else-knows'
export const WRONG_KEY = 'sk-sl-v1-this-key-was-never-created-by-anyone-at-all'
const MANAGEMENT_KEY = 'clients-management-key-that-no-one-else-knows'
const START_LIMIT_MS = 15_000
const GRACE_MS = 5000

export interface Gateway {
  readonly url: string
  stop(): Promise<void>
}

export async function build(): Promise<void> {
  const child = Bun.spawn([process.execPath, join(root, 'build.ts')], {
    cwd: root,
    stdout: 'ignore',
    stderr: 'inherit',
  })
  if ((await child.exited) !== 0 || !existsSync(binary)) throw new Error('The build of dist/sluice failed.')
}

function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

/** Starts the binary with a bare environment and only the scripted providers. */
export async function startGateway(
  folder: string,
  settings: JsonObject,
  env: Readonly<Record<string, string>> = {},
): Promise<Gateway> {
  const url = `http://127.0.0.1:${freePort()}`
  const config = join(folder, 'sluice.yaml')
  mkdirSync(folder, { recursive: true })
  await Bun.write(config, JSON.stringify(settings))
  const log = join(folder, 'sluice.log')
  const child = Bun.spawn([binary, 'serve'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      SLUICE_CONFIG: config,
      SLUICE_DATA: join(folder, 'data'),
      SLUICE_HOST: '127.0.0.1',
      SLUICE_PORT: new URL(url).port,
      SLUICE_DISCOVER: 'off',
      SLUICE_API_KEY: KEY,
      SLUICE_MANAGEMENT_KEY: MANAGEMENT_KEY,
      ...env,
    },
    stdin: 'ignore',
    stdout: Bun.file(log),
    stderr: Bun.file(log),
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
    await child.exited
    clearTimeout(timer)
  }
  const deadline = Date.now() + START_LIMIT_MS
  while (Date.now() < deadline && child.exitCode === null) {
    const reply = await fetch(`${url}/health/ready`).catch(() => null)
    if (reply?.ok) return { url, stop }
    await Bun.sleep(50)
  }
  await stop()
  throw new Error(`Sluice did not start: ${(await Bun.file(log).text()).slice(-2000)}`)
}
