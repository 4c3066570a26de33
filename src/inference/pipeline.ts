/**
 * The path of every inference request. After a route has read it (`receive.ts`), straight calls:
 *
 *     begin      plan (`plan.ts`), admit (`admission.ts`, `rates.ts`), journal
 *     dispatch   make the plan's attempts in order (`dispatch.ts`, `attempts.ts`), filter the reply's content
 *     meter      count every frame before it is written (`meter.ts`)
 *     settle     commit the row to the ledger before sending the last byte (`settle.ts`)
 *     encode     write the frames in the caller's dialect, in one piece (`conversation/run.ts`) or as a stream
 *
 * One `Generation` is passed through all stages.
 */
import { cancel, newCancellation } from '../core/cancellation.ts'
import { GatewayError } from '../core/errors.ts'
import { retainsNothing } from '../core/guardrail.ts'
import { newGenerationId } from '../core/ids.ts'
import type { RoutedRequest } from '../core/request.ts'
import { freeBody, keepBody } from '../http/body-budget.ts'
import { type Admission, type Admitted, admitFree, type Claiming } from './admission/admit.ts'
import type { TokensNeeded } from './admission/rates.ts'
import { recordFor, recordsContents } from './content-log/record.ts'
import type { Generation, Opening, RunDeps } from './generation.ts'
import { journalEntry } from './journal-entry.ts'
import type { Metering } from './reply/meter.ts'
import { type Lookup, lookUp } from './response-cache/lookup.ts'
import { type Routed, routingMetadata, stagesOf } from './routing/metadata.ts'
import { type Plan, plan } from './routing/plan.ts'
import type { PlanInput } from './routing/plan-input.ts'
import { newTimes, type Times, timingsOf } from './times.ts'
import { CallerDisconnected, ShutdownError } from './upstream/abort.ts'
import { callerClosed, shuttingDown, withRouting } from './upstream/failure.ts'

/** How a request is admitted. */
interface Admitting {
  /** The tokens it needs, for token limits; null: none. */
  readonly tokens: ((attempts: readonly Plan['attempts'][number][]) => TokensNeeded) | null
  admit(attempts: Plan['attempts'], claiming: Claiming): Admitted
}

/** The parts of `begin` that differ between kinds of inference. */
export interface BeginOptions<Kind extends Metering> extends Admitting {
  /** Which dialects support the request; absent: all. */
  readonly refusal?: PlanInput['refusal']
  /** What an endpoint must have; absent: nothing. */
  readonly needs?: PlanInput['needs']
  readonly meter: Kind
}

/** A generation before its admission. */
interface Planned {
  readonly id: string
  readonly plan: Plan
  readonly cached: Lookup | undefined
  readonly cancellation: Generation['cancellation']
  readonly times: Times
}

/**
 * Plans, admits, reserves and journals. Returns a promise only if the request must wait for running reservations to be
 * released. Throws or rejects with the caller's error. `end` must be called once the request no longer runs.
 */
export function begin<Kind extends Metering, Request extends RoutedRequest>(
  opening: Opening<Request>,
  course: BeginOptions<Kind>,
  deps: RunDeps,
): Generation<Kind, Request> | Promise<Generation<Kind, Request>> {
  opening.incoming.model = opening.request.models[0] ?? opening.incoming.model
  const planning = planningOf(opening, course, deps)
  const times = newTimes(opening.incoming.arrivedAt)
  const startedAt = performance.now()
  const cached = opening.cache && deps.cache ? lookUp(opening.cache, deps.cache, planning) : undefined
  const planned: Planned = {
    id: opening.id ?? newGenerationId(),
    plan: cached?.hit?.plan ?? plan(planning),
    cached,
    cancellation: newCancellation(),
    times,
  }
  times.planMs = performance.now() - startedAt
  keepBody(opening.incoming.body)
  try {
    deps.running.begin(planned.cancellation)
    const admitted = admit(planned, opening, cached?.hit ? FROM_CACHE : course, deps)
    if (!(admitted instanceof Promise)) return opened(planned, admitted, opening, course.meter, deps)
    return whileConnected(admitted, opening, planned)
      .then((admission) => opened(planned, admission, opening, course.meter, deps))
      .catch((error: unknown) => {
        throw refused(error, planned, opening, deps)
      })
  } catch (error) {
    throw refused(error, planned, opening, deps)
  }
}

const planningOf = (
  { request, caller, snapshot, startedAt }: Opening,
  { refusal, needs }: Pick<BeginOptions<Metering>, 'refusal' | 'needs'>,
  { health, measurements, conversations, upstream, random }: RunDeps,
): PlanInput => ({
  request,
  caller,
  snapshot,
  now: startedAt,
  cooldownOf: health.cooldownOf,
  measured: measurements.of,
  recent: measurements.recentOf,
  inFlight: upstream.inFlight,
  random,
  answeredBy: conversations.endpointOf,
  refusal,
  needs,
})

