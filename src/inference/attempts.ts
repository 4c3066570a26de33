import type { Attempt } from '../core/attempt.ts'
import { UpstreamError } from '../core/errors.ts'
import type { JsonObject } from '../core/events.ts'
import type { AttemptOutcome } from '../core/generation.ts'
import type { UpstreamReply } from '../core/reply.ts'
import { turnAfterLong } from '../core/turn.ts'
import type { DialectCall } from '../dialects/dialect.ts'
import type { BodyLease } from '../http/body-budget.ts'
import type { Upstream } from '../net/upstream.ts'
import { providers } from '../providers/index.ts'
import type { ContextUse } from './context-cache/apply.ts'
import type { ContextStore } from './context-cache/store.ts'
import { asUpstreamError, mayFailOver, mayTryAgain, publicError } from './failure.ts'
import type { Health } from './health.ts'
import { accountOf } from './plan.ts'
import type { FetchContent, UrlContents } from './url-contents.ts'

export interface DispatchDeps {
  upstream: Upstream
  health: Health
  now(): number
  random(): number
  /** Waits on the injected clock; rejects with the signal's reason when it aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  fetchContent: FetchContent
  /** Null: no provider is asked to keep anything. */
  contexts: ContextStore | null
}

/** What is told while attempts are made, so that a record exists even when all of them fail. */
export interface DispatchLog {
  tries: AttemptOutcome[]
  /** The bodies that were sent, in their order. */
  sentBodies: JsonObject[]
  /** The attempt that runs or ran last. */
  current: Attempt | null
  /** Told of an attempt that another one was made before. */
  onFailOver(attempt: Attempt): void
  /** Somebody has the request and has not refused it: who leaves now leaves what may be charged. */
  isAsked: boolean
  /** What addresses of the request led to. */
  contents: UrlContents
  /** For whom providers may keep the beginnings of prompts; null: for nobody. */
  contextOwner: string | null
  /** What the call that was built last is read from, where providers may keep something of it. */
  context: ContextUse | null
  /** The request's share of the memory of bodies in flight; absent: it is not counted. */
  readonly body?: BodyLease | undefined
}

/** How one kind of request is put to an endpoint, and its answer read as far as it must be before nobody else is asked. */
export interface Asking<Answer> {
  build(attempt: Attempt, signal: AbortSignal, log: DispatchLog): DialectCall | Promise<DialectCall>
  /**
   * Reads a 2xx reply; throws `UpstreamError` for what is no answer. `again` sends the same call once more, for an
   * answer that takes several.
   */
  read(
    reply: UpstreamReply,
    attempt: Attempt,
    again: () => Promise<UpstreamReply>,
    log: DispatchLog,
  ): Promise<{ answer: Answer; upstreamId: string | null }>
  readError(attempt: Attempt, status: number, headers: Headers, text: string): UpstreamError
  /** True where the call may have been refused for what `build` builds otherwise the next time. */
  mayBuildAgain?(error: UpstreamError, log: DispatchLog, built: DialectCall): boolean
}

export interface Answered<Answer> {
  attempt: Attempt
  answer: Answer
  /** The caller's parameters that this endpoint could not carry. */
  dropped: string[]
}

/** Of each account at it: the gateway's, and each key that the workspace brought along. */
const TRIES_PER_ENDPOINT = 2
const OWN_WAITING_MS = 5_000
const RETRY_AFTER_WAIT_MS = 2_000
const BACKOFF_MS = 250
/** Calls that differ in what a provider refused of the one before: the dialect, then each part that may be left out. */
const MOST_BUILT_AGAIN = 3

/**
 * Tries the attempts in order until one answers. Throws a `GatewayError` when none does, or when the request itself is
 * at fault; rethrows the abort when the caller left.
 */
