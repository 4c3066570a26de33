import { type Static, Type as t } from '@sinclair/typebox'
import { badRequest } from '../../core/errors.ts'
import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import {
  BACKGROUNDS,
  IMAGE_FORMATS,
  IMAGE_QUALITIES,
  IMAGE_RATIOS,
  IMAGE_RESOLUTIONS,
} from '../../core/image-words.ts'
import { defined } from '../../core/json.ts'
import type { ImagesRequest, ImagesResult, MadeImage } from '../../core/operation.ts'
import type { Closing } from '../../core/result.ts'
import { completionTokens, promptTokens } from '../../core/usage.ts'
import { readRouting } from '../caller-fields.ts'
import { routingFields } from '../caller-schema.ts'
import type { StreamWriter } from '../dialect.ts'
import { bounded, oneOf, openObject, optional } from '../fields.ts'
import { bodyCheck } from '../mismatch.ts'
import type { ImageNative, OperationContext, OperationIngress } from '../operation.ts'
import { viewCost, viewMetadata } from '../usage.ts'
import { modelField } from './fields.ts'
import { base64OfDataUrl, imageTypeOf, readShape } from './image-shape.ts'

const reference = openObject({
  type: t.Literal('image_url'),
  image_url: openObject({ url: t.String({ minLength: 1, description: 'An https URL or a data URL' }) }),
})

export const imagesBody = bounded(
  openObject({
    prompt: t.String({ minLength: 1 }),
    model: modelField('Absent: the default image model of the workspace'),
    n: optional(t.Integer({ minimum: 1, maximum: 10, description: 'How many; default 1' })),
    aspect_ratio: optional(oneOf(IMAGE_RATIOS)),
    resolution: optional(oneOf(IMAGE_RESOLUTIONS)),
    size: optional(t.String({ description: '`WIDTHxHEIGHT`, a resolution (`1K`, `2K`, `4K`), or `auto`' })),
    quality: optional(oneOf(IMAGE_QUALITIES)),
    background: optional(oneOf(BACKGROUNDS)),
    output_format: optional(oneOf(IMAGE_FORMATS)),
    output_compression: optional(t.Integer({ minimum: 0, maximum: 100 })),
    seed: optional(t.Integer()),
    input_references: optional(
      t.Array(reference, { maxItems: 16, description: 'Images that the new one is based on' }),
    ),
    mask: optional(reference),
    partial_images: optional(
      t.Integer({
        minimum: 0,
        maximum: 3,
        description: 'Streams: how many drafts, where the model makes them',
      }),
    ),
    // Accepted and ignored: images are always `b64_json`, because Sluice hosts no images.
    response_format: optional(oneOf(['b64_json', 'url'])),
    stream: optional(t.Boolean({ default: false })),
    ...routingFields,
  }),
)
type ImagesBody = Static<typeof imagesBody>

const checkBody = bodyCheck(imagesBody)

/** POST /images, and POST /images/generations as OpenAI's clients call it. */
export const imagesIngress: OperationIngress<ImagesRequest, ImagesResult> = {
  parse(input, headers) {
    const body = checkBody(input)
    if (body.mask && !body.input_references?.length) {
      throw badRequest('needs an image that it is for, in "input_references"', 'mask')
    }
    return defined<ImagesRequest>({
      ...readRouting('image', body, headers),
      stream: body.stream === true,
      prompt: body.prompt,
      count: body.n ?? 1,
      ...readShape(body.size, body.resolution, body.aspect_ratio),
      ...readLooks(body),
      references: (body.input_references ?? []).map(({ image_url: { url } }, index) => ({
        url,
        path: `input_references[${index}].image_url.url`,
      })),
      mask: body.mask ? { url: body.mask.image_url.url, path: 'mask.image_url.url' } : undefined,
    })
  },
  writeReply: ({ images, native }, reply, closing) => ({
    ...native,
    created: reply.created,
    id: reply.generationId,
    model: reply.model,
    provider: reply.providerName,
    data: images.map(writeImage),
    usage: viewUsage(closing),
    ...viewMetadata(closing.serviceMetadata),
  }),
}

