import { badRequest, GatewayError, UpstreamError } from '../../core/errors.ts'
import { parseObject } from '../../core/json.ts'
import { added, amountOf, roundedNanoUsd } from '../../core/money.ts'
import type { SearchResult } from '../../core/web-access.ts'
import { type GuardedReply, guardedFetch, type Resolve } from '../../net/guarded.ts'
import { isPermitted } from '../domains.ts'
import type { EnginePrice, SearchOptions } from './engine.ts'
import type { ChosenEngine } from './engines.ts'

const TIMEOUT_MS = 20_000
/** Parsed on the thread of all requests: this many bytes take under 20 ms. */
const LIMIT_BYTES = 2 * 1024 * 1024
const LONGEST_URL = 2_000
const LONGEST_TITLE = 300
const INCLUDED_RESULTS = 10
const RETRY_AFTER_SECONDS = 10

export interface SearchContext {
  readonly signal: AbortSignal
  readonly resolve?: Resolve | undefined
  /** Default 20 s. */
  readonly timeoutMs?: number
}

interface Answered {
  readonly results: readonly SearchResult[]
  /** Results for which the engine charges: also those that our filter removed. */
  readonly counted: number
}

/** Throws a 400 for options that the engine does not have. `path` is the place of the options in the request. */
export function checkSearch({ engine }: ChosenEngine, options: SearchOptions, path: string): void {
  const { title, mostResults, modes = [] } = engine
  if (options.maxResults > mostResults) {
    throw badRequest(
      `must be a whole number from 1 to ${mostResults} with the engine ${title}, not ${options.maxResults}`,
      `${path}.max_results`,
    )
  }
  if (options.mode === undefined || modes.includes(options.mode)) return
  throw badRequest(
    modes.length === 0
      ? `is not available with the engine ${title}: leave it out`
      : `must be one of ${modes.join(', ')} with the engine ${title}`,
    `${path}.mode`,
  )
}

/** The charge of one search with this many results. */
export const searchCost = ({ search, further }: EnginePrice, results: number): number =>
  roundedNanoUsd(added(amountOf(1, search), amountOf(Math.max(0, results - INCLUDED_RESULTS), further)))

/**
 * Asks one engine once. Results are web addresses that the domains permit, in the engine's order, with texts of plain
 * characters. Throws a `GatewayError` that names the engine: 502 for an invalid answer, 503 for a rate limit or no
 * answer.
 */
export async function search(
  chosen: ChosenEngine,
  query: string,
  options: SearchOptions,
  context: SearchContext,
): Promise<Answered> {
  const { engine } = chosen
  const reply = await send(chosen, query, options, context)
  if (reply.status < 200 || reply.status > 299) throw refusedBy(chosen, reply)
  const answer = parseObject(new TextDecoder().decode(reply.body))
  if (answer === undefined) throw failed(chosen, 502, 'gave an answer that is not JSON', reply)
  const read = engine.read(answer).slice(0, options.maxResults)
  const results: SearchResult[] = []
  for (const { url, title, text, ...rest } of read) {
    const parsed = url.length > LONGEST_URL ? null : URL.parse(url)
    if (parsed === null || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) continue
    if (!isPermitted(parsed, options.includeDomains, options.excludeDomains)) continue
    results.push({
      ...rest,
      url,
      title: plain(title, LONGEST_TITLE) || parsed.hostname,
      text: plain(text, options.maxCharacters),
    })
  }
  return { results, counted: read.length }
}

async function send(
  chosen: ChosenEngine,
  query: string,
  options: SearchOptions,
  { signal, resolve, timeoutMs = TIMEOUT_MS }: SearchContext,
): Promise<GuardedReply> {
  const { engine, access } = chosen
  const { path, headers, body } = engine.call(query.slice(0, engine.longestQuery), options, access.key)
  try {
    return await guardedFetch(`${access.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      limitBytes: LIMIT_BYTES,
      timeoutMs,
      // The key would go to another address.
      maxRedirects: 0,
      allow: access.allow,
      signal,
      ...(resolve === undefined ? {} : { resolve }),
    })
  } catch (error) {
    if (signal.aborted) throw error
    if (error instanceof UpstreamError) {
      const isBad = error.kind === 'malformed'
      throw failed(
        chosen,
        isBad ? 502 : 503,
        isBad ? `gave a bad answer: ${error.reason}` : `failed: ${error.reason}`,
        error,
      )
    }
    throw failed(chosen, 503, 'cannot be called: its address is not allowed', error)
  }
}

function refusedBy(chosen: ChosenEngine, reply: GuardedReply): GatewayError {
  const { status } = reply
  if (status === 429) return failed(chosen, 503, 'answered 429: its rate limit is reached', reply)
  if (status === 401 || status === 403) {
    return failed(
      chosen,
      502,
      `answered ${status}: the operator should check ${chosen.engine.setting}`,
      reply,
    )
  }
  return failed(chosen, status >= 500 ? 503 : 502, `answered ${status}`, reply)
}

/** The engine's own words are for the log: they may name the operator's account. */
function failed(
  { engine: { title } }: ChosenEngine,
  status: 502 | 503,
  what: string,
  cause: GuardedReply | unknown,
): GatewayError {
  return new GatewayError(status, `The search engine ${title} ${what}`, {
    cause: isReply(cause) ? new Error(beginningOf(cause)) : cause,
    metadata: { error_type: status === 503 ? 'provider_overloaded' : 'provider_unavailable' },
    ...(status === 503 ? { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } } : {}),
  })
}

const isReply = (cause: unknown): cause is GuardedReply =>
  typeof cause === 'object' && cause !== null && 'body' in cause && cause.body instanceof Uint8Array

const SHOWN_BYTES = 500
const beginningOf = ({ status, body }: GuardedReply): string =>
  `${status}: ${new TextDecoder().decode(body.subarray(0, SHOWN_BYTES))}`

/** Without control characters but line ends and tabs, and without half a character at the end. */
const plain = (text: string, most: number): string =>
  text
    .slice(0, most)
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '')
    .toWellFormed()
    .trim()
