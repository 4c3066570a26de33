import type { Attempt, UpstreamCall } from '../../core/attempt.ts'
import { type Cancellation, signalOf } from '../../core/cancellation.ts'
import type { UpstreamError } from '../../core/errors.ts'
import type { Timeouts } from '../../core/provider.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import { turnAfterLong } from '../../core/turn.ts'
import type { DialectCall } from '../../dialects/dialect.ts'
import { providers } from '../../providers/index.ts'
import type { Generation, RunDeps } from '../generation.ts'
import { journalAttempt } from '../journal-entry.ts'
import { accountOf, isShut, shutSince } from '../routing/plan.ts'
import { upstreamTrace } from '../trace-headers.ts'
import {
  asUpstreamError,
  mayFailOver,
  mayTryAgain,
  mostUseful,
  outcomeOf,
  publicError,
  type Refusal,
} from './failure.ts'
import { hedgeMsOf, raced } from './hedge.ts'

/** Builds calls for one kind of request, and reads their replies until fail-over is no longer possible. */
export interface CallCodec<Answer, Run extends Generation> {
  build(attempt: Attempt, generation: Run): DialectCall | Promise<DialectCall>
  /** Reads a 2xx reply. Throws an `UpstreamError` if it contains no valid answer. */
  read(
    reply: UpstreamReply,
    attempt: Attempt,
    generation: Run,
  ): Promise<{ answer: Answer; upstreamId: string | null }>
  readError(attempt: Attempt, status: number, headers: Headers, text: string, generation: Run): UpstreamError
  /** A second endpoint may be called beside a slow one. */
  readonly mayHedge?: true
  /** True if `build` will build a different call after this error, so that the endpoint is called again. */
  mayBuildAgain?(error: UpstreamError, generation: Run, built: DialectCall): boolean
}

export interface Answered<Answer> {
  attempt: Attempt
  answer: Answer
  /** The caller's parameters that could not be sent to this endpoint. */
  dropped: string[]
}

/** Per account at an endpoint: the gateway's, and each BYOK key. */
const TRIES_PER_ENDPOINT = 2
const OWN_WAITING_MS = 5_000
const RETRY_AFTER_WAIT_MS = 2_000
const BACKOFF_MS = 250
/** Repeated calls in which something rejected was changed: the dialect, then each optional part. */
const MOST_BUILT_AGAIN = 3

/**
 * Makes the attempts of a generation in order until one succeeds. Throws a `GatewayError` if none does, or if a provider
 * rejects the request as invalid; rethrows the reason of a cancellation.
 */
export async function tryAttempts<Answer, Run extends Generation>(
  codec: CallCodec<Answer, Run>,
  generation: Run,
): Promise<Answered<Answer>> {
  const { deps, cancellation, tries, plan } = generation
  const { health, retries } = deps
  const queue = [...generation.attempts]
  let triesOf: Map<string, number> | null = null
  let waitedMs = 0
  let repeated: Attempt | null = null
  const refusals: Refusal[] = []
  const failed = (
    attempt: Attempt,
    error: UpstreamError,
    began: number,
    outcome: Refusal['outcome'],
  ): void => {
    health.failed(attempt, error, began)
    refusals.push({ error, attempt, outcome })
  }
  retries.countRequest()
  for (let attempt = queue.shift(); attempt; attempt = queue.shift()) {
    const account = accountOf(attempt)
    const count: number = (triesOf?.get(account) ?? 0) + 1
    if (count > TRIES_PER_ENDPOINT) continue
    if (attempt !== repeated && isShut(attempt, plan, health.cooldownOf)) continue
    if (refusals.length > 0 && isRetry(refusals) && !health.isWell(attempt) && !retries.take()) break
    const began = health.trying(attempt)
    try {
      if (codec.mayHedge !== true || queue.length === 0 || hedgeMsOf(generation.request, deps) === 0)
        return await tryOne(codec, attempt, generation)
      return await raced(
        { attempt, generation, queue, failed, run: (at, leg: Run) => tryOne(codec, at, leg) },
        began,
      )
    } catch (caught) {
      const error = asUpstreamError(caught)
      if (!error || cancellation.reason !== null) throw caught
      failed(attempt, error, began, tries.at(-1))
      if (!mayFailOver(error)) break
      const pauseMs = pauseBefore(error, queue.length === 0, count, waitedMs, deps.random)
      // Another credential may have a permission or a limit of its own.
      if (pauseMs !== null || !isAboutCredential(error)) {
        triesOf ??= new Map()
        triesOf.set(account, error.kind === 'unsuitable' ? TRIES_PER_ENDPOINT : count)
      }
      // An endpoint whose breaker has opened is probed by later requests: this caller is refused at once.
      const isFailing = health.cooldownOf(attempt, false)?.reason === 'failing'
      if (pauseMs === null || isFailing || !retries.hasLeft()) continue
      waitedMs += pauseMs
      await deps.wait(pauseMs, signalOf(cancellation))
      repeated = attempt
      queue.unshift(attempt)
    }
  }
  const refusal = mostUseful(refusals)
  if (!refusal) throw shutSince(plan.eligible, health.cooldownOf, deps.now())
  const { error, attempt, outcome } = refusal
  throw publicError(
    error,
    attempt,
    tries.filter((each) => each !== outcome),
  )
}

