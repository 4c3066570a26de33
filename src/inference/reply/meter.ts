import type { Attempt } from '../../core/attempt.ts'
import type { Finish, InferenceEvent, InferenceFrame, JsonObject } from '../../core/events.ts'
import type { AttemptOutcome, JournalEntry, Settlement, ToolCallCounts } from '../../core/generation.ts'
import { type Pricing, pricingAt, type ServiceTier, serviceTierOf } from '../../core/pricing.ts'
import {
  completionTokens,
  estimateTokens,
  isPlausible,
  NO_USAGE,
  promptTokens,
  type Usage,
  type UsageSource,
} from '../../core/usage.ts'
import { type Cost, costOf, FREE, isPriced } from '../admission/price.ts'
import type { ToolWatch } from './tool-watch.ts'

/**
 * How a generation ended.
 * - `complete`: finish reason and a clean end
 * - `failed`: no content arrived
 * - `truncated`: the provider, or our shutdown, ended it after some content
 * - `disconnected`: the client disconnected
 */
export type Ending = 'complete' | 'failed' | 'truncated' | 'disconnected'

/** Measures what one generation delivers, and computes its settlement. */
export interface Metering {
  readonly finishes: Finish[]
  /** The content filters' findings in the reply, for the routing metadata; absent without filters. */
  readonly pipeline?: readonly JsonObject[]
  settlement(ending: Ending, context: SettlementContext): Settled
}

export interface Settled {
  settlement: Settlement
  cost: Cost
}

/** Counts the frames of one generation. Every frame passes `see` before it is written. */
export interface Meter extends Metering {
  see(frame: InferenceFrame): void
  readonly serviceTier: string | null
}

export interface SettlementContext {
  journal: JournalEntry
  attempt: Attempt
  tries: readonly AttemptOutcome[]
  /** A provider has received the request and has not rejected it. */
  isSent: boolean
  pricing: Pricing
  /** The service tier of the reply if the provider reports none; undefined: the usual one. */
  unreportedTier: ServiceTier | undefined
  /** The provider charges for more than tokens: what it reports is booked. */
  isDelegated?: boolean
  /** The maximum charge if usage is estimated. */
  holdNanoUsd: number
  router: string
  /** See `Settlement`. */
  routing: string | null
  endedAt: number
}

export function createMeter(now: () => number, startedAt: number, tools: ToolWatch | null = null): Meter {
  const seen: Seen = {
    upstreamId: null,
    usage: null,
    serviceTier: null,
    finishes: [],
    firstContentAt: null,
    textLength: 0,
    reasoningLength: 0,
    images: 0,
  }
  return {
    see(frame) {
      for (const event of frame.events) note(event, seen, now, tools)
    },
    settlement(ending, context) {
      const { usage, finishes, images } = seen
      const texts = count(ending, usage, seen, context.journal.promptTokensEstimate)
      const counted = withImages(texts, images, ending, context.pricing)
      const isWhole = ending === 'complete' && finishes.every(({ reason }) => WHOLE.has(reason))
      const toolCalls = isWhole ? tools?.counts() : null
      return settledAs(ending, context, { ...seen, counted, finish: finishes[0], startedAt, toolCalls })
    },
    get finishes() {
      return seen.finishes
    },
    get serviceTier() {
      return seen.serviceTier
    },
  }
}

/** What the frames so far contained. */
interface Seen {
  upstreamId: string | null
  usage: Usage | null
  serviceTier: string | null
  finishes: Finish[]
  firstContentAt: number | null
  textLength: number
  reasoningLength: number
  images: number
}

function note(event: InferenceEvent, seen: Seen, now: () => number, tools: ToolWatch | null): void {
  switch (event.type) {
    case 'text-delta':
    case 'refusal-delta':
      seen.textLength += event.text.length
      if (event.text !== '') seen.firstContentAt ??= now()
      break
    case 'reasoning-delta':
      seen.reasoningLength += event.text.length
      if (event.text !== '') seen.firstContentAt ??= now()
      break
    case 'tool-call-start':
      seen.textLength += event.name.length
      seen.firstContentAt ??= now()
      tools?.see(event)
      break
    case 'tool-call-delta':
      seen.textLength += event.json.length
      tools?.see(event)
      break
    case 'image':
      seen.images += 1
      seen.firstContentAt ??= now()
      break
    case 'audio-delta':
      seen.firstContentAt ??= now()
      break
    case 'response-start':
      seen.upstreamId = event.upstreamId ?? seen.upstreamId
      seen.serviceTier = event.serviceTier ?? seen.serviceTier
      break
    case 'usage':
      seen.usage = event.usage
      seen.serviceTier = event.serviceTier ?? seen.serviceTier
      break
    case 'response-end':
      seen.finishes = event.finishes
  }
}

/** A reply that was cut short may end within a tool call. */
const WHOLE: ReadonlySet<Finish['reason']> = new Set(['stop', 'tool_calls'])

export interface Counted {
  usage: Usage
  source: UsageSource
}

export interface Delivered {
  counted: Counted
  upstreamId: string | null
  /** Undefined if none arrived. */
  finish: Finish | undefined
  startedAt: number
  /** Null if no content arrived. */
  firstContentAt: number | null
  serviceTier: string | null
  /** Images in the reply that its usage does not count. */
  images?: number
  toolCalls?: ToolCallCounts | null | undefined
}

const NOTHING: Counted = { usage: NO_USAGE, source: 'none' }

