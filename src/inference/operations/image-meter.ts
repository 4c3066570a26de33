import type { Finish, InferenceFrame } from '../../core/events.ts'
import type { ImagesRequest } from '../../core/operation.ts'
import type { Pricing } from '../../core/snapshot.ts'
import { addedUsage, inputOf, NO_USAGE, type Usage } from '../../core/usage.ts'
import { PIXELS, sidesOf } from '../../dialects/operations/image-shape.ts'
import { partTokens, textTokens } from '../admission/estimate.ts'
import { type Counted, type Ending, type Meter, settledAs } from '../reply/meter.ts'

export type ImageMeter = Meter

/** The maximum text tokens of a model that generates text and images. */
const WORDS_TOKENS = 1_024
/** Tokens per image of one megapixel, by quality: the higher of OpenAI's and Google's tables, rounded up. */
const TOKENS: Readonly<Record<string, number>> = { low: 420, medium: 1_700, standard: 1_700 }
const MOST_TOKENS = 6_400
const USUAL_TOKENS = 1_700
const MEGAPIXEL = 1024 * 1024

/** The maximum usage of the request. */
export function imagesBound(request: ImagesRequest): Usage {
  const { prompt, references, count, quality } = request
  return {
    ...NO_USAGE,
    // Per image: some models need one call for each.
    inputTokens: count * (textTokens(prompt) + 8),
    imageInputTokens:
      count * references.reduce((sum, { url }) => sum + partTokens({ type: 'image', url }), 0),
    outputTokens: count * WORDS_TOKENS,
    imageOutputTokens: count * Math.ceil((TOKENS[quality ?? ''] ?? MOST_TOKENS) * megapixels(request)),
    images: count,
  }
}

/** At least 1: smaller images cost about as much. */
function megapixels({ size, resolution }: ImagesRequest): number {
  const sides = sidesOf(size ?? '')
  const pixels = sides ? sides.width * sides.height : PIXELS[resolution ?? '1K'] ** 2
  return Math.max(1, pixels / MEGAPIXEL / LARGER_SHAPES)
}
/** The tables above include 1536x1024. */
const LARGER_SHAPES = 1.5

/** Counts images as their frames pass. */
export function createImageMeter(now: () => number, startedAt: number, request: ImagesRequest): ImageMeter {
  let upstreamId: string | null = null
  /** The usage of the current reply, and the sum of the previous ones. */
  let usage: Usage | null = null
  let closed: Usage | null = null
  let images = 0
  let firstContentAt: number | null = null
  let finishes: Finish[] = []

  function see({ events }: InferenceFrame): void {
    for (const event of events) {
      if (event.type === 'response-start') upstreamId = event.upstreamId ?? upstreamId
      else if (event.type === 'usage') usage = event.usage
      else if (event.type === 'response-end') {
        finishes = event.finishes
        closed = sumOf(closed, usage)
        usage = null
      } else firstContentAt ??= now()
      if (event.type === 'image') images += 1
    }
  }

  return {
    see,
    serviceTier: null,
    get finishes() {
      return finishes
    },
    settlement: (ending, context) =>
      settledAs(ending, context, {
        counted: count(ending, request, images, sumOf(closed, usage), context.pricing),
        upstreamId,
        finish: finishes[0],
        startedAt,
        firstContentAt,
        serviceTier: null,
      }),
  }
}

const sumOf = (left: Usage | null, right: Usage | null): Usage | null =>
  left && right ? addedUsage(left, right) : (left ?? right)

function count(
  ending: Ending,
  request: ImagesRequest,
  images: number,
  reported: Usage | null,
  pricing: Pricing,
): Counted {
  if (ending === 'failed') return { usage: NO_USAGE, source: 'none' }
  if (reported !== null) return { usage: { ...reported, images }, source: 'provider' }
  const input = inputOf(imagesBound(request))
  // If only images have a price, their number is exact.
  if (images > 0 && pricing.prompt === 0n && isPerImage(pricing)) {
    return { usage: { ...NO_USAGE, images }, source: 'provider' }
  }
  const each = TOKENS[request.quality ?? ''] ?? USUAL_TOKENS
  return { usage: { ...input, imageOutputTokens: images * each, images }, source: 'estimated' }
}

const isPerImage = ({ image, request, completion, imageOutput }: Pricing): boolean =>
  (image ?? 0n) > 0n || (request > 0n && completion === 0n && (imageOutput ?? 0n) === 0n)
