import type { LookupAddress } from 'node:dns'
import { lookup as systemLookup } from 'node:dns/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { badRequest, GatewayError, UpstreamError } from '../core/errors.ts'
import { words } from '../core/words.ts'
import {
  checkParsed,
  checkUrl,
  hostOf,
  isReachable,
  NOTHING_ALLOWED,
  type OutboundAllow,
  refusedHost,
} from './address.ts'
import { connectionFailure } from './upstream.ts'

export interface GuardedOptions {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** Sent to the first origin only: a redirect elsewhere goes without them. */
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** The largest body that is read; a function decides by the headers of the reply. */
  limitBytes: number | ((headers: Headers) => number)
  /** For everything together: resolving, redirects, headers and body. */
  timeoutMs: number
  /** GET and HEAD only. Default 5; at 0 a redirect is the reply. */
  maxRedirects?: number
  signal?: AbortSignal
  allow?: OutboundAllow
  /** The place of the URL in the caller's request, for error messages. */
  path?: string
  /** Sees the body as it comes. True ends the reply there: a stream of events may stay open behind the awaited one. */
  until?: (part: Uint8Array) => boolean
  /** All addresses of a name; the system's resolver unless given. */
  resolve?: Resolve
}

export type Resolve = (host: string) => Promise<readonly string[]>

export interface GuardedReply {
  status: number
  headers: Headers
  body: Uint8Array
  /** The URL that answered, after redirects. */
  url: string
}

/** For libraries that expect the reply of `fetch`. */
export const responseOf = (
  { status, body }: GuardedReply,
  headers: Readonly<Record<string, string>>,
): Response => new Response(new Uint8Array(body), { status, headers })

const DEFAULT_MAX_REDIRECTS = 5
const OWN_HEADERS = new Set(
  words('host connection content-length transfer-encoding accept-encoding upgrade te trailer expect'),
)
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * Calls a user's URL. Each hop is checked like the first URL: its name is resolved once, all its addresses must be public
 * (or excepted), and the connection goes to a checked address, so a name that resolves differently a moment later changes
 * nothing. Only GET and HEAD follow redirects; any other answer is the reply, whatever its status.
 *
 * Throws a `GatewayError` 400 for a rejected address, and `UpstreamError`: `connect`, `timeout`, or
 * `malformed` for a body beyond `limitBytes`. An abort is rethrown as its reason.
 */
export async function guardedFetch(target: string, options: GuardedOptions): Promise<GuardedReply> {
  const deadline = AbortSignal.timeout(options.timeoutMs)
  const signal = options.signal === undefined ? deadline : AbortSignal.any([options.signal, deadline])
  try {
    return await follow(checkUrl(target, options.allow, options.path), options, signal)
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason
    if (deadline.aborted)
      throw new UpstreamError('timeout', `no complete reply within ${options.timeoutMs} ms`)
    throw error
  }
}

async function follow(first: URL, options: GuardedOptions, signal: AbortSignal): Promise<GuardedReply> {
  const maxRedirects = options.maxRedirects ?? DEFAULT_MAX_REDIRECTS
  let url = first
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const isFirstOrigin = url.origin === first.origin
    const message = await call(url, isFirstOrigin ? options : { ...options, headers: {} }, signal)
    const next = redirectOf(message, url, options)
    if (next === null) return await read(message, url, options)
    message.destroy()
    checkParsed(next, options.allow ?? NOTHING_ALLOWED, options.path)
    url = next
  }
  throw badRequest(`The URL redirects more than ${maxRedirects} times`, options.path)
}

/** The target of a redirect; null if the reply is the answer. */
function redirectOf(message: IncomingMessage, url: URL, options: GuardedOptions): URL | null {
  const { location } = message.headers
  const follows = options.method === undefined || options.method === 'GET' || options.method === 'HEAD'
  if (!follows || options.maxRedirects === 0) return null
  if (location === undefined || !REDIRECTS.has(message.statusCode ?? 0)) return null
  const next = URL.parse(location, url.href)
  if (next === null) throw badRequest('The URL redirects to something that is not a URL', options.path)
  return next
}