const readLooks = (body: ImagesBody) => ({
  aspectRatio: body.aspect_ratio ?? undefined,
  quality: body.quality ?? undefined,
  background: body.background ?? undefined,
  outputFormat: body.output_format ?? undefined,
  outputCompression: body.output_compression ?? undefined,
  seed: body.seed ?? undefined,
})

const writeImage = ({ base64, mediaType, native }: MadeImage): JsonObject => ({
  ...native,
  b64_json: base64,
  ...(mediaType === null ? {} : { media_type: mediaType }),
})

/** Under this API's names and under those of OpenAI's image clients. */
function viewUsage(closing: Closing): JsonObject {
  const { usage } = closing
  const prompt = promptTokens(usage)
  const completion = completionTokens(usage)
  const textIn = prompt - usage.imageInputTokens
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens, image_tokens: usage.imageInputTokens },
    completion_tokens_details: {
      image_tokens: usage.imageOutputTokens,
      reasoning_tokens: usage.reasoningTokens,
    },
    input_tokens: prompt,
    output_tokens: completion,
    input_tokens_details: { text_tokens: textIn, image_tokens: usage.imageInputTokens },
    ...viewCost(closing),
  }
}

/** Collects finished images from the events. */
export function madeImages(events: readonly InferenceEvent[], made: MadeImage[], reply: JsonObject): void {
  for (const event of events) {
    if (event.type === 'image') {
      const base64 = base64OfDataUrl(event.url) ?? ''
      made.push({ base64, mediaType: imageTypeOf(base64), native: {} })
      continue
    }
    const data = nativeOf(event)
    const last = made.at(-1)
    if (data?.type === 'image' && last) Object.assign(last.native, data.fields)
    if (data?.type === 'reply') Object.assign(reply, data.fields)
  }
}

/** The data of a `native` event of an image reader; undefined for any other event. */
function nativeOf(event: InferenceEvent): ImageNative | undefined {
  return event.type === 'native' && isImageNative(event.data) ? event.data : undefined
}

const isImageNative = (data: unknown): data is ImageNative =>
  typeof data === 'object' &&
  data !== null &&
  'type' in data &&
  (data.type === 'partial' || data.type === 'image' || data.type === 'reply')

const data = (event: JsonObject): string => `data: ${JSON.stringify(event)}\n\n`
const DONE = 'data: [DONE]\n\n'

/**
 * api-surface §24 (`image_edit` instead of `image_generation` on OpenAI's edit route): drafts and text as they arrive;
 * `image_generation.completed` for each image after the generation is on the ledger, the last one with the usage; then
 * `[DONE]`. A failure is an `error` event and `[DONE]`.
 */
export function writeImageStream(reply: OperationContext<ImagesRequest>): StreamWriter {
  const kind = reply.request.isEdit === true ? 'image_edit' : 'image_generation'
  const made: MadeImage[] = []
  const ofReply: JsonObject = {}
  return {
    echo: () => '',
    write({ events }) {
      madeImages(events, made, ofReply)
      let text = ''
      for (const event of events) text += draftOf(event, kind)
      return text
    },
    end(closing) {
      const completed = made.map((image, index) =>
        data({
          ...ofReply,
          ...writeImage(image),
          type: `${kind}.completed`,
          created: reply.created,
          ...(index === made.length - 1
            ? { usage: viewUsage(closing), ...viewMetadata(closing.serviceMetadata) }
            : {}),
        }),
      )
      return completed.join('') + DONE
    },
    fail({ status, message, metadata }) {
      const error = {
        message,
        code: String(status),
        type: metadata?.['error_type'] ?? 'server',
        param: null,
        ...(metadata ? { metadata } : {}),
      }
      return data({ type: 'error', error, ...viewMetadata(reply.routing?.() ?? null) }) + DONE
    },
  }
}

function draftOf(event: InferenceEvent, kind: string): string {
  if (event.type === 'text-delta' || event.type === 'reasoning-delta') {
    const phase = event.type === 'text-delta' ? 'content' : 'reasoning'
    return event.text === '' ? '' : data({ type: `${kind}.text_chunk`, phase, text: event.text })
  }
  const native = nativeOf(event)
  if (native?.type !== 'partial') return ''
  return data({
    type: `${kind}.partial_image`,
    b64_json: native.base64,
    partial_image_index: native.index,
  })
}