const isAboutCredential = ({ kind }: UpstreamError): boolean => kind === 'credential' || kind === 'rate-limit'

/** An endpoint that cannot serve the request, and a full bulkhead, are no load on a provider that is down. */
function isRetry(refusals: readonly Refusal[]): boolean {
  const kind = refusals.at(-1)?.error.kind
  return kind !== 'unsuitable' && kind !== 'capacity'
}

/**
 * How long to wait before retrying the same endpoint; null: do not retry it. An endpoint is retried only if no other one
 * is left.
 */
function pauseBefore(
  error: UpstreamError,
  isLastChoice: boolean,
  tries: number,
  waitedMs: number,
  random: () => number,
): number | null {
  if (tries >= TRIES_PER_ENDPOINT) return null
  if (error.kind === 'rate-limit' || error.kind === 'overloaded') {
    const hint = error.retryAfterMs
    return isLastChoice && hint !== null && hint <= RETRY_AFTER_WAIT_MS && waitedMs + hint <= OWN_WAITING_MS
      ? hint
      : null
  }
  if (!isLastChoice || !mayTryAgain(error)) return null
  const pauseMs = Math.round(BACKOFF_MS * random())
  return waitedMs + pauseMs <= OWN_WAITING_MS ? pauseMs : null
}

async function tryOne<Answer, Run extends Generation>(
  codec: CallCodec<Answer, Run>,
  attempt: Attempt,
  generation: Run,
): Promise<Answered<Answer>> {
  const { deps, current, cancellation, tries } = generation
  const startedAt = deps.now()
  if (current !== null && current !== attempt) journalAttempt(generation, attempt)
  generation.current = attempt
  try {
    const { reply, dropped } = await callEndpoint(codec, attempt, generation)
    const { answer, upstreamId } = await codec.read(reply, attempt, generation)
    generation.times.contentAt = performance.now()
    const endedAt = deps.now()
    tries.push(outcomeOf(attempt, upstreamId, reply.status, null, { startedAt, endedAt }))
    deps.health.succeeded(attempt, endedAt - startedAt)
    deps.metrics.attemptEnded(attempt, 'ok')
    return { attempt, answer, dropped }
  } catch (caught) {
    const error = asUpstreamError(caught)
    if (cancellation.reason === null) {
      generation.isSent = false
      generation.dropped = []
    }
    const code = error?.code ?? error?.kind ?? null
    tries.push(outcomeOf(attempt, null, error?.status ?? null, code, { startedAt, endedAt: deps.now() }))
    const isCancelled = cancellation.reason !== null
    deps.metrics.attemptEnded(attempt, isCancelled ? 'cancelled' : (error?.kind ?? 'internal'))
    throw caught
  }
}

