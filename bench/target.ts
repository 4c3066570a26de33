import type { Child } from './process.ts'

/** One thing under test, running. */
export interface Target {
  /** One of `TARGET_NAMES`, or a peer's name. */
  name: string
  port: number
  path: string
  keys: string[]
  /** Ahead of the names of the mock's models, where a peer wants its provider named. */
  modelPrefix?: string
  /** Null when there is no gateway in between. */
  pid: number | null
  /** From the start of the process to the first 200 on its health route. */
  coldStartMs: number | null
  /** The same to the first 200 that reports readiness; absent if it was not measured. */
  readyMs?: number
  stop(): Promise<void>
}

export const TARGET_NAMES = ['direct', 'bare', 'recording', 'nginx', 'sluice'] as const
export type TargetName = (typeof TARGET_NAMES)[number]
export const isTargetName = (name: string): name is TargetName => TARGET_NAMES.some((known) => known === name)

export interface StartOptions {
  upstreamPort: number
  /** An own folder for this start's files. */
  folder: string
  /** Sluice from source, also when the binary is there. */
  fromSource: boolean
  /** Arguments for Bun ahead of Sluice's source, such as a profiler's. */
  bunFlags: string[]
  /** Sluice's `providers:`; absent: one that speaks chat. */
  providers?: object[]
  /** More of the environment. */
  env?: Record<string, string>
  /** How many keys with limits to make; absent: some. */
  keys?: number
}

const HEALTH_PATIENCE_MS = 20_000

/** Asks until the first 200; answers when that was. */
export async function firstHealthy(port: number, child: Child, path = '/health/live'): Promise<number> {
  let hasEnded = false
  child.exited.then(() => {
    hasEnded = true
  })
  const deadline = performance.now() + HEALTH_PATIENCE_MS
  while (performance.now() < deadline && !hasEnded) {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null)
    if (reply?.status === 200) return performance.now()
    await Bun.sleep(1)
  }
  throw new Error(
    hasEnded ? 'The gateway ended while starting.' : `The gateway did not answer 200 on ${path}.`,
  )
}
