import type { Attempt } from '../../core/attempt.ts'
import { UpstreamError } from '../../core/errors.ts'
import type { InferenceFrames, JsonObject } from '../../core/events.ts'
import { defined } from '../../core/json.ts'
import type { ImagesRequest } from '../../core/operation.ts'
import type { ContentPart, InferenceRequest } from '../../core/request.ts'
import type { Egress } from '../dialect.ts'
import type { ImageEgress } from '../operation.ts'
import { sidesOf } from './image-shape.ts'
import { malformed } from './reply.ts'

/** A model with text and image output (Gemini's, OpenAI's behind chat) makes an image in a conversation. */
export const conversationImages = (egressOf: (attempt: Attempt) => Egress): ImageEgress => ({
  isSingle: true,
  cannot({ count, stream, mask }) {
    if (mask) return 'takes no mask with this model: describe the change in the prompt'
    return count > 1 && stream ? 'streams one image at a time with this model: set "n" to 1' : null
  },
  build(request, attempt) {
    const call = egressOf(attempt).build(asConversation(request), attempt)
    const dropped = (['quality', 'background', 'output_format', 'output_compression'] as const).filter(
      (name) => request.body[name] !== undefined && request.body[name] !== null,
    )
    const sides = sidesOf(request.size ?? '')
    const hasPixels = sides !== null && !isKnownShape(sides)
    return { ...call, dropped: [...call.dropped, ...dropped, ...(hasPixels ? ['size'] : [])] }
  },
  async *read(reply, request, attempt): InferenceFrames {
    let hasImage = false
    for await (const batch of egressOf(attempt).read(reply, request.stream)) {
      for (const { events } of batch) {
        for (const event of events) {
          if (event.type === 'image') hasImage = true
          if (event.type === 'response-end' && !hasImage) {
            throw unpainted(event.finishes.some(({ reason }) => reason === 'content_filter'))
          }
        }
      }
      yield batch
    }
  },
})

const unpainted = (isFiltered: boolean): UpstreamError =>
  isFiltered
    ? new UpstreamError('unsuitable', 'The provider made no image: its filter refused the prompt', {
        status: 400,
        errorType: 'content_policy_violation',
      })
    : malformed('the model answered with words and no image')

/** The same request as a conversation. Aspect ratio and resolution become `image_config`, which the dialects know. */
function asConversation(request: ImagesRequest): InferenceRequest {
  const { prompt, references, aspectRatio = shapeOf(request), resolution, seed } = request
  const config = defined({
    aspect_ratio: aspectRatio === 'auto' ? undefined : aspectRatio,
    image_size: resolution,
  })
  const hasConfig = Object.keys(config).length > 0
  const content: ContentPart[] = [
    { type: 'text', text: prompt },
    ...references.map(({ url }) => ({ type: 'image' as const, url })),
  ]
  const body: JsonObject = defined({
    model: request.models[0],
    messages: [
      {
        role: 'user',
        content:
          references.length === 0
            ? prompt
            : [
                { type: 'text', text: prompt },
                ...references.map(({ url }) => ({ type: 'image_url', image_url: { url } })),
              ],
      },
    ],
    modalities: ['image', 'text'],
    image_config: hasConfig ? config : undefined,
    seed,
    user: request.user,
  })
  return defined<InferenceRequest>({
    ...request,
    body,
    messages: [{ role: 'user', content }],
    tools: [],
    sampling: seed === undefined ? {} : { seed },
    modalities: ['image', 'text'],
    echoUpstreamBody: false,
  })
}

type Sides = NonNullable<ReturnType<typeof sidesOf>>

const KNOWN_SHAPES = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']
const isKnownShape = (sides: Sides): boolean => KNOWN_SHAPES.includes(reduced(sides))

/** The size in pixels as an aspect ratio, if these models know it. */
function shapeOf({ size }: ImagesRequest): string | undefined {
  const sides = sidesOf(size ?? '')
  return sides !== null && isKnownShape(sides) ? reduced(sides) : undefined
}

function reduced({ width, height }: Sides): string {
  let [a, b] = [width, height]
  while (b > 0) [a, b] = [b, a % b]
  return `${width / a}:${height / a}`
}
