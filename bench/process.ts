import { availableParallelism } from 'node:os'
import type { Subprocess } from 'bun'

/** The gateway has a core for itself; the bench's own processes share the others. */
type Place = 'gateway' | 'bench'

export interface Child {
  pid: number
  /** The first line on stdout, parsed. Rejects when the process ends before it. */
  firstLine(): Promise<unknown>
  /** All of stdout; resolves when the process has ended. */
  text(): Promise<string>
  exited: Promise<number>
  /** SIGTERM, and SIGKILL after three seconds. Resolves when the process is gone. */
  stop(): Promise<void>
}

export interface SpawnOptions {
  place: Place
  command: string[]
  env?: Record<string, string>
  cwd?: string
  /** Sent to stdin, which is then closed; without it stdin stays open until the bench ends. */
  input?: string
  /** A file that takes stdout and stderr. */
  log?: string
}

const GRACE_MS = 3000
const running = new Set<Subprocess>()

/** Ends every process that still runs, after a bench that was interrupted or failed. */
export function killAll() {
  for (const child of running) child.kill('SIGKILL')
}

const cores = availableParallelism()
const taskset = process.platform === 'linux' && cores > 1 ? Bun.which('taskset') : null
export const isPinned = taskset !== null

/** Lets the kernel end a child whose bench was killed outright and could not. */
const setpriv = process.platform === 'linux' ? Bun.which('setpriv') : null

function wrapped(place: Place, command: string[]): string[] {
  const pin = taskset === null ? [] : [taskset, '-c', place === 'gateway' ? '0' : `1-${cores - 1}`]
  const mortal = setpriv === null ? [] : [setpriv, '--pdeathsig', 'KILL']
  return [...pin, ...mortal, ...command]
}

/**
 * Starts a child with a bare environment, so that no credential of the operator turns a provider on, and with as
 * many open files as the machine allows.
 */
export function spawn(options: SpawnOptions): Child {
  const { PATH = '', HOME = '' } = process.env
  const raise = 'ulimit -n "$(ulimit -Hn)" 2>/dev/null; exec "$@"'
  const child = Bun.spawn(['sh', '-c', raise, 'sh', ...wrapped(options.place, options.command)], {
    env: { PATH, HOME, ...options.env },
    cwd: options.cwd,
    stdin: options.input === undefined ? 'pipe' : new Blob([options.input]),
    stdout: options.log === undefined ? 'pipe' : Bun.file(options.log),
    stderr: options.log === undefined ? 'inherit' : Bun.file(options.log),
  })
  running.add(child)
  const exited = child.exited.finally(() => running.delete(child))
  const stdout = () => {
    if (child.stdout instanceof ReadableStream) return child.stdout
    throw new Error('stdout goes to a file')
  }
  return {
    pid: child.pid,
    exited,
    firstLine: () => firstLineOf(stdout()),
    text: () => new Response(stdout()).text(),
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
      await exited
      clearTimeout(timer)
    },
  }
}

async function firstLineOf(stream: ReadableStream<Uint8Array>): Promise<unknown> {
  let text = ''
  for await (const bytes of stream) {
    text += new TextDecoder().decode(bytes)
    const end = text.indexOf('\n')
    if (end >= 0) return JSON.parse(text.slice(0, end))
  }
  throw new Error('The process ended before it printed its port.')
}

/** A port that was free a moment ago. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

export interface OpenFiles {
  soft: number
  hard: number
}

export async function openFileLimits(): Promise<OpenFiles> {
  const limit = async (flag: string) => {
    const text = await new Response(Bun.spawn(['sh', '-c', `ulimit ${flag}`]).stdout).text()
    return text.trim() === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text)
  }
  return { soft: await limit('-Sn'), hard: await limit('-Hn') }
}
