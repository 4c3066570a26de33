import type { Attempt } from '../core/attempt.ts'
import { GatewayError } from '../core/errors.ts'
import type { Settlement } from '../core/generation.ts'
import type { Closing, RoutingMetadata } from '../core/result.ts'
import { completionTokens, NO_USAGE, promptTokens } from '../core/usage.ts'
import type { SettledFacts } from '../metrics/metrics.ts'
import { pricingOf } from './admission/fit.ts'
import { FREE } from './admission/price.ts'
import { tierOf } from './admission/tier.ts'
import type { EndedRecord } from './content-log/record.ts'
import { noted } from './export-note.ts'
import type { Generation, RunDeps } from './generation.ts'
import { heldFor } from './journal-entry.ts'
import type { Ending, Settled } from './reply/meter.ts'
import type { CachedReply } from './response-cache/store.ts'
import { routingMetadata, stagesOf, storedRouting } from './routing/metadata.ts'
import { addStep } from './steps/family.ts'
import { timingsOf } from './times.ts'
import { responseTrace } from './trace-headers.ts'
import { CallerDisconnected } from './upstream/abort.ts'
import { callerClosed, errorForCaller, isReported, withRouting } from './upstream/failure.ts'

/**
 * Resolves once the row is committed; of a request with server tools, the rows of all its steps. Further calls return the
 * first settlement.
 */
export function settle(generation: Generation, ending: Ending): Promise<Closing> {
  generation.settling ??= generation.loop ? generation.loop.settle(ending) : settleAlone(generation, ending)
  return generation.settling
}

/** Settles the generation itself. The content of a request with server tools is complete only after its last step. */
export async function settleAlone(generation: Generation, ending: Ending): Promise<Closing> {
  const { deps, caller, meter, admission } = generation
  const attempt = generation.current ?? admission.attempts[0]
  if (attempt === undefined) throw new Error('a plan without attempts')
  if (ending === 'complete') generation.answered = attempt
  generation.times.endedAt = performance.now()
  const content = generation.loop === null ? endedContent(generation, ending) : null
  const settled = settledBy(generation, ending, attempt)
  const { cost } = settled
  const settlement = noted(settled, generation, isContentStored(generation, content))
  try {
    await deps.ledger.settle(admission.hold, settlement)
  } catch (error) {
    generation.context?.settled(null)
    throw error
  }
  generation.times.committedAt = performance.now()
  generation.context?.settled(ending === 'failed' ? null : countedOf(settlement))
  if (ending === 'complete') generation.onComplete?.(settlement.isByok ? 0 : settlement.costNanoUsd)
  store(content, deps)
  deps.onSettled(settlement, caller, generation.opening.incoming)
  deps.metrics.settled(settlement, caller, {
    overhead: overheadOf(generation),
    savedNanoUsd: generation.cached?.hit?.answer.costNanoUsd ?? 0,
    traceId: generation.opening.incoming.trace.traceId,
  })
  const { totalNanoUsd, promptNanoUsd, completionNanoUsd } = cost
  const { isByok } = settlement
  addStep(generation.opening, isByok ? 0 : totalNanoUsd)
  return {
    finishes: meter.finishes,
    completed: Math.floor(settlement.endedAt / 1000),
    usage: settlement.usage,
    // With a BYOK key the provider charges the caller's account. Fees are added to the completion cost, so that the
    // parts sum to what the provider charges.
    costNanoUsd: isByok ? 0 : totalNanoUsd,
    promptCostNanoUsd: promptNanoUsd,
    completionCostNanoUsd: isByok ? totalNanoUsd - promptNanoUsd : completionNanoUsd,
    isByok,
    serviceTier: settlement.serviceTier,
    serviceMetadata: metadataOf(generation),
  }
}

/** Null for a cache hit, which calls no provider, and for a step, which begins in the gateway. */
function overheadOf({ opening, cached, times }: Generation): SettledFacts['overhead'] {
  if (opening.parent !== undefined || cached?.hit) return null
  const { arrivedAt, admittedAt, endedAt, committedAt } = times
  return { beforeMs: admittedAt - arrivedAt, afterMs: committedAt - endedAt }
}

/** Of a request with server tools it is stored after the last step. */
const isContentStored = ({ loop, caller }: Generation, content: EndedRecord | null): boolean =>
  loop === null ? (content?.exported ?? null) !== null : caller.workspace.exports?.content === true

