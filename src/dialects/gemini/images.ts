import { UpstreamError } from '../../core/errors.ts'
import type { InferenceEvent, InferenceFrames, JsonObject } from '../../core/events.ts'
import { asList, asText, defined, fieldsOf, isString, objectsIn } from '../../core/json.ts'
import type { ImagesRequest } from '../../core/operation.ts'
import type { ImageEgress } from '../operation.ts'
import { providerOptions } from '../operations/fields.ts'
import { dataUrlOf, imageTypeOf, isBase64 } from '../operations/image-shape.ts'
import { malformed, readJsonObject } from '../operations/reply.ts'

/** Imagen's aspect ratios. */
const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9']

/**
 * Imagen's `predict`.
 *
 * | asked | Google's |
 * |---|---|
 * | `prompt` | `instances[0].prompt` |
 * | `n` (at most 4) | `parameters.sampleCount` |
 * | `aspect_ratio` | `parameters.aspectRatio` |
 * | `resolution` | `parameters.sampleImageSize` |
 * | `output_format`, `output_compression` | `parameters.outputOptions` |
 * | `seed` | `parameters.seed`, without the watermark that forbids it |
 * | `quality`, `background`, `size` in pixels, `user` | dropped by name |
 */
export const imagenImages: ImageEgress = {
  cannot({ count, references, mask }) {
    if (references.length > 0 || mask) return 'makes images from words alone with this model'
    return count > 4 ? 'makes at most 4 images at a time with this model' : null
  },
  build(request, { endpoint, provider }) {
    const dropped: string[] = []
    for (const name of ['quality', 'background', 'user'] as const) {
      if (request[name] !== undefined) dropped.push(name)
    }
    if (request.size !== undefined && request.size !== 'auto') dropped.push('size')
    const name = encodeURIComponent(endpoint.upstreamId.replace(/^models\//, ''))
    const parameters = { ...parametersOf(request, dropped), ...providerOptions(request.body, provider.slug) }
    return {
      path: `/models/${name}:predict`,
      headers: {},
      body: { instances: [{ prompt: request.prompt }], parameters },
      dropped,
    }
  },
  async *read(reply): InferenceFrames {
    const body = await readJsonObject(reply)
    const predictions = asList(body['predictions'])
    const images = predictions.flatMap(imageOf)
    if (images.length === 0) throw refusalOf(predictions)
    yield [
      {
        events: [
          { type: 'response-start', upstreamId: null, model: null, created: null },
          ...images,
          { type: 'response-end', finishes: [{ choice: 0, reason: 'stop', native: null }] },
        ],
      },
    ]
  },
}

function parametersOf(request: ImagesRequest, dropped: string[]): JsonObject {
  const { aspectRatio, resolution, seed, outputFormat, outputCompression } = request
  const isKnown = aspectRatio !== undefined && RATIOS.includes(aspectRatio)
  if (aspectRatio !== undefined && aspectRatio !== 'auto' && !isKnown) dropped.push('aspect_ratio')
  const isMade = resolution === '1K' || resolution === '2K'
  if (resolution !== undefined && !isMade) dropped.push('resolution')
  return defined({
    sampleCount: request.count,
    aspectRatio: isKnown ? aspectRatio : undefined,
    sampleImageSize: isMade ? resolution : undefined,
    outputOptions:
      outputFormat === undefined
        ? undefined
        : defined({ mimeType: `image/${outputFormat}`, compressionQuality: outputCompression }),
    ...(seed === undefined ? {} : { seed, addWatermark: false }),
  })
}

function imageOf(prediction: unknown): InferenceEvent[] {
  const data = fieldsOf(prediction)['bytesBase64Encoded']
  if (!isString(data) || !isBase64(data)) return []
  return [{ type: 'image', choice: 0, url: dataUrlOf(data, imageTypeOf(data)) }]
}

/** The error for an answer without images: the filter's reason, if there is one. */
function refusalOf(predictions: readonly unknown[]): UpstreamError {
  const [reason] = objectsIn(predictions).flatMap(
    (prediction) => asText(prediction['raiFilteredReason']) ?? [],
  )
  if (reason === undefined) return malformed('the reply has no image')
  const options = { status: 400, errorType: 'content_policy_violation' } as const
  return new UpstreamError('unsuitable', reason.slice(0, 1_000), options)
}
