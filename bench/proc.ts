import { readFileSync } from 'node:fs'

/** Linux counts processor time in ticks of 10 ms for user space, whatever the kernel's own rate. */
const TICK_US = 10_000

function read(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return null
  }
}

/** User and system time of a process with all its threads, in microseconds; null where /proc does not tell. */
export function cpuMicros(pid: number): number | null {
  const stat = read(pid, 'stat')
  if (stat === null) return null
  // The name in brackets may hold spaces; utime and stime are the 14th and 15th fields, state being the 3rd.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_US
}

/** Resident memory in bytes; null where /proc does not tell. */
export function residentBytes(pid: number): number | null {
  const kilobytes = /VmRSS:\s*(\d+) kB/.exec(read(pid, 'status') ?? '')?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) * 1024
}
