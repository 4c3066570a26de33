import type { Attempt } from '../core/attempt.ts'
import type { Caller, RequestOrigin } from '../core/caller.ts'
import type { Carrier } from '../core/carrier.ts'
import { GatewayError, unavailable } from '../core/errors.ts'
import type { Settlement } from '../core/generation.ts'
import type { ContentLog } from '../core/generation-content.ts'
import { newGenerationId } from '../core/ids.ts'
import type { Measurements } from '../core/measurements.ts'
import type { RoutedRequest } from '../core/request.ts'
import type { RoutingMetadata } from '../core/result.ts'
import type { Snapshot } from '../core/snapshot.ts'
import { freeBody, keepBody } from '../http/body-budget.ts'
import type { Incoming } from '../http/incoming.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { CallerLeft, ShutdownError } from './abort.ts'
import { type Admission, type Admitted, admitFree, type Claiming } from './admission.ts'
import type { DispatchDeps } from './attempts.ts'
import type { CacheAsked } from './cache/asked.ts'
import { lookUp } from './cache/lookup.ts'
import type { ResponseCache } from './cache/store.ts'
import { type Exchange, openExchange } from './exchange.ts'
import { isTold, whatToTell } from './failure.ts'
import type { Metering } from './meter.ts'
import { type Plan, type PlanInput, plan } from './plan.ts'
import type { Rates, TokensNeeded } from './rates.ts'
import { routingMetadata } from './routing-metadata.ts'
import type { Running } from './running.ts'
import { drawsOf } from './stickiness.ts'
import type { Ticker } from './ticker.ts'

export interface RunDeps extends DispatchDeps {
  ledger: Ledger
  rates: Rates
  running: Running
  ticker: Ticker
  measurements: Measurements
  /** Where contents go that a workspace logs. */
  contents: Pick<ContentLog, 'add'>
  /** Seals what clients of a workspace carry from one request to the next. */
  carrierOf(workspaceId: string): Carrier
  /** Null: no answer is kept, whoever asks for it. */
  cache: ResponseCache | null
  /** Told of every settled generation, also of one that nobody answered: for the log and the measurements. */
  onSettled(settlement: Settlement, caller: Caller, incoming: Incoming): void
  /** Told of failures that no caller can be told of any more. */
  onLost(error: unknown, generationId: string): void
}

/** What every inference begins with, whatever is asked. */
export interface Opening<Request extends RoutedRequest> {
  snapshot: Snapshot
  caller: Caller
  /** Its body's share of the memory of bodies in flight is kept while it runs. */
  incoming: Incoming
  origin: RequestOrigin
  request: Request
  wantsMetadata: boolean
  /** Absent: no answer is kept or given again. */
  cache?: CacheAsked | undefined
  /** Aborts when the caller's connection goes away. */
  signal: AbortSignal
  startedAt: number
}

/** How a request is let in. */
interface Admitting {
  /** What it will use, for limits on tokens; null: none. */
  readonly tokens: ((attempts: readonly Attempt[]) => TokensNeeded) | null
  admit(attempts: Attempt[], claiming: Claiming): Admitted
}

/** What one kind of inference is made of. */
export interface Course<Kind extends Metering> extends Admitting {
  /** Which dialects can carry the request; absent: all. */
  refusal?: PlanInput['refusal']
  meter: Kind
  /** Runs from the first try to the settlement. `end` is called once, when nothing of it runs any more. */
  answer(exchange: Exchange<Kind>, upstreamAbort: AbortController, end: () => void): Promise<Response>
}

