import type { Attempt, UpstreamCall } from '../core/attempt.ts'
import { UpstreamError } from '../core/errors.ts'
import {
  type DialectName,
  type FrameBatch,
  type InferenceFrame,
  type InferenceFrames,
  isContent,
  type JsonObject,
} from '../core/events.ts'
import type { AttemptOutcome } from '../core/generation.ts'
import type { UpstreamReply } from '../core/reply.ts'
import type { InferenceRequest } from '../core/request.ts'
import type { Egress } from '../dialects/dialect.ts'
import { egresses } from '../dialects/index.ts'
import type { Upstream } from '../net/upstream.ts'
import { providers } from '../providers/index.ts'
import { asUpstreamError, mayFailOver, mayTryAgain, publicError } from './failure.ts'
import type { Health } from './health.ts'
import { type FetchContent, type UrlContents, withContents } from './url-contents.ts'

export interface DispatchDeps {
  upstream: Upstream
  health: Health
  now(): number
  random(): number
  /** Waits on the injected clock; rejects with the signal's reason when it aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  fetchContent: FetchContent
}

/** A reply whose first content is there (or that ended whole without any). */
export interface Dispatched {
  attempt: Attempt
  frames: InferenceFrames
  dropped: string[]
}

/** What is told while attempts are made, so that a record exists even when all of them fail. */
export interface DispatchLog {
  tries: AttemptOutcome[]
  /** The bodies that were sent, one for each try. */
  sentBodies: JsonObject[]
  /** The attempt that runs or ran last. */
  current: Attempt | null
  /** What addresses of the request led to. */
  contents: UrlContents
}

/** Settings let no provider through whose dialect has no code. */
const spoken: Partial<Record<DialectName, Egress>> = egresses

const TRIES_PER_ENDPOINT = 2
const OWN_WAITING_MS = 5_000
const RETRY_AFTER_WAIT_MS = 2_000
const BACKOFF_MS = 250

/**
 * Tries the attempts in order until one gives its first content. Throws a `GatewayError` when none does, or when
 * the request itself is at fault; rethrows the abort when the caller left.
 */
export async function dispatch(
  request: InferenceRequest,
  attempts: readonly Attempt[],
  deps: DispatchDeps,
  signal: AbortSignal,
  log: DispatchLog,
): Promise<Dispatched> {
  const queue = [...attempts]
  const triesOf = new Map<string, number>()
  let waitedMs = 0
  let last: { error: UpstreamError; attempt: Attempt } | null = null
  for (let attempt = queue.shift(); attempt; attempt = queue.shift()) {
    const tries = (triesOf.get(attempt.endpoint.id) ?? 0) + 1
    if (tries > TRIES_PER_ENDPOINT) continue
    triesOf.set(attempt.endpoint.id, tries)
    try {
      return await tryOne(request, attempt, deps, signal, log)
    } catch (caught) {
      const error = asUpstreamError(caught)
      if (!error || signal.aborted) throw caught
      deps.health.failed(attempt, error)
      last = { error, attempt }
      if (!mayFailOver(error)) break
      const pauseMs = pauseBefore(error, queue.length === 0, tries, waitedMs, deps.random)
      if (pauseMs === null) continue
      waitedMs += pauseMs
      await deps.wait(pauseMs, signal)
      queue.unshift(attempt)
    }
  }
  if (!last) throw new UpstreamError('connect', 'there was no attempt to make')
  throw publicError(last.error, last.attempt, log.tries)
}

/**
 * How long to wait before the same endpoint is tried once more; null: do not. A connection that broke is worth a
 * second try at once; a refusal for now only where there is nobody else to ask.
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

async function tryOne(
  request: InferenceRequest,
  attempt: Attempt,
  deps: DispatchDeps,
  signal: AbortSignal,
  log: DispatchLog,
): Promise<Dispatched> {
  const startedAt = deps.now()
  const egress = spoken[attempt.dialect]
  if (!egress) throw new Error(`no code speaks the dialect ${attempt.dialect}`)
  log.current = attempt
  deps.health.trying(attempt)
  const outcome: AttemptOutcome = {
    endpointId: attempt.endpoint.id,
    modelId: attempt.model.id,
    providerSlug: attempt.provider.slug,
    providerName: attempt.provider.name,
    upstreamId: null,
    status: null,
    code: null,
    latencyMs: 0,
  }
  try {
    const { reply, dropped } = await send(request, attempt, egress, deps, signal, log)
    const frames = await untilContent(egress.read(reply, request.stream))
    const latencyMs = deps.now() - startedAt
    log.tries.push({ ...outcome, upstreamId: upstreamIdOf(frames.first), status: reply.status, latencyMs })
    deps.health.succeeded(attempt, latencyMs)
    return { attempt, frames: frames.all, dropped }
  } catch (caught) {
    const error = asUpstreamError(caught)
    const latencyMs = deps.now() - startedAt
    log.tries.push({
      ...outcome,
      status: error?.status ?? null,
      code: error?.code ?? error?.kind ?? null,
      latencyMs,
    })
    throw caught
  }
}

async function send(
  request: InferenceRequest,
  attempt: Attempt,
  egress: Egress,
  deps: DispatchDeps,
  signal: AbortSignal,
  log: DispatchLog,
): Promise<{ reply: UpstreamReply; dropped: string[] }> {
  const { provider } = attempt
  const kind = providers[provider.kind]
  const whole = withContents(request, attempt, egress, log.contents, deps.fetchContent, signal)
  const built = egress.build(whole instanceof Promise ? await whole : whole, attempt)
  log.sentBodies.push(built.body)
  const call: UpstreamCall = await kind.prepare(provider, attempt.credential, built)
  const reply = await deps.upstream.send(call, {
    group: provider.slug,
    maxInFlight: provider.maxInFlight,
    timeouts: provider.timeouts,
    signal,
    ...(kind.answer ? { answer: kind.answer } : {}),
  })
  if (reply.status >= 200 && reply.status < 300) return { reply, dropped: built.dropped }
  throw egress.readError(reply.status, reply.headers, await reply.text(ERROR_BODY_LIMIT_BYTES))
}

const ERROR_BODY_LIMIT_BYTES = 256 * 1024

/** Reads ahead to the first content, and gives back a stream whose first batch is what was read. */
async function untilContent(
  frames: InferenceFrames,
): Promise<{ first: InferenceFrame[]; all: InferenceFrames }> {
  const iterator = frames[Symbol.asyncIterator]()
  const first: InferenceFrame[] = []
  for (;;) {
    const { value, done } = await iterator.next()
    if (done) break
    for (const frame of value) first.push(frame)
    if (value.some(isAnswer)) break
  }
  return { first, all: continued(first, iterator) }
}

const isAnswer = ({ events }: InferenceFrame): boolean =>
  events.some((event) => isContent(event) || event.type === 'response-end')

function continued(first: FrameBatch, rest: AsyncIterator<FrameBatch>): InferenceFrames {
  let isFirst = first.length > 0
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        if (!isFirst) return rest.next()
        isFirst = false
        return Promise.resolve({ value: first, done: false as const })
      },
      return: async () => {
        isFirst = false
        await rest.return?.()
        return { value: undefined, done: true as const }
      },
    }),
  }
}

function upstreamIdOf(frames: FrameBatch): string | null {
  for (const frame of frames) {
    for (const event of frame.events)
      if (event.type === 'response-start' && event.upstreamId) return event.upstreamId
  }
  return null
}