/** The row of a generation of any kind, and its cost. */
export function settledAs(ending: Ending, context: SettlementContext, delivered: Delivered): Settled {
  const { journal, endedAt, attempt } = context
  const { finish, startedAt } = delivered
  // Nothing is charged for a disconnect before any provider accepted the request.
  const isInVain = ending === 'disconnected' && !context.isSent
  const counted = isInVain ? NOTHING : delivered.counted
  const pricing = servedPricing(context, delivered.serviceTier)
  const cost = isInVain ? FREE : costFor(ending, counted, pricing, context)
  const contentAt = delivered.firstContentAt ?? endedAt
  return {
    cost,
    settlement: {
      ...journal,
      modelId: attempt.model.id,
      providerSlug: attempt.provider.slug,
      providerName: attempt.provider.name,
      endpointId: attempt.endpoint.id,
      isByok: attempt.byokKey !== undefined,
      upstreamId: delivered.upstreamId,
      finishReason: ending === 'complete' && finish ? finish.reason : 'error',
      nativeFinishReason: finish?.native ?? null,
      cancelled: ending === 'disconnected',
      usage: counted.usage,
      usageSource: counted.source,
      answerImages: delivered.images || undefined,
      toolCalls: delivered.toolCalls ?? undefined,
      costNanoUsd: cost.totalNanoUsd,
      cacheDiscountNanoUsd: cost.cacheDiscountNanoUsd,
      latencyMs: Math.max(0, contentAt - startedAt),
      generationTimeMs: Math.max(0, endedAt - contentAt),
      endedAt,
      serviceTier: delivered.serviceTier,
      router: context.router,
      routing: context.routing,
      tries: context.tries,
    },
  }
}

/** The provider's usage if reported, else an estimate from the delivered text. A reported 0 is not replaced. */
function count(
  ending: Ending,
  reported: Usage | null,
  delivered: { textLength: number; reasoningLength: number },
  promptTokensEstimate: number,
): Counted {
  if (ending === 'failed') return NOTHING
  const outputTokens = estimateTokens(delivered.textLength)
  const reasoningTokens = estimateTokens(delivered.reasoningLength)
  if (reported === null) {
    return {
      usage: { ...NO_USAGE, inputTokens: promptTokensEstimate, outputTokens, reasoningTokens },
      source: 'estimated',
    }
  }
  const isRunningTotal = ending !== 'complete' && completionTokens(reported) < outputTokens + reasoningTokens
  if (!isRunningTotal) return { usage: reported, source: 'provider' }
  const inputTokens = promptTokens(reported) === 0 ? promptTokensEstimate : reported.inputTokens
  return { usage: { ...reported, inputTokens, outputTokens, reasoningTokens }, source: 'estimated' }
}

/** Google's and OpenAI's tables have 1,120 to 1,400 tokens for an image of one megapixel. */
const IMAGE_TOKENS = 1_400

/**
 * Images of a model with a price for them whose usage does not count them apart. A complete usage is their tokens: text
 * costs less. Without one their tokens are estimated.
 */
function withImages(counted: Counted, images: number, ending: Ending, { imageOutput }: Pricing): Counted {
  const { usage, source } = counted
  if (images === 0 || imageOutput === undefined || usage.imageOutputTokens > 0 || ending === 'failed')
    return counted
  if (source === 'provider' && (ending === 'complete' || usage.outputTokens > 0))
    return { source, usage: { ...usage, outputTokens: 0, imageOutputTokens: usage.outputTokens } }
  return { source: 'estimated', usage: { ...usage, imageOutputTokens: images * IMAGE_TOKENS } }
}

/** The prices of the service tier that the reply was served in, at its end. `auto` repeats the request: it names none. */
function servedPricing(
  { pricing, unreportedTier, endedAt }: SettlementContext,
  served: string | null,
): Pricing {
  if (pricing.serviceTiers === undefined && pricing.hours === undefined) return pricing
  const isReported = served !== null && served !== 'auto'
  return pricingAt(pricing, isReported ? serviceTierOf(served) : unreportedTier, endedAt)
}

/** docs/compatibility.md: a failure before any content is free; an estimate is more than 0 and never more than the hold. */
function costFor(
  ending: Ending,
  { usage, source }: Counted,
  pricing: Pricing,
  { holdNanoUsd, isDelegated }: SettlementContext,
): Cost {
  if (ending === 'failed') return FREE
  const cost = costOf(usage, pricing)
  const reportedNanoUsd = Math.round((usage.providerCostUsd ?? Number.NaN) * NANO)
  if (isDelegated && source === 'provider' && Number.isSafeInteger(reportedNanoUsd))
    return boundedTo(reportedNanoUsd, cost)
  // Usage that cannot be true, or beyond the ledger's range, is bounded by the reservation, like an estimate.
  if (source === 'provider' && isPlausible(usage) && Number.isSafeInteger(cost.totalNanoUsd)) return cost
  const totalNanoUsd = Math.min(holdNanoUsd, Math.max(cost.totalNanoUsd, isPriced(pricing) ? 1 : 0))
  return boundedTo(totalNanoUsd, cost)
}
const NANO = 1e9

function boundedTo(totalNanoUsd: number, cost: Cost): Cost {
  const promptNanoUsd = Math.min(cost.promptNanoUsd, totalNanoUsd)
  return {
    ...cost,
    totalNanoUsd,
    promptNanoUsd,
    completionNanoUsd: Math.min(cost.completionNanoUsd, totalNanoUsd - promptNanoUsd),
  }
}
