import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startNginx } from './nginx.ts'
import { type Child, spawn } from './process.ts'
import { startSluice } from './sluice.ts'
import { firstHealthy, type StartOptions, type Target, type TargetName } from './target.ts'

const here = import.meta.dir

export async function startMock(): Promise<{ port: number; child: Child }> {
  const child = spawn({ place: 'bench', command: [process.execPath, join(here, 'mock-upstream.ts')] })
  return { port: portOf(await child.firstLine()), child }
}

function portOf(line: unknown): number {
  if (typeof line === 'object' && line !== null && 'port' in line && typeof line.port === 'number') {
    return line.port
  }
  throw new Error(`A bench server printed ${JSON.stringify(line)} in place of its port.`)
}

/** Null where the target is not installed. */
export async function startTarget(name: TargetName, options: StartOptions): Promise<Target | null> {
  mkdirSync(options.folder, { recursive: true })
  switch (name) {
    case 'direct':
      return {
        name,
        port: options.upstreamPort,
        path: '/v1/chat/completions',
        keys: [],
        pid: null,
        coldStartMs: null,
        stop: async () => {},
      }
    case 'bare':
      return startProxy(name, 'bare-proxy.ts', options)
    case 'recording':
      return startProxy(name, 'recording-proxy.ts', options)
    case 'nginx':
      return startNginx(options)
    case 'sluice':
      return startSluice(options)
  }
}

async function startProxy(name: TargetName, file: string, options: StartOptions): Promise<Target> {
  const startedAt = performance.now()
  const upstream = `http://127.0.0.1:${options.upstreamPort}`
  const child = spawn({
    place: 'gateway',
    command: [process.execPath, join(here, file), upstream, options.folder],
    env: { BUN_CONFIG_MAX_HTTP_REQUESTS: '16384', NODE_ENV: 'production' },
  })
  const port = portOf(await child.firstLine())
  const readyAt = await firstHealthy(port, child)
  return {
    name,
    port,
    path: '/v1/chat/completions',
    keys: [],
    pid: child.pid,
    coldStartMs: readyAt - startedAt,
    stop: child.stop,
  }
}
