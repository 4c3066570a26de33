import type { DocumentReader } from '../../core/document-reader.ts'
import { UpstreamError } from '../../core/errors.ts'
import type { FetchedPage, FetchOptions } from '../../core/web-access.ts'
import type { OutboundAllow } from '../../net/address.ts'
import { type GuardedOptions, type GuardedReply, guardedFetch, type Resolve } from '../../net/guarded.ts'
import { type Pool, TaskTimeout } from '../../threads/pool.ts'
import { isPermitted } from '../domains.ts'
import { unread } from './failure.ts'
import { type CheckRobots, createRobotsCheck } from './robots-check.ts'
import type { PageTask } from './worker.ts'

/** The largest page that is read, and the largest PDF. */
const LIMIT_BYTES = 4 * 1024 * 1024
const PDF_BYTES = 20 * 1024 * 1024
const TIMEOUT_MS = 20_000
const MOST_REDIRECTS = 5
/** At the same time, for all requests: each holds up to twice its size. */
const MOST_PAGES = 64
const MOST_PDFS = 4
const ACCEPT = 'text/markdown,text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5'

/** What a worker answers. */
export type ReadPage = Omit<FetchedPage, 'url'>

export interface Fetcher {
  /** Throws a `GatewayError` whose message says why a page could not be read. */
  read(url: string, options: FetchOptions, signal: AbortSignal): Promise<FetchedPage>
  close(): void
}

export interface FetcherOptions {
  readonly allow: OutboundAllow
  readonly resolve?: Resolve | undefined
  readonly obeysRobots: boolean
  readonly pool: Pool<PageTask, ReadPage>
  readonly documents: DocumentReader
  now(): number
  /** For a page, redirects included. Default 20 s. */
  readonly timeoutMs?: number
}

export function createFetcher(options: FetcherOptions): Fetcher {
  const checkRobots = options.obeysRobots ? createRobotsCheck(options.now) : null
  let reading = 0
  let pdfs = 0
  return {
    async read(address, wanted, signal) {
      if (reading >= MOST_PAGES) throw unread(BUSY)
      reading += 1
      let own = 0
      const limitBytes = (headers: Headers): number => {
        if (!isPdf(headers)) return LIMIT_BYTES
        if (pdfs >= MOST_PDFS) throw unread(BUSY)
        pdfs += 1
        own += 1
        return PDF_BYTES
      }
      try {
        return await pageOf(address, wanted, signal, { ...options, checkRobots, limitBytes })
      } finally {
        reading -= 1
        pdfs -= own
      }
    },
    close: options.pool.close,
  }
}

const BUSY = 'this gateway reads too many pages now. Try again later'

interface Reading extends FetcherOptions {
  readonly checkRobots: CheckRobots | null
  limitBytes(headers: Headers): number
}

async function pageOf(
  address: string,
  wanted: FetchOptions,
  signal: AbortSignal,
  options: Reading,
): Promise<FetchedPage> {
  const { reply, url } = await follow(address, wanted, signal, options)
  if (reply.status < 200 || reply.status > 299) throw unread(`${hostOfUrl(url)} answered ${reply.status}`)
  if (isPdf(reply.headers) || startsPdf(reply.body)) return readPdf(reply, url, wanted, signal, options)
  const contentType = reply.headers.get('content-type') ?? ''
  const isHtml = kindOf(contentType, reply.body)
  const task: PageTask = {
    bytes: new Uint8Array(reply.body),
    contentType,
    url: url.href,
    isHtml,
    mostCharacters: wanted.mostCharacters,
  }
  try {
    return { url: url.href, ...(await options.pool.run(task, signal)) }
  } catch (error) {
    if (error instanceof TaskTimeout) throw unread('the page takes too long to read', error)
    throw error
  }
}

async function readPdf(
  { body }: GuardedReply,
  { href, pathname }: URL,
  { mostCharacters }: FetchOptions,
  signal: AbortSignal,
  { documents }: Reading,
): Promise<FetchedPage> {
  const name = pathname.slice(pathname.lastIndexOf('/') + 1)
  const document = { name, mediaType: PDF_TYPE, bytes: new Uint8Array(body) }
  const { text, isCut } = await documents.read(document, signal)
  return {
    url: href,
    title: name,
    text: text.slice(0, mostCharacters),
    isCut: isCut || text.length > mostCharacters,
  }
}

/** Each hop is checked like the first address: by the guard, the domains and the site's robots.txt. */
async function follow(
  address: string,
  { allowedDomains, blockedDomains }: FetchOptions,
  signal: AbortSignal,
  { allow, resolve, timeoutMs = TIMEOUT_MS, checkRobots, limitBytes }: Reading,
): Promise<{ reply: GuardedReply; url: URL }> {
  const deadline = performance.now() + timeoutMs
  const leftMs = (): number => Math.max(1, Math.ceil(deadline - performance.now()))
  const guard = { allow, signal, limitBytes, ...(resolve === undefined ? {} : { resolve }) }
  let url = parsed(address)
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    if (!isPermitted(url, allowedDomains, blockedDomains))
      throw unread(`${url.hostname} is not among the domains that may be fetched`)
    const reply = await callPage(url, { ...guard, timeoutMs: leftMs() }, checkRobots)
    const target = reply.headers.get('location')
    if (reply.status < 300 || reply.status > 399 || target === null) return { reply, url }
    url = parsed(target, url)
  }
  throw unread(`the address redirects more than ${MOST_REDIRECTS} times`)
}

function parsed(address: string, base?: URL): URL {
  const url = URL.parse(address, base)
  if (url === null) throw unread('the address is not a URL such as https://example.com/page')
  url.hash = ''
  return url
}

async function callPage(
  url: URL,
  guard: Pick<GuardedOptions, 'allow' | 'resolve' | 'signal' | 'timeoutMs' | 'limitBytes'>,
  checkRobots: CheckRobots | null,
): Promise<GuardedReply> {
  try {
    await checkRobots?.(url, guard)
    return await guardedFetch(url.href, {
      ...guard,
      headers: { accept: ACCEPT },
      maxRedirects: 0,
    })
  } catch (error) {
    if (error instanceof UpstreamError) throw unread(`${hostOfUrl(url)}: ${error.reason}`, error)
    throw error
  }
}

const hostOfUrl = ({ host }: URL): string => host.slice(0, 200)

const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/
const TEXT = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|javascript)\b)/
const PDF_TYPE = 'application/pdf'
const isPdf = (headers: Headers): boolean =>
  headers.get('content-type')?.trim().toLowerCase().startsWith(PDF_TYPE) === true
const startsPdf = (body: Uint8Array): boolean =>
  new TextDecoder('latin1').decode(body.subarray(0, 5)) === '%PDF-'

/** True for HTML, false for other text. Throws for what is not text. */
function kindOf(contentType: string, body: Uint8Array): boolean {
  const type = contentType.trim().toLowerCase()
  const beginning = new TextDecoder('latin1').decode(body.subarray(0, 512))
  if (HTML.test(type)) return true
  const isUntyped = type === '' || type.startsWith('application/octet-stream')
  if (isUntyped && /<(?:!doctype html|html)/i.test(beginning)) return true
  if (TEXT.test(type) || (isUntyped && !beginning.includes('\0'))) return false
  throw unread(`it is ${type.split(';', 1)[0]?.slice(0, 100) || 'not text'}, not text`)
}
