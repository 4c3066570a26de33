import { type OutboundAllow, parseOutboundAllow } from './address.ts'
import { guardedFetch } from './guarded.ts'

/** The limit of a request's own body. */
const LIMIT_BYTES = 20 * 1024 * 1024
const TIMEOUT_MS = 20_000

export interface Content {
  status: number
  /** The `content-type` without parameters, in lower case; '' if absent. */
  mediaType: string
  bytes: Uint8Array
}

/** Fetches the content at a caller's URL, guarded. Throws as `guardedFetch` does. */
export const contentFetcher =
  (allow: OutboundAllow) =>
  async (url: string, signal: AbortSignal): Promise<Content> => {
    const reply = await guardedFetch(url, { limitBytes: LIMIT_BYTES, timeoutMs: TIMEOUT_MS, signal, allow })
    const [type = ''] = (reply.headers.get('content-type') ?? '').split(';')
    return { status: reply.status, mediaType: type.trim().toLowerCase(), bytes: reply.body }
  }

interface ProbeOptions {
  /** For the complete reply. Default 500 ms. */
  timeoutMs?: number
  /** Default 1 MB. */
  limitBytes?: number
  signal?: AbortSignal
}

const LOOPBACK: OutboundAllow = parseOutboundAllow(['localhost', '127.0.0.1', '::1'])
const LOOPBACK_URL = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$)/

/**
 * Requests JSON from a server on this machine. Returns null for anything but a 2xx with JSON within the limits, and for
 * other hosts and redirects. Never throws: a server that is not there is no error. `fetch` is not used, because it would
 * call a proxy of the environment.
 */
export async function probeJson(url: string, options: ProbeOptions = {}): Promise<unknown> {
  if (!LOOPBACK_URL.test(url)) return null
  try {
    const reply = await guardedFetch(url, {
      headers: { accept: 'application/json' },
      limitBytes: options.limitBytes ?? 1024 * 1024,
      timeoutMs: options.timeoutMs ?? 500,
      maxRedirects: 0,
      allow: LOOPBACK,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
    if (reply.status < 200 || reply.status > 299) return null
    return JSON.parse(new TextDecoder().decode(reply.body))
  } catch {
    return null
  }
}
