import type { Caller, RequestOrigin } from '../core/caller.ts'
import { GatewayError } from '../core/errors.ts'
import type { Settlement } from '../core/generation.ts'
import type { Measurements } from '../core/measurements.ts'
import type { InferenceRequest } from '../core/request.ts'
import type { ReplyContext, RoutingMetadata } from '../core/result.ts'
import type { Snapshot } from '../core/snapshot.ts'
import type { Ingress } from '../dialects/dialect.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { CallerLeft } from './abort.ts'
import type { DispatchDeps } from './attempts.ts'
import { collect } from './collect.ts'
import { type Dispatched, dispatch } from './dispatch.ts'
import { type Exchange, openExchange } from './exchange.ts'
import { whatToTell } from './failure.ts'
import { plan } from './plan.ts'
import { routingMetadata } from './routing-metadata.ts'
import type { Running } from './running.ts'
import { streamReply } from './stream.ts'
import { TIMED_OUT, type Ticker } from './ticker.ts'

export interface RunDeps extends DispatchDeps {
  ledger: Ledger
  running: Running
  ticker: Ticker
  measurements: Measurements
  /** Told of every settled generation, for the log. */
  onSettled(settlement: Settlement, caller: Caller): void
  /** Told of failures that no caller can be told of any more. */
  onLost(error: unknown, generationId: string): void
}

export interface RunInput {
  snapshot: Snapshot
  caller: Caller
  origin: RequestOrigin
  request: InferenceRequest
  ingress: Ingress
  wantsMetadata: boolean
  /** Aborts when the caller's connection goes away. */
  signal: AbortSignal
  startedAt: number
}

/** Silence that is kept before a stream commits to 200: an earlier failure keeps a status of its own. */
export const SILENCE_MS = 5_000

/** The whole story of one inference: plan, reserve, forward, relay, settle. */
export async function run(input: RunInput, deps: RunDeps): Promise<Response> {
  const { request, snapshot, caller, startedAt } = input
  const planned = plan({
    request,
    caller,
    snapshot,
    now: startedAt,
    blockOf: deps.health.blockOf,
    latencyMs: deps.health.latencyMs,
    measured: deps.measurements.of,
    random: request.sessionId === undefined ? deps.random : sticky(request.sessionId),
  })
  const upstreamAbort = new AbortController()
  const end = deps.running.begin((reason) => upstreamAbort.abort(reason))
  try {
    const exchange = openExchange({ ...input, plan: planned }, deps)
    return request.stream
      ? await runStream(input, deps, exchange, upstreamAbort, end)
      : await runUnary(input, deps, exchange, upstreamAbort, end)
  } catch (error) {
    end()
    if (!(error instanceof GatewayError) || error.routing || !input.wantsMetadata) throw error
    // Refused before anybody was asked.
    throw told(error, {}, routingMetadata(planned, [], null, [], null))
  }
}

async function runUnary(
  { request, ingress, signal }: RunInput,
  deps: RunDeps,
  exchange: Exchange,
  upstreamAbort: AbortController,
  end: () => void,
): Promise<Response> {
  const leave = () => upstreamAbort.abort(new CallerLeft())
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  try {
    const started = await dispatch(request, exchange.attempts, deps, upstreamAbort.signal, exchange.log)
    exchange.dropped = started.dropped
    const result = await collect(started.frames, exchange.meter.see)
    const closing = await exchange.settle('whole')
    const body = ingress.writeReply(result, replyContext(exchange, started, request), closing)
    return new Response(JSON.stringify(body), { headers: jsonHeaders(exchange) })
  } catch (error) {
    throw await failed(error, exchange, upstreamAbort.signal, deps)
  } finally {
    signal.removeEventListener('abort', leave)
    end()
  }
}

async function runStream(
  input: RunInput,
  deps: RunDeps,
  exchange: Exchange,
  upstreamAbort: AbortController,
  end: () => void,
): Promise<Response> {
  const { request, ingress, signal } = input
  const leave = () => upstreamAbort.abort(new CallerLeft())
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  const starting = dispatch(request, exchange.attempts, deps, upstreamAbort.signal, exchange.log)
  let isLate = false
  try {
    isLate = (await deps.ticker.within(starting, SILENCE_MS)) === TIMED_OUT
  } catch (error) {
    signal.removeEventListener('abort', leave)
    throw await failed(error, exchange, upstreamAbort.signal, deps)
  }
  const body = streamReply({
    starting,
    isLate,
    exchange,
    ticker: deps.ticker,
    now: deps.now,
    upstreamAbort,
    callerSignal: signal,
    onLost: (error) => deps.onLost(error, exchange.generationId),
    open: (started) => ({
      writer: ingress.writeStream(replyContext(exchange, started, request)),
      echoed: request.echoUpstreamBody ? exchange.log.sentBodies : [],
    }),
    failureWriter: () => ingress.writeStream(unansweredContext(exchange, request)),
    ended: () => {
      signal.removeEventListener('abort', leave)
      end()
    },
  })
  return new Response(body, { headers: streamHeaders(exchange) })
}

/** Settles a generation that gave no answer, and says what the caller is told. */
async function failed(
  error: unknown,
  exchange: Exchange,
  signal: AbortSignal,
  deps: RunDeps,
): Promise<GatewayError> {
  const hasLeft = signal.reason instanceof CallerLeft
  await exchange
    .settle(hasLeft ? 'left' : 'failed')
    .catch((lost: unknown) => deps.onLost(lost, exchange.generationId))
  const failure = hasLeft
    ? new GatewayError(CLIENT_CLOSED_REQUEST, 'The caller closed the connection', { cause: error })
    : whatToTell(error, signal, exchange.log)
  return told(failure, { 'x-generation-id': exchange.generationId }, exchange.metadata())
}

/** The same failure with what only this exchange knows. */
const told = (
  { status, message, cause, headers, metadata }: GatewayError,
  ownHeaders: Record<string, string>,
  routing: RoutingMetadata | null,
): GatewayError =>
  new GatewayError(status, message, {
    cause,
    headers: { ...headers, ...ownHeaders },
    ...(metadata ? { metadata } : {}),
    routing,
  })

/** nginx's status for a request whose caller is gone: nobody reads it but the log. */
const CLIENT_CLOSED_REQUEST = 499

function replyContext(exchange: Exchange, { attempt }: Dispatched, request: InferenceRequest): ReplyContext {
  return {
    generationId: exchange.generationId,
    created: Math.floor(exchange.startedAt / 1000),
    model: attempt.model.id,
    providerName: attempt.provider.name,
    request,
    hideReasoning: request.reasoning?.exclude === true,
    routing: exchange.metadata,
  }
}

/** For an error event before any endpoint answered: the first choice stands for the model. */
function unansweredContext(exchange: Exchange, request: InferenceRequest): ReplyContext {
  const attempt = exchange.log.current ?? exchange.attempts[0]
  return {
    generationId: exchange.generationId,
    created: Math.floor(exchange.startedAt / 1000),
    model: attempt?.model.id ?? request.models[0] ?? '',
    providerName: attempt?.provider.name ?? '',
    request,
    hideReasoning: false,
    routing: exchange.metadata,
  }
}

const jsonHeaders = ({ generationId }: Exchange): Record<string, string> => ({
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-generation-id': generationId,
})

const streamHeaders = ({ generationId }: Exchange): Record<string, string> => ({
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  'x-generation-id': generationId,
})

/** The same session goes to the same endpoint as long as the choice is the same: caches stay warm. */
function sticky(sessionId: string): () => number {
  let state = Number(BigInt(Bun.hash(sessionId)) & 0xffffffffn)
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
