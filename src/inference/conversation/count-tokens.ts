import type { Attempt } from '../../core/attempt.ts'
import type { Caller } from '../../core/caller.ts'
import { type Cancellation, cancel, newCancellation } from '../../core/cancellation.ts'
import type { DialectName } from '../../core/events.ts'
import { parseJson } from '../../core/json.ts'
import type { Timeouts } from '../../core/provider.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import type { Egress } from '../../dialects/dialect.ts'
import { egresses } from '../../dialects/index.ts'
import { estimatePrompt, estimatePromptTokens } from '../admission/estimate.ts'
import type { RunDeps } from '../generation.ts'
import { needsOf, withoutLengths } from '../routing/needs.ts'
import { plan } from '../routing/plan.ts'
import { toolAccessOf } from '../tools/access.ts'
import { hasMcp, mcpRequestOf } from '../tools/mcp.ts'
import { withMcpServers } from '../tools/mcp-servers.ts'
import { toolRequestOf } from '../tools/requested.ts'
import { CallerDisconnected } from '../upstream/abort.ts'
import { isGood, sendCall } from '../upstream/attempts.ts'
import { asUpstreamError, mayFailOver, publicError } from '../upstream/failure.ts'

export interface CountInput {
  snapshot: Snapshot
  caller: Caller
  request: InferenceRequest
  /** Aborts when the client disconnects. */
  signal: AbortSignal
  startedAt: number
}

/** After this, the gateway's estimate is returned. */
const TIMEOUT_MS = 10_000
const MAX_REPLY_BYTES = 64 * 1024

/**
 * The prompt's tokens, counted by the first endpoint that supports it. If none does or none replies, the gateway's
 * estimate, which is rather too high. A count costs nothing, creates no generation and does not affect an endpoint's
 * health. Rate limits count it as a request without tokens. Throws a `GatewayError` as routing does, and for a request
 * that the provider rejects as invalid.
 */
export async function countTokens(input: CountInput, deps: RunDeps): Promise<number> {
  const { signal, snapshot } = input
  // The functions that stand for server tools count.
  const listed = withMcpServers(input.request, input.caller, deps.mcp)
  const mcp = hasMcp(listed) ? await mcpRequestOf(listed, deps.mcp) : null
  const asked = toolRequestOf(listed, input.caller, toolAccessOf(input.caller, snapshot, deps), mcp)
  const request = asked?.request ?? input.request
  const planned = plan({
    ...input,
    request,
    now: input.startedAt,
    needs: withoutLengths(needsOf(request, estimatePrompt(request))),
    // An endpoint in cooldown may still count.
    cooldownOf: () => null,
    recent: deps.measurements.recentOf,
    measured: deps.measurements.of,
    answeredBy: deps.conversations.endpointOf,
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

const egressByDialect: Partial<Record<DialectName, Egress>> = egresses

async function countedBy(
  request: InferenceRequest,
  attempts: readonly Attempt[],
  deps: RunDeps,
  cancellation: Cancellation,
): Promise<number | null> {
  for (const attempt of attempts) {
    const egress = egressByDialect[attempt.dialect]
    if (!egress?.countTokens) continue
    const { build, read } = egress.countTokens
    const timeouts = shortened(attempt.provider.timeouts)
    try {
      const reply = await sendCall(build(request, attempt), attempt, deps, cancellation, { timeouts })
      const text = await reply.text(MAX_REPLY_BYTES)
      if (!isGood(reply)) throw egress.readError(reply.status, reply.headers, text)
      const counted = read(parseJson(text))
      if (counted !== null) return counted
    } catch (caught) {
      const error = asUpstreamError(caught)
      if (!error || cancellation.reason !== null) throw caught
      if (!mayFailOver(error)) throw publicError(error, attempt, [])
    }
  }
  return null
}

const shortened = ({ firstByteMs, betweenBytesMs, totalMs }: Timeouts): Timeouts => ({
  firstByteMs: Math.min(firstByteMs, TIMEOUT_MS),
  betweenBytesMs: Math.min(betweenBytesMs, TIMEOUT_MS),
  totalMs: Math.min(totalMs, TIMEOUT_MS),
})