/** Plans, counts the request in, reserves, and lets it run. */
export async function withExchange<Kind extends Metering>(
  input: Opening<RoutedRequest>,
  deps: RunDeps,
  course: Course<Kind>,
): Promise<Response> {
  const { request, snapshot, caller, startedAt } = input
  const planning: PlanInput = {
    request,
    caller,
    snapshot,
    now: startedAt,
    blockOf: deps.health.blockOf,
    latencyMs: deps.health.latencyMs,
    measured: deps.measurements.of,
    random: drawsOf(request, deps.random),
    ...(course.refusal ? { refusal: course.refusal } : {}),
  }
  const cached = input.cache && deps.cache ? lookUp(input.cache, deps.cache, planning) : undefined
  const hit = cached?.hit
  const planned = hit?.plan ?? plan(planning)
  const upstreamAbort = new AbortController()
  const endRun = deps.running.begin((reason) => upstreamAbort.abort(reason))
  const { body } = input.incoming
  keepBody(body)
  const end = () => {
    endRun()
    freeBody(body)
  }
  try {
    const generationId = newGenerationId()
    const admitted = admitOnce(planned, input, deps, hit ? givingAgain : course, {
      caller,
      ledger: deps.ledger,
      generationId,
      startedAt,
      signal: upstreamAbort.signal,
    })
    const admission =
      admitted instanceof Promise ? await waited(admitted, input.signal, upstreamAbort) : admitted
    const wantsMetadata = input.wantsMetadata && !hit
    const exchange = openExchange(
      { ...input, plan: planned, meter: course.meter, generationId, admission, cached, wantsMetadata },
      deps,
    )
    return await course.answer(exchange, upstreamAbort, end)
  } catch (error) {
    end()
    if (!(error instanceof GatewayError) || error.routing || !input.wantsMetadata) throw error
    // Refused before anybody was asked.
    throw told(error, {}, routingMetadata(planned, [], null, [], null, request.pipeline))
  }
}

/**
 * Rates and money at once, or neither: nothing awaits between the look at the rates and the taking of both. A request
 * that waits for money holds nothing of the rates meanwhile.
 */
function admitOnce(
  { attempts }: Plan,
  { caller: { key }, snapshot }: Opening<RoutedRequest>,
  { rates }: RunDeps,
  { tokens, admit }: Admitting,
  claiming: Claiming,
): Admitted {
  const passFor = (some: readonly Attempt[]) =>
    rates.check({ key, snapshot, attempts: some, tokens: tokens && (() => tokens(some)) })
  const pass = passFor(attempts)
  if (pass === null) return admit(attempts, claiming)
  const admitted = admit(pass.attempts, claiming)
  if (!(admitted instanceof Promise)) return { ...admitted, rates: pass.take() }
  return admitted.then((admission) => {
    try {
      const passNow = passFor(admission.attempts)
      return passNow === null
        ? admission
        : { ...admission, attempts: passNow.attempts, rates: passNow.take() }
    } catch (error) {
      claiming.ledger.release(admission.hold)
      throw error
    }
  })
}

/** The admission of a request that waits for money. A caller that disconnects gives up its place. */
async function waited(
  admitted: Promise<Admission>,
  callerSignal: AbortSignal,
  upstreamAbort: AbortController,
): Promise<Admission> {
  const leave = () => upstreamAbort.abort(new CallerLeft())
  if (callerSignal.aborted) leave()
  callerSignal.addEventListener('abort', leave, { once: true })
  try {
    return await admitted
  } catch (error) {
    if (error instanceof CallerLeft) throw callerClosed(error)
    if (error instanceof ShutdownError)
      throw unavailable('The gateway is shutting down', SHUTDOWN_RETRY_SECONDS)
    throw error
  } finally {
    callerSignal.removeEventListener('abort', leave)
  }
}

/** Long enough for a replacement process to start. */
const SHUTDOWN_RETRY_SECONDS = 5

/** An answer that is there already is a request without tokens, and free. */
const givingAgain: Admitting = { tokens: null, admit: admitFree }

/** Settles a generation that gave no answer, and says what the caller is told. */
export async function failed(
  error: unknown,
  exchange: Exchange<Metering>,
  signal: AbortSignal,
  deps: RunDeps,
): Promise<GatewayError> {
  const hasLeft = signal.reason instanceof CallerLeft
  exchange.content?.fail(whatToTell(error, signal, exchange.log))
  await exchange
    .settle(hasLeft ? 'left' : 'failed')
    .catch((lost: unknown) => isTold(lost, error) || deps.onLost(lost, exchange.generationId))
  const failure = hasLeft ? callerClosed(error) : whatToTell(error, signal, exchange.log)
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

const callerClosed = (cause: unknown): GatewayError =>
  new GatewayError(CLIENT_CLOSED_REQUEST, 'The caller closed the connection', { cause })

export const jsonHeaders = ({ generationId, cached }: Exchange<Metering>): Record<string, string> => ({
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-generation-id': generationId,
  ...cached?.headers,
})
