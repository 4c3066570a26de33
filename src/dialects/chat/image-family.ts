import type { JsonObject } from '../../core/events.ts'
import { defined } from '../../core/json.ts'
import type { ImagesRequest } from '../../core/operation.ts'
import { askedRatio, pixelsOf, ratioOf, sidesOf } from '../operations/image-shape.ts'

/** The image parameters of one family of models. */
interface Family {
  readonly names: RegExp
  /** Answers a stream with drafts. */
  readonly streams: boolean
  /** Takes what to start from in JSON, and no form. */
  readonly editsInJson?: boolean
  write(request: ImagesRequest, dropped: string[]): JsonObject
}

const families: readonly Family[] = [
  {
    // Three sizes, or pixels of the caller's own; no seed; no word above `high`.
    names: /gpt-image|chatgpt-image/i,
    streams: true,
    write(request, dropped) {
      dropSeed(request, dropped)
      const { quality } = request
      if (request.resolution !== undefined && request.resolution !== '1K') dropped.push('resolution')
      const known = ['low', 'medium', 'high', 'auto'].includes(quality ?? '')
        ? quality
        : QUALITIES[quality ?? '']
      return defined({
        size: nearest(request, ['1024x1024', '1536x1024', '1024x1536'], dropped),
        quality: known,
      })
    },
  },
  {
    names: /dall-e-2/i,
    streams: false,
    write(request, dropped) {
      dropSeed(request, dropped)
      if (request.quality !== undefined && request.quality !== 'standard') dropped.push('quality')
      const size = nearest(request, ['1024x1024'], dropped)
      return defined({ size, response_format: 'b64_json' })
    },
  },
  {
    names: /dall-e/i,
    streams: false,
    write(request, dropped) {
      dropSeed(request, dropped)
      const { quality } = request
      const isFine = quality !== undefined && ['high', 'xhigh', 'max', 'hd'].includes(quality)
      return defined({
        size: nearest(request, ['1024x1024', '1792x1024', '1024x1792'], dropped),
        quality: quality === undefined || quality === 'auto' ? undefined : isFine ? 'hd' : 'standard',
        response_format: 'b64_json',
      })
    },
  },
  {
    // xAI takes shapes and resolutions by these names, and no pixels.
    names: /grok/i,
    streams: false,
    editsInJson: true,
    write(request, dropped) {
      dropSeed(request, dropped)
      if (request.quality !== undefined && request.quality !== 'auto') dropped.push('quality')
      const isPixels = sidesOf(request.size ?? '') !== null
      if (isPixels && askedRatio(request) !== 1) dropped.push('size')
      return defined({
        aspect_ratio: request.aspectRatio ?? (isPixels && askedRatio(request) === 1 ? '1:1' : undefined),
        resolution: request.resolution?.toLowerCase(),
        response_format: 'b64_json',
      })
    },
  },
]

/** All others receive pixels and the caller's own values. */
const OTHERS: Family = {
  names: /(?:)/,
  streams: false,
  write: (request) => defined({ size: pixelsOf(request), quality: request.quality, seed: request.seed }),
}

export const familyOf = (upstreamId: string): Family =>
  families.find(({ names }) => names.test(upstreamId)) ?? OTHERS

const QUALITIES: Readonly<Record<string, string>> = {
  xhigh: 'high',
  max: 'high',
  hd: 'high',
  standard: 'medium',
}

function dropSeed({ seed }: ImagesRequest, dropped: string[]): void {
  if (seed !== undefined) dropped.push('seed')
}

/** The caller's pixels as they are; else the size of the nearest shape, and the shape is named if it is another. */
function nearest(request: ImagesRequest, sizes: readonly string[], dropped: string[]): string | undefined {
  const { size, aspectRatio } = request
  if (size !== undefined) return size
  const ratio = ratioOf(aspectRatio)
  if (ratio === null) return aspectRatio === 'auto' ? 'auto' : undefined
  const distance = (candidate: string): number => {
    const { width, height } = sidesOf(candidate) ?? { width: 1, height: 1 }
    return Math.abs(Math.log(width / height / ratio))
  }
  const [best] = sizes.toSorted((a, b) => distance(a) - distance(b))
  if (best !== undefined && distance(best) > 0.03) dropped.push('aspect_ratio')
  return best
}
