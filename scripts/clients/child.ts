import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export interface Ran {
  /** null: it was killed. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
  readonly isTimedOut: boolean
}

export interface RunOptions {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly limitMs: number
  readonly input?: string
}

const MAX_OUTPUT_CHARACTERS = 4_000_000
/** Marks every process of this run, also those that have left their process group. */
const MARK = `SLUICE_CLIENTS_RUN=${process.pid}`

/** Runs a command in a process group of its own, and ends the complete group when it exits or times out. */
export async function run(options: RunOptions): Promise<Ran> {
  const [program = '', ...rest] = options.command
  const startedAt = performance.now()
  const child = spawn(program, rest, {
    cwd: options.cwd,
    env: { ...options.env, SLUICE_CLIENTS_RUN: String(process.pid) },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  let stdout = ''
  let stderr = ''
  let isTimedOut = false
  child.stdout.on('data', (bytes) => {
    if (stdout.length < MAX_OUTPUT_CHARACTERS) stdout += String(bytes)
  })
  child.stderr.on('data', (bytes) => {
    if (stderr.length < MAX_OUTPUT_CHARACTERS) stderr += String(bytes)
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.input ?? '')
  const ended = Promise.withResolvers<number | null>()
  child.on('exit', (code) => ended.resolve(code))
  child.on('error', (error) => {
    stderr += String(error)
    ended.resolve(null)
  })
  const timer = setTimeout(() => {
    isTimedOut = true
    kill(child.pid)
  }, options.limitMs)
  const code = await ended.promise
  clearTimeout(timer)
  // The last output is read before the pipes are dropped.
  await Promise.race([new Promise((resolve) => child.on('close', resolve)), Bun.sleep(300)])
  kill(child.pid)
  return { code, stdout, stderr, ms: performance.now() - startedAt, isTimedOut }
}

function kill(pid: number | undefined): void {
  if (pid === undefined) return
  for (const target of [-pid, ...stragglers()]) {
    try {
      process.kill(target, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }
}

/** Children of this run that still live in any process group. Linux only; elsewhere the group is all we can name. */
function stragglers(): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid) return []
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(MARK) ? [pid] : []
    } catch {
      return []
    }
  })
}

export function killStragglers(): void {
  for (const pid of stragglers()) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }
}