/** The settlement of a generation. Its rate reservation is released even on errors. */
function settledBy(generation: Generation, ending: Ending, attempt: Attempt): Settled {
  const { admission, meter, tries, cached, deps, plan, dropped } = generation
  let tokens = 0
  try {
    const counted = meter.settlement(ending, {
      journal: generation.journal,
      attempt,
      tries,
      isSent: generation.isSent,
      pricing: pricingOf(attempt),
      unreportedTier: tierOf(attempt, admission, dropped),
      isDelegated: generation.request.delegated !== undefined,
      holdNanoUsd: heldFor(attempt, admission),
      router: plan.strategy,
      routing: routingOf(generation),
      endedAt: deps.now(),
    })
    const isUncalled =
      cached?.hit != null || (ending === 'complete' && tries.length === 0 && !generation.isSent)
    const settled = isUncalled ? atNoCost(counted, cached?.hit?.answer) : counted
    const { usage } = settled.settlement
    tokens = promptTokens(usage) + completionTokens(usage)
    return settled
  } finally {
    const modelId = attempt.model.id
    admission.rates?.end({ tokens, modelId, triedModelIds: tries.map((tried) => tried.modelId) })
  }
}

/** How the request was routed; null for a cache hit, which calls no provider. Its errors never fail the settlement. */
function routingOf({ plan, admission, times, tries, cached, deps, id, opening }: Generation): string | null {
  if (cached?.hit) return null
  try {
    return storedRouting({ plan, admitted: admission.attempts, tries, timings: timingsOf(times) })
  } catch (error) {
    deps.onLost(error, id, opening.incoming.trace)
    return null
  }
}

/** Logs the content of a request with server tools, as its caller got it. */
export function logContent(generation: Generation, ending: Ending): void {
  store(endedContent(generation, ending), generation.deps)
}

/** Behind the reply: to the content log, and for destinations of observability. */
function store(content: EndedRecord | null, { contents, exportContents }: RunDeps): void {
  if (content?.logged) contents.add(content.logged)
  if (content?.exported) exportContents.add(content.exported)
}

/** An error of the content log never fails the reply. */
function endedContent({ id, deps, content, opening }: Generation, ending: Ending): EndedRecord | null {
  try {
    return content?.end(ending) ?? null
  } catch (error) {
    deps.onLost(error, id, opening.incoming.trace)
    return null
  }
}

/** The usage if the provider reported its cache reads and writes; else null. */
const countedOf = ({ usage, usageSource }: Settlement) =>
  usageSource === 'provider' || usage.writtenApartTokens !== undefined ? usage : null

/** The routing metadata; null unless the caller requested it. */
export function metadataOf(generation: Generation): RoutingMetadata | null {
  if (!generation.wantsMetadata) return null
  const { plan, tries, answered, dropped, admission, request, meter, times, opening } = generation
  return routingMetadata({
    plan,
    admitted: admission.attempts,
    tries,
    answered,
    dropped,
    outputBound: boundOf(admission.attempts, answered),
    pipeline: stagesOf(
      request.pipeline,
      generation.shortened === null ? undefined : [generation.shortened],
      meter.pipeline,
      opening.plugins?.stages,
    ),
    timings: timingsOf(times),
  })
}

/** The output bound that money set for the attempt that replied, or for any attempt if none did. */
const boundOf = (attempts: readonly Attempt[], answered: Attempt | null): number | null =>
  (answered ?? attempts.find(({ outputBound }) => outputBound !== undefined))?.outputBound ?? null

/** Settles a generation without a reply, and returns the caller's error. */
export async function fail(generation: Generation, error: unknown): Promise<GatewayError> {
  const { deps, cancellation, content, id, opening } = generation
  const isDisconnected = cancellation.reason instanceof CallerDisconnected
  // A plugin rejects an answer that the provider has charged.
  const isRejected = generation.isCounted && error instanceof GatewayError
  content?.fail(errorForCaller(error, generation))
  try {
    await settle(generation, isDisconnected ? 'disconnected' : isRejected ? 'truncated' : 'failed')
  } catch (lost) {
    if (!isReported(lost, error)) deps.onLost(lost, id, opening.incoming.trace)
  }
  const failure = isDisconnected ? callerClosed(error) : errorForCaller(error, generation)
  return withRouting(failure, metadataOf(generation), {
    'x-generation-id': id,
    traceresponse: responseTrace(opening, id),
  })
}

/** The row of a cache hit, or of calls that the user approved: no provider was called, so it has no usage and no cost. */
const atNoCost = ({ settlement }: Settled, answer: CachedReply | undefined): Settled => ({
  cost: FREE,
  settlement: {
    ...settlement,
    isByok: false,
    upstreamId: null,
    usage: NO_USAGE,
    usageSource: 'none',
    costNanoUsd: 0,
    cacheDiscountNanoUsd: null,
    ...(answer && { responseCacheSourceId: answer.sourceId }),
  },
})