/** Builds and sends one call, again if the endpoint rejected a part that may be left out. Throws the rejection. */
export async function callEndpoint<Answer, Run extends Generation>(
  codec: CallCodec<Answer, Run>,
  attempt: Attempt,
  generation: Run,
): Promise<{ reply: UpstreamReply; dropped: string[] }> {
  for (let builtAgain = 0; ; builtAgain++) {
    const startedAt = performance.now()
    const building = codec.build(attempt, generation)
    const built = building instanceof Promise ? await building : building
    // Serializing the body takes about as long as building it.
    const turn = turnAfterLong(startedAt)
    if (turn) await turn
    generation.dropped = built.dropped
    generation.sentBodies?.push(built.body)
    const reply = await sendCall(built, attempt, generation.deps, generation.cancellation, { generation })
    if (isGood(reply)) {
      generation.times.repliedAt = performance.now()
      return { reply, dropped: built.dropped }
    }
    const error = await readErrorResponse(reply, attempt, generation.deps, (status, headers, text) =>
      codec.readError(attempt, status, headers, text, generation),
    )
    const mayBuildAgain =
      builtAgain < MOST_BUILT_AGAIN && codec.mayBuildAgain?.(error, generation, built) === true
    if (!mayBuildAgain) throw error
    generation.isSent = false
  }
}

interface SendOptions {
  /** Its `isSent` is set when the call is sent; absent if the call belongs to no generation. */
  generation?: Pick<Generation, 'isSent' | 'id' | 'opening' | 'tries'>
  /** The bulkhead; absent: the provider's. */
  places?: { group: string; maxInFlight: number }
  /** Absent: the provider's. */
  timeouts?: Timeouts
}

type SendDeps = Pick<RunDeps, 'upstream' | 'now' | 'tokens'>

/** Sends one call to the attempt's provider. */
export function sendCall(
  built: DialectCall,
  { provider, credential, endpoint }: Attempt,
  deps: SendDeps,
  cancellation: Cancellation,
  { generation, places, timeouts }: SendOptions = {},
): Promise<UpstreamReply> {
  const kind = providers[provider.kind]
  const preparing = kind.prepare(provider, credential, built, {
    send: deps.upstream.send,
    now: deps.now,
    cancellation,
    tokens: deps.tokens,
  })
  const send = (call: UpstreamCall): Promise<UpstreamReply> => {
    if (generation) {
      generation.isSent = true
      // After the call is signed: a signature that covered them would fail at a proxy that changes them, as it may.
      if (provider.sendsTrace === true) Object.assign(call.headers, upstreamTrace(generation))
    }
    return deps.upstream.send(call, {
      group: places?.group ?? provider.slug,
      endpoint: endpoint.id,
      maxInFlight: places?.maxInFlight ?? provider.maxInFlight,
      timeouts: timeouts ?? provider.timeouts,
      cancellation,
      answer: kind.answer,
    })
  }
  return preparing instanceof Promise ? preparing.then(send) : send(preparing)
}

export const isGood = ({ status }: UpstreamReply): boolean => status >= 200 && status < 300

/** The error of a reply with an error status. */
export async function readErrorResponse(
  reply: UpstreamReply,
  { credential }: Attempt,
  { tokens }: Pick<RunDeps, 'tokens'>,
  readError: (status: number, headers: Headers, text: string) => UpstreamError,
): Promise<UpstreamError> {
  const text = await reply.beginning(ERROR_BODY_LIMIT_BYTES, ERROR_BODY_MS)
  if (reply.status === 401) tokens.forget(credential)
  return readError(reply.status, reply.headers, text)
}

/**
 * Some servers repeat the prompt in an error, once per validation error (vllm#49239, 2026: more than 100 MB), and a broken
 * one may never end the body. The status and the first part of the body suffice.
 */
const ERROR_BODY_LIMIT_BYTES = 64 * 1024
const ERROR_BODY_MS = 5_000
