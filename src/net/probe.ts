import { type OutboundAllow, parseOutboundAllow } from './address.ts'
import { guardedFetch } from './guarded.ts'

export interface ProbeOptions {
  /** For the whole reply. Default 500 ms. */
  timeoutMs?: number
  /** Default 1 MB. */
  limitBytes?: number
  signal?: AbortSignal
}

const LOOPBACK: OutboundAllow = parseOutboundAllow(['localhost', '127.0.0.1', '::1'])
const LOOPBACK_URL = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$)/

/**
 * Asks a server on this machine for JSON. Null for anything but a 2xx with JSON in time and in size (and for a
 * URL that leads elsewhere, redirects included): a probe that finds nothing is no error, so it never throws.
 * Not by `fetch`, which would ask a proxy of the environment instead.
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