export async function tryAttempts<Answer>(
  asking: Asking<Answer>,
  attempts: readonly Attempt[],
  deps: DispatchDeps,
  signal: AbortSignal,
  log: DispatchLog,
): Promise<Answered<Answer>> {
  const queue = [...attempts]
  const triesOf = new Map<string, number>()
  let waitedMs = 0
  let last: { error: UpstreamError; attempt: Attempt } | null = null
  for (let attempt = queue.shift(); attempt; attempt = queue.shift()) {
    const account = accountOf(attempt)
    const tries = (triesOf.get(account) ?? 0) + 1
    if (tries > TRIES_PER_ENDPOINT) continue
    triesOf.set(account, tries)
    try {
      return await tryOne(asking, attempt, deps, signal, log)
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

async function tryOne<Answer>(
  asking: Asking<Answer>,
  attempt: Attempt,
  deps: DispatchDeps,
  signal: AbortSignal,
  log: DispatchLog,
): Promise<Answered<Answer>> {
  const startedAt = deps.now()
  if (log.current !== null && log.current !== attempt) log.onFailOver(attempt)
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
    isByok: attempt.ownKey !== undefined,
  }
  try {
    const { reply, dropped } = await send(asking, attempt, deps, signal, log)
    const again = async () => (await send(asking, attempt, deps, signal, log)).reply
    const { answer, upstreamId } = await asking.read(reply, attempt, again, log)
    const latencyMs = deps.now() - startedAt
    log.tries.push({ ...outcome, upstreamId, status: reply.status, latencyMs })
    deps.health.succeeded(attempt, latencyMs)
    return { attempt, answer, dropped }
  } catch (caught) {
    const error = asUpstreamError(caught)
    if (!signal.aborted) log.isAsked = false
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

async function send<Answer>(
  asking: Asking<Answer>,
  attempt: Attempt,
  deps: DispatchDeps,
  signal: AbortSignal,
  log: DispatchLog,
  builtAgain = 0,
): Promise<{ reply: UpstreamReply; dropped: string[] }> {
  const begunAt = performance.now()
  const building = asking.build(attempt, signal, log)
  const built = building instanceof Promise ? await building : building
  // What is written next is as long as what was translated.
  const turn = turnAfterLong(begunAt)
  if (turn) await turn
  log.sentBodies.push(built.body)
  const reply = await ask(built, attempt, deps, signal, {
    onSending: () => {
      log.isAsked = true
    },
  })
  if (isGood(reply)) return { reply, dropped: built.dropped }
  const error = await refusalOf(reply, attempt, asking.readError)
  if (builtAgain >= MOST_BUILT_AGAIN || asking.mayBuildAgain?.(error, log, built) !== true) throw error
  log.isAsked = false
  return send(asking, attempt, deps, signal, log, builtAgain + 1)
}

/** Sends one call to who makes the attempt, in one of the provider's places or of others. */
export async function ask(
  built: DialectCall,
  { provider, credential }: Attempt,
  deps: Pick<DispatchDeps, 'upstream' | 'now'>,
  signal: AbortSignal,
  { onSending, places }: { onSending?: () => void; places?: { group: string; maxInFlight: number } } = {},
): Promise<UpstreamReply> {
  const kind = providers[provider.kind]
  const outbound = { send: deps.upstream.send, now: deps.now, signal }
  const call = await kind.prepare(provider, credential, built, outbound)
  onSending?.()
  return deps.upstream.send(call, {
    group: places?.group ?? provider.slug,
    maxInFlight: places?.maxInFlight ?? provider.maxInFlight,
    timeouts: provider.timeouts,
    signal,
    ...(kind.answer ? { answer: kind.answer } : {}),
  })
}

export const isGood = ({ status }: UpstreamReply): boolean => status >= 200 && status < 300

/** What a reply with an error status says. */
export async function refusalOf<Answer>(
  reply: UpstreamReply,
  attempt: Attempt,
  readError: Asking<Answer>['readError'],
): Promise<UpstreamError> {
  const text = await reply.beginning(ERROR_BODY_LIMIT_BYTES, ERROR_BODY_MS)
  if (reply.status === 401) providers[attempt.provider.kind].refused?.(attempt.credential)
  return readError(attempt, reply.status, reply.headers, text)
}

/**
 * Some servers repeat the prompt in an error, even once per mistake (vllm#49239, 2026: more than 100 MB), and a broken
 * one may never end it: the status with what was read says enough, and the next endpoint is waiting.
 */
const ERROR_BODY_LIMIT_BYTES = 64 * 1024
const ERROR_BODY_MS = 5_000
