/** Other gateways, measured beside Sluice where a settings file says how to start them. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, spawn } from './process.ts'
import { firstHealthy, type StartOptions, type Target } from './target.ts'

/** `{upstream}`, `{port}` and `{folder}` are filled in, in every text of the entry. */
export interface Peer {
  readonly name: string
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Files to write before the start, by their path below the folder. */
  readonly files?: Readonly<Record<string, string>>
  /** Answers 200 when it is up; default `/health`. */
  readonly health?: string
  /** Default `/v1/chat/completions`. */
  readonly path?: string
  readonly keys?: readonly string[]
  readonly modelPrefix?: string
}

/** The peers of a JSON file, `[{name, command, …}]`. Throws a sentence for a file that is not one. */
export function readPeers(file: string): Peer[] {
  const list: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (!Array.isArray(list) || !list.every(isPeer))
    throw new Error(`${file} is not a list of {"name", "command"} objects.`)
  return list
}

const isPeer = (value: unknown): value is Peer =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  'command' in value &&
  Array.isArray(value.command)

/** Null where the peer's program is not installed. */
export async function startPeer(peer: Peer, options: StartOptions): Promise<Target | null> {
  const [program = ''] = peer.command
  if (Bun.which(program) === null) return null
  const { folder } = options
  const port = freePort()
  const upstream = `http://127.0.0.1:${options.upstreamPort}`
  const filled = (text: string): string =>
    text.replaceAll('{upstream}', upstream).replaceAll('{port}', String(port)).replaceAll('{folder}', folder)
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(peer.files ?? {}))
    await Bun.write(join(folder, name), filled(text))
  const env = Object.fromEntries(Object.entries(peer.env ?? {}).map(([name, text]) => [name, filled(text)]))
  const startedAt = performance.now()
  const child = spawn({
    place: 'gateway',
    command: peer.command.map(filled),
    cwd: folder,
    env,
    log: join(folder, 'peer.log'),
  })
  const readyAt = await firstHealthy(port, child, peer.health ?? '/health')
  return {
    name: peer.name,
    port,
    path: peer.path ?? '/v1/chat/completions',
    keys: [...(peer.keys ?? [])],
    ...(peer.modelPrefix === undefined ? {} : { modelPrefix: peer.modelPrefix }),
    pid: child.pid,
    coldStartMs: readyAt - startedAt,
    stop: child.stop,
  }
}
