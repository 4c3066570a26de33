import type { Attempt } from '../../core/attempt.ts'
import type { Finish, InferenceFrame, JsonObject } from '../../core/events.ts'
import type { AttemptOutcome, JournalEntry, Settlement } from '../../core/generation.ts'
import { type Pricing, pricingAt, type ServiceTier, serviceTierOf } from '../../core/pricing.ts'
import {
  completionTokens,
  estimateTokens,
  NO_USAGE,
  promptTokens,
  type Usage,
  type UsageSource,
} from '../../core/usage.ts'
import { type Cost, costOf, FREE, isPriced } from '../admission/price.ts'

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
  /** The service tier that the caller requested, and that was sent; undefined: none, or one without its own price. */
  requestedTier: ServiceTier | undefined
  /** The maximum charge if usage is estimated. */
  holdNanoUsd: number
  router: string
  endedAt: number
}

export function createMeter(now: () => number, startedAt: number): Meter {
  let upstreamId: string | null = null
  let usage: Usage | null = null
  let serviceTier: string | null = null
  let finishes: Finish[] = []
  let firstContentAt: number | null = null
  let textLength = 0
  let reasoningLength = 0
  let images = 0

  function see(frame: InferenceFrame): void {
    for (const event of frame.events) {
      switch (event.type) {
        case 'text-delta':
        case 'refusal-delta':
          textLength += event.text.length
          if (event.text !== '') firstContentAt ??= now()
          break
        case 'reasoning-delta':
          reasoningLength += event.text.length
          if (event.text !== '') firstContentAt ??= now()
          break
        case 'tool-call-start':
          textLength += event.name.length
          firstContentAt ??= now()
          break
        case 'tool-call-delta':
          textLength += event.json.length
          break
        case 'image':
          images += 1
          firstContentAt ??= now()
          break
        case 'audio-delta':
          firstContentAt ??= now()
          break
        case 'response-start':
          upstreamId = event.upstreamId ?? upstreamId
          break
        case 'usage':
          usage = event.usage
          serviceTier = event.serviceTier ?? serviceTier
          break
        case 'response-end':
          finishes = event.finishes
      }
    }
  }

  return {
    see,
    settlement(ending, context) {
      const { promptTokensEstimate } = context.journal
      const texts = count(ending, usage, { textLength, reasoningLength }, promptTokensEstimate)
      const counted = withImages(texts, images, ending, context.pricing)
      const seen = { upstreamId, finish: finishes[0], startedAt, firstContentAt, serviceTier, images }
      return settledAs(ending, context, { counted, ...seen })
    },
    get finishes() {
      return finishes
    },
    get serviceTier() {
      return serviceTier
    },
  }
}

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
  const cost = isInVain ? FREE : costFor(ending, counted, pricing, context.holdNanoUsd)
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
      ...(delivered.images ? { answerImages: delivered.images } : {}),
      costNanoUsd: cost.totalNanoUsd,
      cacheDiscountNanoUsd: cost.cacheDiscountNanoUsd,
      latencyMs: Math.max(0, contentAt - startedAt),
      generationTimeMs: Math.max(0, endedAt - contentAt),
      endedAt,
      serviceTier: delivered.serviceTier,
      router: context.router,
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

/** The prices of the service tier that the provider reports, else of the requested one, at the reply's end. */
function servedPricing(
  { pricing, requestedTier, endedAt }: SettlementContext,
  served: string | null,
): Pricing {
  if (pricing.serviceTiers === undefined && pricing.hours === undefined) return pricing
  return pricingAt(pricing, served === null ? requestedTier : serviceTierOf(served), endedAt)
}

/** docs/compatibility.md: a failure before any content is free; an estimate is more than 0 and never more than the hold. */
function costFor(ending: Ending, { usage, source }: Counted, pricing: Pricing, holdNanoUsd: number): Cost {
  if (ending === 'failed') return FREE
  const cost = costOf(usage, pricing)
  // Usage beyond the ledger's range is an error of the provider: bounded by the reservation, like an estimate.
  if (source === 'provider' && Number.isSafeInteger(cost.totalNanoUsd)) return cost
  const totalNanoUsd = Math.min(holdNanoUsd, Math.max(cost.totalNanoUsd, isPriced(pricing) ? 1 : 0))
  const promptNanoUsd = Math.min(cost.promptNanoUsd, totalNanoUsd)
  return {
    ...cost,
    totalNanoUsd,
    promptNanoUsd,
    completionNanoUsd: Math.min(cost.completionNanoUsd, totalNanoUsd - promptNanoUsd),
  }
}
