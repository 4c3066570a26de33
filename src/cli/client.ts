import { webAddress } from '../config/readers.ts'
import type { Environment } from '../config.ts'
import { settings } from '../config.ts'
import { CommandError, EXIT, type ExitCode } from './terminal.ts'

const TIMEOUT_MS = 15_000

export interface Client {
  /** The server's address, without the API's path. */
  readonly root: string
  /** `path` is below /api/v1. Throws a `CommandError` with the server's message. */
  call(
    method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    timeoutMs?: number,
  ): Promise<unknown>
  /** `path` is below the root; the reply with any status, null if the server cannot be reached. */
  probe(path: string, timeoutMs: number): Promise<Response | null>
}

/** A client of the server at SLUICE_URL with the key in SLUICE_KEY. */
export function openClient(environment: Environment): Client {
  const root = rootAddress(environment['SLUICE_URL'] || `http://127.0.0.1:${settings.port.fallback}`)
  const key = environment['SLUICE_KEY']
  return {
    root,
    async call(method, path, body, timeoutMs = TIMEOUT_MS) {
      if (!key) {
        throw new CommandError(
          EXIT.auth,
          'SLUICE_KEY is not set: put a management key there (not on the command line)',
        )
      }
      const response = await reach(root, `${root}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
      const text = await response.text()
      if (response.ok) return parse(text, root)
      throw new CommandError(exitCodeOf(response.status), sentenceOf(text, response, root))
    },
    async probe(path, timeoutMs) {
      return fetch(`${root}${path}`, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) }).catch(
        () => null,
      )
    },
  }
}

/** Both `https://host/base` and the API's own address are understood. */
function rootAddress(address: string): string {
  try {
    return webAddress(address).replace(/(\/api)?\/v1$/, '')
  } catch (error) {
    throw new CommandError(EXIT.usage, `SLUICE_URL ${error instanceof Error ? error.message : error}`)
  }
}

async function reach(root: string, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    const why = isLate ? `did not answer in time` : 'cannot be reached'
    throw new CommandError(
      EXIT.unreachable,
      `Sluice at ${root} ${why}. Is it running (sluice serve)? SLUICE_URL sets its address`,
    )
  }
}

/** The text of a document that the operator named. Throws a `CommandError`. */
export async function download(url: string, timeoutMs: number): Promise<string> {
  let response: Response
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
  } catch {
    throw new CommandError(EXIT.unreachable, `${url} cannot be reached`)
  }
  if (!response.ok) throw new CommandError(EXIT.failed, `${url} answers with HTTP ${response.status}`)
  return response.text()
}

function parse(text: string, root: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandError(EXIT.unreachable, `What answers at ${root} is not a Sluice: set SLUICE_URL`)
  }
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.auth
  if (status === 404) return EXIT.notFound
  return status >= 300 && status < 400 ? EXIT.unreachable : EXIT.failed
}

function sentenceOf(text: string, response: Response, root: string): string {
  const target = response.headers.get('location')
  if (target !== null)
    return `Sluice at ${root} answers with a redirect to ${target}: set SLUICE_URL to where it is`
  const body = parseOrNull(text)
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {}
  const message = typeof error['message'] === 'string' ? error['message'] : 'no reason was given'
  return `${message} (HTTP ${response.status} from ${root})`
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
