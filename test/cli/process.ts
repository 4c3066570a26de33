import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeVerified } from '../verified.ts'

export const SOURCE = [process.execPath, join(import.meta.dir, '../../src/main.ts')]

export const BOOTSTRAP = {
  SLUICE_SECRET_KEY: 'ab'.repeat(32),
  SLUICE_MANAGEMENT_KEY: `management-${'m'.repeat(32)}`,
  SLUICE_API_KEY: `inference-${'i'.repeat(32)}`,
}

/** The surroundings of a child: none of this process's settings or credentials. */
export const bare = (extra: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '',
  NO_COLOR: '1',
  SLUICE_DISCOVER: 'off',
  ...extra,
})

/** A folder that is gone after `run`, which fails where it leaves a ledger in it that does not verify. */
export async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'))
  try {
    const result = await run(folder)
    removeVerified(folder)
    return result
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

const LIMIT_MS = 10_000

/** Runs one command to its end; one that goes on is killed (exit code 137). */
export async function sluice(
  args: readonly string[],
  options: {
    env?: Readonly<Record<string, string>>
    cwd?: string
    command?: readonly string[]
    /** Default: nothing, at its end. */
    stdin?: string
  } = {},
): Promise<Ended> {
  const child = Bun.spawn([...(options.command ?? SOURCE), ...args], {
    env: bare(options.env),
    cwd: options.cwd ?? tmpdir(),
    stdin: options.stdin === undefined ? 'ignore' : Buffer.from(options.stdin),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, stdout, stderr }
}

export interface Served {
  readonly url: string
  readonly pid: number
  /** All that it has written to stderr so far. */
  stderr(): string
  kill(signal: NodeJS.Signals): void
  readonly exited: Promise<number>
  /** SIGTERM, then the exit code. */
  stop(): Promise<number>
}

const children = new Set<{ kill(signal: NodeJS.Signals): void }>()

/** For what a failed test has left running. */
export function killServers(): void {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
}

/** Starts a server on a free port and waits until it says where it listens. */
export async function startServer(
  folder: string,
  options: {
    env?: Readonly<Record<string, string>>
    cwd?: string
    command?: readonly string[]
    args?: readonly string[]
    /** Where the log goes; default: nowhere. */
    log?: string
  } = {},
): Promise<Served> {
  const child = Bun.spawn(
    [...(options.command ?? SOURCE), 'serve', '--port', '0', '--data', folder, ...(options.args ?? [])],
    {
      env: bare(options.env),
      cwd: options.cwd ?? tmpdir(),
      stdin: 'ignore',
      stdout: options.log === undefined ? 'ignore' : Bun.file(options.log),
      stderr: 'pipe',
    },
  )
  children.add(child)
  child.exited.then(() => children.delete(child))
  let text = ''
  const listening = Promise.withResolvers<string>()
  const collect = async (): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stderr) {
      text += decoder.decode(chunk, { stream: true })
      const [, url] = /listening on (http:\S+)/.exec(text) ?? []
      if (url !== undefined) listening.resolve(url)
    }
    listening.reject(new Error(`the server ended with ${await child.exited}: ${text}`))
  }
  collect().catch(listening.reject)
  const url = await listening.promise
  return {
    url,
    pid: child.pid,
    stderr: () => text,
    kill: (signal) => child.kill(signal),
    exited: child.exited,
    stop: () => {
      child.kill('SIGTERM')
      return child.exited
    },
  }
}
