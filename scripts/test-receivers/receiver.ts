import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where receivers are installed, outside the repository. */
export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice-receivers')

export interface Receiver {
  readonly name: string
  /** Installs it unless it is there, and starts it. Throws the reason if this machine cannot run it. */
  start(folder: string): Promise<Running>
}

export interface Running {
  /** The version that runs. */
  readonly version: string
  /** What was tried, one line each. Throws at the first thing that is wrong. */
  check(): Promise<readonly string[]>
  stop(): Promise<void>
}

/** Runs a command to its end; throws the end of what it wrote unless it succeeds. Returns what it wrote. */
export async function must(
  command: readonly string[],
  {
    cwd = cache,
    env = {},
    limitMs = 900_000,
  }: { cwd?: string; env?: Record<string, string>; limitMs?: number } = {},
): Promise<string> {
  mkdirSync(cwd, { recursive: true })
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: limitMs,
  })
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) {
    const words = `${out}\n${errors}`.trim().split('\n').slice(-3).join(' ').slice(-300)
    throw new Error(`${command.slice(0, 3).join(' ')}: ${words}`)
  }
  return out
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port = 0 } = server
  await server.stop(true)
  return port
}

/** Resolves once the address answers anything. */
export async function answers(url: string, child: Bun.Subprocess): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} at its start`)
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isUp) return
    await Bun.sleep(100)
  }
  throw new Error('it did not answer within 30 seconds')
}

export async function ended(child: Bun.Subprocess): Promise<void> {
  child.kill()
  await child.exited
}

/** Throws unless both are equal. */
export function equal(what: string, actual: unknown, expected: unknown): void {
  if (Bun.deepEquals(actual, expected)) return
  throw new Error(`${what}: ${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`)
}
