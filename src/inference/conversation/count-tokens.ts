import type { Attempt } from '../../core/attempt.ts'
import type { Caller } from '../../core/caller.ts'
import { type Cancellation, cancel, newCancellation } from '../../core/cancellation.ts'
import type { UpstreamError } from '../../core/errors.ts'
import type { DialectName } from '../../core/events.ts'
import { parseJson } from '../../core/json.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import type { Egress } from '../../dialects/dialect.ts'
import { egresses } from '../../dialects/index.ts'
import { providers } from '../../providers/index.ts'
import { estimatePromptTokens } from '../admission/estimate.ts'
import type { RunDeps } from '../generation.ts'
import { plan } from '../routing/plan.ts'
import { CallerDisconnected } from '../upstream/abort.ts'
import { asUpstreamError, publicError } from '../upstream/failure.ts'

export interface CountInput {
  snapshot: Snapshot
  caller: Caller
  request: InferenceRequest
  /** Aborts when the caller's connection goes away. */
  signal: AbortSignal
  startedAt: number
}

/** A count that takes longer is of no use to who waits for it. */
const TIMEOUT_MS = 10_000
const MAX_REPLY_BYTES = 64 * 1024

/**
 * The prompt's tokens as counted by the first endpoint that can count; if none can, or none replies, our estimate, which
 * is rather too high. It costs nothing, is no generation and does not change an endpoint's health; rate limits count it
 * as a request without tokens. Throws a `GatewayError` as routing does, and the provider's rejection of an invalid
 * request.
 */
export async function countTokens(input: CountInput, deps: RunDeps): Promise<number> {
  const { request, signal, snapshot } = input
  const planned = plan({
    ...input,
    now: input.startedAt,
    // Who answers badly may still count.
    cooldownOf: () => null,
    latencyMs: deps.health.latencyMs,
    measured: deps.measurements.of,
    random: deps.random,
  })
  const { key } = input.caller
  const pass = deps.rates.check({ key, snapshot, attempts: planned.attempts, tokens: null })
  const attempts = pass?.attempts ?? planned.attempts
  const cancellation = newCancellation()
  deps.running.begin(cancellation)
  const hold = pass?.take()
  const leave = () => cancel(cancellation, new CallerDisconnected())
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  try {
    return (await countedBy(request, attempts, deps, cancellation)) ?? estimatePromptTokens(request)
  } finally {
    signal.removeEventListener('abort', leave)
    hold?.end({ tokens: 0, modelId: attempts[0]?.model.id ?? '' })
    deps.running.end(cancellation)
  }
}

const spoken: Partial<Record<DialectName, Egress>> = egresses

async function countedBy(
  request: InferenceRequest,
  attempts: readonly Attempt[],
  deps: RunDeps,
  cancellation: Cancellation,
): Promise<number | null> {
  for (const attempt of attempts) {
    const egress = spoken[attempt.dialect]
    if (!egress?.countTokens) continue
    try {
      const counted = await ask(request, attempt, egress, egress.countTokens, deps, cancellation)
      if (counted !== null) return counted
    } catch (caught) {
      const error = asUpstreamError(caught)
      if (!error || cancellation.reason !== null) throw caught
      if (isRefusal(error)) throw publicError(error, attempt, [])
    }
  }
  return null
}

/** Who does not know the route answers as to an unknown model: another one, or the estimate, will do. */
const isRefusal = ({ kind, status }: UpstreamError): boolean =>
  kind === 'caller' && status !== 404 && status !== 405

async function ask(
  request: InferenceRequest,
  attempt: Attempt,
  egress: Egress,
  { build, read }: NonNullable<Egress['countTokens']>,
  deps: RunDeps,
  cancellation: Cancellation,
): Promise<number | null> {
  const { provider, credential } = attempt
  const kind = providers[provider.kind]
  const outbound = { send: deps.upstream.send, now: deps.now, cancellation, tokens: deps.tokens }
  const call = await kind.prepare(provider, credential, build(request, attempt), outbound)
  const { firstByteMs, betweenBytesMs, totalMs } = provider.timeouts
  const reply = await deps.upstream.send(call, {
    group: provider.slug,
    maxInFlight: provider.maxInFlight,
    timeouts: {
      firstByteMs: Math.min(firstByteMs, TIMEOUT_MS),
      betweenBytesMs: Math.min(betweenBytesMs, TIMEOUT_MS),
      totalMs: Math.min(totalMs, TIMEOUT_MS),
    },
    cancellation,
    answer: kind.answer,
  })
  const text = await reply.text(MAX_REPLY_BYTES)
  if (isAnswer(reply)) return read(parseJson(text))
  throw egress.readError(reply.status, reply.headers, text)
}

const isAnswer = ({ status }: UpstreamReply): boolean => status >= 200 && status < 300
