import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import type { CredentialFields } from '../src/admin/providers/credential-fields.ts'
import { storeCredential } from '../src/admin/providers/service.ts'
import { verifyBodies } from '../src/bodies/verify.ts'
import { loadConfig } from '../src/config.ts'
import type { McpServer } from '../src/core/mcp.ts'
import type { Database } from '../src/db/database.ts'
import { openSealer } from '../src/db/seal.ts'
import { verifyFolder } from '../src/ledger/verify.ts'
import { openDataFolder } from '../src/server/data-folder.ts'
import type { Deps } from '../src/server/deps.ts'
import { openGateway } from '../src/server/gateway.ts'

export const API_KEY = 'test-inference-key-0123456789abcdefghij'
export const MANAGEMENT_KEY = 'test-management-key-0123456789abcdefghij'

export interface Gateway {
  /** Where it listens; '' when it does not. */
  url: string
  deps: Deps
  database: Database
  /** The file of sealed bodies. */
  bodies: Database
  folder: string
  /** Calls a path of the API with the inference key, unless the headers name another. */
  call(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
  /** The same, by a caller that disconnects when the signal aborts. Only for a gateway that does not listen. */
  abortable(
    path: string,
    body: unknown,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response>
  /** The same with the management key. */
  manage(method: string, path: string, body?: unknown): Promise<Response>
  /** A further inference key with the given limits; answers it in clear. */
  makeKey(fields: Record<string, unknown>): Promise<{ key: string; hash: string }>
  /** A further inference key with a guardrail of its own. */
  makeGuardedKey(guardrail: object): Promise<{ key: string; hash: string; guardrailId: string }>
  generations(): Record<string, unknown>[]
  stop(): Promise<void>
}

export interface GatewayOptions {
  /** Raw `providers:` entries. */
  providers?: unknown[]
  /** Raw `models:` entries. */
  models?: unknown[]
  mcpServers?: McpServer[]
  environment?: Record<string, string>
  now?: () => number
  /** Credentials to seal and store before the start. */
  credentials?: CredentialFields[]
  /** Takes every line of the log; absent: no log. */
  log?(line: string): void
  /** Whether the disk has room; absent: always. */
  hasDiskSpace?(): boolean
  /** How long an answer waits for its settlement while nothing can be committed. */
  lateMs?: number
  /** What `person-name` looks for. */
  personNames?: string[]
  /** What host names in callers' URLs resolve to; absent: to a public address, without a network. */
  resolve?: (host: string) => Promise<readonly string[]>
  /** Where people reach it; absent: `http://localhost`. */
  address?: () => string
  /** Retries are bounded as in the product; absent: not, because the tests of a file share a gateway and its seconds. */
  boundsRetries?: boolean
  /** Delivers to observability destinations; absent: generations wait for them. */
  delivers?: boolean
  /** Listen on loopback, for tests about connections. */
  listens?: boolean
}

/** A whole gateway on a data folder of its own. Nothing but the clock and the upstream is not real. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  const config = await loadConfig({
    environment: {
      SLUICE_DATA: folder,
      SLUICE_API_KEY: API_KEY,
      SLUICE_MANAGEMENT_KEY: MANAGEMENT_KEY,
      // With a clock that stands still no allowance would ever fill up again.
      SLUICE_ADMIN_RATE_LIMIT: '0',
      ...(options.personNames ? { SLUICE_PERSON_NAMES: nameList(folder, options.personNames) } : {}),
      ...options.environment,
    },
    workingFolder: folder,
  })
  if (options.credentials) await storeAll(folder, options.credentials)
  const { providers = [], models = [], mcpServers = [] } = options
  const settings = { ...config, providers, models, mcpServers }
  const { log, now, hasDiskSpace, lateMs } = options
  const gateway = await openGateway(settings, {
    logger: log ? pino({ level: 'trace' }, { write: log }) : pino({ level: 'silent' }),
    writeLine: log,
    address: options.address ?? (() => 'http://localhost'),
    resolve: options.resolve ?? (async () => ['93.184.215.14']),
    hasDiskSpace: hasDiskSpace ?? (() => true),
    lateMs,
    ...(now ? { now } : {}),
  })
  const { deps, handle: app, routing } = gateway
  if (!options.boundsRetries)
    Object.assign(deps.run, {
      retries: { countRequest: () => undefined, hasLeft: () => true, take: () => true },
    })
  const { database, bodies } = gateway.folder
  await routing.recordPrices()
  if (options.delivers) deps.delivery.start()
  const server = options.listens
    ? Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 30, fetch: app })
    : null
  const url = server ? `http://127.0.0.1:${server.port}` : ''
  const send = senderOf(app, url)
  const makers = makersOf(send)
  return {
    url,
    deps,
    database,
    bodies,
    folder,
    call: (path, body, headers) => send(body === undefined ? 'GET' : 'POST', path, API_KEY, body, headers),
    abortable: (path, body, headers, signal) => send('POST', path, API_KEY, body, headers, signal),
    manage: (method, path, body) => send(method, path, MANAGEMENT_KEY, body),
    ...makers,
    generations: () =>
      database.file.query<Record<string, unknown>, []>('SELECT * FROM generations ORDER BY id').all(),
    async stop() {
      await deps.run.running.drain(0)
      await deps.run.contexts?.whenIdle()
      await server?.stop(true)
      await gateway.close()
      const report = verifyFolder(folder)
      const stored = verifyBodies(bodies.path)
      report.differences.push(...(stored?.differences ?? ['bodies.db is gone']))
      rmSync(folder, { recursive: true, force: true })
      if (report.differences.length > 0) throw new Error(`verify: ${report.differences.join('; ')}`)
    },
  }
}

/** Refused credentials, rate limits and open breakers are forgotten, so that one test does not decide about the next. */
export function forgetFailures({ deps: { run } }: Pick<Gateway, 'deps'>): void {
  for (const { credentialId } of run.health.troubled()) run.health.forget(credentialId)
}

/** Sends a request over the socket of `url`, or straight to the app if it does not listen. */
const senderOf =
  (app: (request: Request) => Response | Promise<Response>, url: string) =>
  async (
    method: string,
    path: string,
    key: string,
    body: unknown,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response> => {
    const init: RequestInit = {
      method,
      headers: {
        host: 'localhost',
        authorization: `Bearer ${key}`,
        ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(signal && { signal }),
    }
    if (body !== undefined) {
      init.body = typeof body === 'string' || body instanceof FormData ? body : JSON.stringify(body)
    }
    const target = `${url || 'http://localhost'}/api/v1${path}`
    return url ? fetch(target, init) : app(new Request(target, init))
  }

/** Creates keys, with and without guardrails. */
function makersOf(send: ReturnType<typeof senderOf>): Pick<Gateway, 'makeKey' | 'makeGuardedKey'> {
  /** Returns the reply to a change of administration; throws unless it has this status. */
  const changed = async (path: string, body: object, status: number) => {
    const response = await send('POST', path, MANAGEMENT_KEY, body)
    if (response.status !== status)
      throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`)
    const reply = await response.json()
    return { ...reply, ...reply.data }
  }
  const makeKey: Gateway['makeKey'] = async (fields) => {
    const { key, hash } = await changed('/keys', { name: 'test', ...fields }, 200)
    return { key, hash }
  }
  return {
    makeKey,
    async makeGuardedKey(guardrail) {
      const made = await makeKey({})
      const { id } = await changed('/guardrails', { name: 'Careful', ...guardrail }, 201)
      await changed(`/guardrails/${id}/assignments/keys`, { key_hashes: [made.hash] }, 200)
      return { ...made, guardrailId: String(id) }
    },
  }
}

function nameList(folder: string, names: readonly string[]): string {
  const path = join(folder, 'names.txt')
  writeFileSync(path, names.join('\n'))
  return path
}

/** Stores these credentials, sealed, before the start. */
async function storeAll(folder: string, credentials: readonly CredentialFields[]): Promise<void> {
  const { database, close } = openDataFolder(folder)
  const sealer = openSealer(database, folder)
  for (const fields of credentials) await storeCredential({ database, sealer, now: Date.now }, fields)
  close()
}