/** Cache hits use no tokens and cost nothing. */
const FROM_CACHE: Admitting = { tokens: null, admit: admitFree }

/**
 * Takes rates and budget atomically: there is no `await` between the check of the rates and taking both. A request that
 * waits for budget uses no rates meanwhile.
 */
function admit(
  { id, plan: { attempts }, cancellation }: Planned,
  { caller, snapshot, startedAt }: Opening,
  { tokens, admit: claim }: Admitting,
  { rates, ledger }: RunDeps,
): Admitted {
  const claiming: Claiming = {
    caller,
    ledger,
    generationId: id,
    startedAt,
    cancellation,
  }
  const { key } = caller
  if (key.rateGates === undefined) return claim(attempts, claiming)
  const passFor = (some: Admission['attempts']) =>
    rates.check({ key, snapshot, attempts: some, tokens: tokens && (() => tokens(some)) })
  const pass = passFor(attempts)
  if (pass === null) return claim(attempts, claiming)
  const admitted = claim(pass.attempts, claiming)
  if (!(admitted instanceof Promise)) return { ...admitted, rates: pass.take() }
  return admitted.then((admission) => {
    try {
      const passNow = passFor(admission.attempts)
      return passNow === null
        ? admission
        : { ...admission, attempts: passNow.attempts, rates: passNow.take() }
    } catch (error) {
      ledger.release(admission.hold)
      throw error
    }
  })
}

/** The admission of a request that waits for budget. A client disconnect removes it from the queue. */
async function whileConnected(
  admitted: Promise<Admission>,
  { signal }: Opening,
  { cancellation }: Planned,
): Promise<Admission> {
  const leave = (): void => cancel(cancellation, new CallerDisconnected())
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await admitted
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** Creates the generation with all its fields. A client disconnect cancels it from here on. */
function opened<Kind extends Metering, Request extends RoutedRequest>(
  { id, plan: planned, cached, cancellation, times }: Planned,
  admission: Admission,
  opening: Opening<Request>,
  meter: Kind,
  deps: RunDeps,
): Generation<Kind, Request> {
  const { request, caller, startedAt } = opening
  const journal = journalEntry(id, opening, admission, admission.attempts[0])
  const tries: Generation['tries'] = []
  const generation: Generation<Kind, Request> = {
    id,
    deps,
    opening,
    loop: null,
    request,
    caller,
    startedAt,
    wantsMetadata: opening.wantsMetadata && !cached?.hit,
    plan: planned,
    times,
    admission,
    attempts: admission.attempts,
    cached,
    meter,
    cancellation,
    content: recordsContents(caller.workspace)
      ? recordFor({ caller, request, generationId: id, tries })
      : null,
    journal,
    tries,
    sentBodies: 'echoUpstreamBody' in request && request.echoUpstreamBody === true ? [] : null,
    current: null,
    isSent: false,
    replyStartedAt: null,
    contents: null,
    contextOwner: retainsNothing(caller.key) ? null : caller.workspace.id,
    context: null,
    suspect: null,
    shortened: null,
    refused: null,
    dropped: NONE_DROPPED,
    isCounted: false,
    answered: null,
    onComplete: null,
    settling: null,
  }
  deps.ledger.journal(journal)
  times.admittedAt = performance.now()
  followCaller(generation)
  return generation
}

const NONE_DROPPED: string[] = []

function followCaller({ opening: { signal }, cancellation }: Generation): void {
  // A step of a loop follows the first one, which a shutdown may have cancelled.
  const follow = (): void =>
    cancel(cancellation, signal.reason instanceof ShutdownError ? signal.reason : new CallerDisconnected())
  if (signal.aborted) follow()
  else signal.addEventListener('abort', follow, { once: true })
}

/** Ends a generation: it no longer counts as running, and its body's memory is released. */
export function end({ deps, cancellation, opening }: Generation): void {
  deps.running.end(cancellation)
  freeBody(opening.incoming.body)
}

/** The caller's error for a request that failed before any provider was called. */
function refused(
  error: unknown,
  planned: Planned,
  { request, wantsMetadata, incoming, plugins }: Opening,
  deps: RunDeps,
): unknown {
  deps.running.end(planned.cancellation)
  freeBody(incoming.body)
  if (error instanceof CallerDisconnected) return callerClosed(error)
  if (error instanceof ShutdownError) return shuttingDown(error)
  if (!(error instanceof GatewayError) || error.routing || !wantsMetadata) return error
  const { plan: made, times } = planned
  const routed: Routed = {
    plan: made,
    admitted: made.attempts,
    tries: [],
    answered: null,
    dropped: [],
    outputBound: null,
    pipeline: stagesOf(request.pipeline, plugins?.stages),
    timings: timingsOf(times),
  }
  return withRouting(error, routingMetadata(routed))
}
