import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts processor time in ticks of 10 ms for user space, independent of the kernel's own rate. */
const TICK_US = 10_000

function read(pid: number | string, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return null
  }
}

/** User and system time of a process with all its threads, in microseconds; null where /proc does not tell. */
export function cpuMicros(pid: number): number | null {
  const stat = read(pid, 'stat')
  return stat === null ? null : microsOf(stat)
}

function microsOf(stat: string): number {
  // The name in brackets may hold spaces; utime and stime are the 14th and 15th fields, state being the 3rd.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_US
}

/** The threads of a Bun process by what they do. */
export const THREADS = ['main', 'http', 'jit', 'other'] as const
export type ThreadKind = (typeof THREADS)[number]

/** The same by thread; all 0 where /proc is absent. */
export function threadMicros(pid: number): Record<ThreadKind, number> {
  const micros = { main: 0, http: 0, jit: 0, other: 0 }
  for (const thread of threadsOf(pid)) {
    const stat = read(`${pid}/task/${thread}`, 'stat')
    if (stat !== null) micros[kindOf(stat, Number(thread) === pid)] += microsOf(stat)
  }
  return micros
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

function kindOf(stat: string, isMain: boolean): ThreadKind {
  if (isMain) return 'main'
  const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
  if (name.startsWith('HTTP')) return 'http'
  return name.startsWith('JIT') ? 'jit' : 'other'
}

/** Resident memory in bytes; null where /proc does not tell. */
export function residentBytes(pid: number): number | null {
  const kilobytes = /VmRSS:\s*(\d+) kB/.exec(read(pid, 'status') ?? '')?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) * 1024
}
