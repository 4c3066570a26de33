import type { UpstreamCall } from '../core/attempt.ts'
import { UpstreamError } from '../core/errors.ts'
import { replyOf } from './body.ts'
import { createBulkhead, createClocks } from './clocks.ts'
import { cut, type Exchange, openExchange } from './exchange.ts'
import { connectionFailure, type SendOptions, type Upstream } from './upstream.ts'

export interface UpstreamOptions {
  /** Bound on open calls of all groups; default: none. The process's `fetch` cap must be above it. */
  maxInFlight?: number
  /** A monotonic clock, in milliseconds. */
  now?: () => number
}

const HTTP_URL = /^https?:\/\//i

/**
 * The client of all providers. One `fetch` per `send` and never a retry: a request may have been billed.
 * Throws `UpstreamError` of kind `capacity` (no place), `connect` (no answer, or a redirect, which is never followed: it
 * would send the credential to another host) or `timeout`; a caller's abort is rethrown as its reason. Replies are
 * requested uncompressed, so that events arrive as they were written; a compressed one is read as well.
 */
export function createUpstream(options: UpstreamOptions = {}): Upstream {
  const bulkhead = createBulkhead(options.maxInFlight ?? Number.POSITIVE_INFINITY)
  const clocks = createClocks(options.now ?? (() => performance.now()))
  let isClosed = false
  return {
    async send(call, sendOptions) {
      if (isClosed) throw new UpstreamError('connect', 'the gateway is stopping')
      if (!HTTP_URL.test(call.url)) throw new UpstreamError('connect', 'the URL is neither http nor https')
      const exchange = openExchange(bulkhead, clocks, sendOptions)
      try {
        const response = await answerOf(call, exchange, sendOptions.answer)
        if (response.status >= 300 && response.status < 400) throw redirected(response.status)
        return replyOf(exchange, response, sendOptions.answer === undefined)
      } catch (error) {
        const failure = exchange.failure ?? { error: connectionFailure(error) }
        cut(exchange, failure.error)
        throw failure.error
      }
    },
    inFlight: bulkhead.inFlight,
    inFlightByEndpoint: bulkhead.byEndpoint,
    close() {
      isClosed = true
      clocks.close()
    },
  }
}

function answerOf(call: UpstreamCall, exchange: Exchange, answer: SendOptions['answer']): Promise<Response> {
  if (answer !== undefined) return unlessCut(exchange, answer(call, exchange.controller.signal))
  return fetch(call.url, {
    method: call.method,
    headers: { 'user-agent': 'sluice', ...call.headers, 'accept-encoding': 'identity' },
    body: call.body,
    redirect: 'manual',
    // `plainBody` decompresses with a bound.
    decompress: false,
    signal: exchange.controller.signal,
    // The exchange's clocks apply; Bun's would end a silent call after five minutes.
    timeout: false,
  })
}

/** A built-in provider may ignore the signal: the call still ends, and a late reply is dropped. */
function unlessCut(exchange: Exchange, answer: Promise<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { signal } = exchange.controller
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    answer.then((response) => {
      if (exchange.isOpen) resolve(response)
      else response.body?.cancel().catch(() => undefined)
    }, reject)
  })
}

const redirected = (status: number): UpstreamError =>
  new UpstreamError('connect', 'the provider answered with a redirect, which is not followed', { status })