/** Sends one request to a checked address of `url` and waits for the headers. */
async function call(url: URL, options: GuardedOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const addresses = await unlessAborted(reachableAddresses(url, options), signal)
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = send(
    url,
    {
      method: options.method ?? 'GET',
      headers: outgoingHeaders(options),
      // A pooled connection may lead to an address that was checked for another call.
      agent: false,
      lookup: (_host, lookupOptions, done) => {
        const [first] = addresses
        if (first === undefined) done(new Error('no address'), [])
        else if (lookupOptions.all === true) done(null, [...addresses])
        else done(null, first.address, first.family)
      },
      signal,
    },
    resolve,
  )
  request.on('error', reject)
  request.end(options.body)
  try {
    return await unlessAborted(promise, signal)
  } catch (error) {
    request.destroy()
    throw signal.aborted ? signal.reason : connectionFailure(error)
  }
}

/** The caller's headers, without those that frame the message or name its target, which this client sets. */
function outgoingHeaders(options: GuardedOptions): Record<string, string | number> {
  const headers: Record<string, string | number> = { 'user-agent': 'sluice' }
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    const lowerCase = name.toLowerCase()
    if (!OWN_HEADERS.has(lowerCase)) headers[lowerCase] = value
  }
  headers['accept-encoding'] = 'identity'
  if (options.body !== undefined) headers['content-length'] = Buffer.byteLength(options.body)
  return headers
}

/** The current addresses of the host, in order; all of them must be allowed. */
async function reachableAddresses(url: URL, options: GuardedOptions): Promise<readonly LookupAddress[]> {
  const host = hostOf(url)
  const addresses = isIP(host) === 0 ? await resolveHost(host, options.resolve ?? systemResolve) : [host]
  if (addresses.length === 0) {
    throw new UpstreamError('connect', 'the host name does not resolve', { code: 'ENOTFOUND' })
  }
  const allow = options.allow ?? NOTHING_ALLOWED
  const isAllowed = allow.hosts.has(host) || addresses.every((address) => isReachable(address, allow))
  if (!isAllowed) throw refusedHost(options.path)
  return addresses.map((address) => ({ address, family: isIP(address) }))
}

async function resolveHost(host: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(host)
  } catch (error) {
    throw error instanceof GatewayError ? error : connectionFailure(error)
  }
}

const systemResolve: Resolve = async (host) =>
  (await systemLookup(host, { all: true })).map(({ address }) => address)

async function read(
  message: IncomingMessage,
  url: URL,
  { limitBytes, until }: GuardedOptions,
): Promise<GuardedReply> {
  const parts: Uint8Array[] = []
  const headers = headersOf(message)
  let size = 0
  let isEnough = false
  try {
    if (isCompressed(message))
      throw new UpstreamError('malformed', 'the reply is compressed, although the request did not allow it')
    const limit = typeof limitBytes === 'number' ? limitBytes : limitBytes(headers)
    if (Number(message.headers['content-length']) > limit) throw tooLarge(limit)
    for await (const part of message) {
      if (!(part instanceof Uint8Array)) continue
      size += part.byteLength
      if (size > limit) throw tooLarge(limit)
      parts.push(part)
      isEnough = until?.(part) === true
      if (isEnough) break
    }
    if (!isEnough && !message.complete)
      throw new UpstreamError('connect', 'the reply broke off', { code: 'ECONNRESET' })
  } catch (error) {
    throw error instanceof GatewayError ? error : connectionFailure(error)
  } finally {
    message.destroy()
  }
  return {
    status: message.statusCode ?? 0,
    headers,
    body: Buffer.concat(parts, size),
    url: url.href,
  }
}

/** Decompression could turn a small body into a large one; the request asked for `identity`. */
function isCompressed(message: IncomingMessage): boolean {
  const encoding = message.headers['content-encoding']
  return encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity'
}

function headersOf(message: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  return headers
}

const tooLarge = (limitBytes: number): UpstreamError =>
  new UpstreamError('malformed', `the reply is larger than ${limitBytes} bytes`)

/** Rejects with the reason as soon as the signal aborts, even while a resolver does not answer. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason)
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort))
}
