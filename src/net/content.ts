import type { OutboundAllow } from './address.ts'
import { guardedFetch } from './guarded.ts'

/** As much as a request's own body may hold. */
const LIMIT_BYTES = 20 * 1024 * 1024
const TIMEOUT_MS = 20_000

export interface Content {
  status: number
  /** The `content-type` without parameters, in lower case; '' where there is none. */
  mediaType: string
  bytes: Uint8Array
}

/** Reads what a caller's address leads to, guarded. Throws as `guardedFetch` does. */
export const contentFetcher =
  (allow: OutboundAllow) =>
  async (url: string, signal: AbortSignal): Promise<Content> => {
    const reply = await guardedFetch(url, { limitBytes: LIMIT_BYTES, timeoutMs: TIMEOUT_MS, signal, allow })
    const [type = ''] = (reply.headers.get('content-type') ?? '').split(';')
    return { status: reply.status, mediaType: type.trim().toLowerCase(), bytes: reply.body }
  }
