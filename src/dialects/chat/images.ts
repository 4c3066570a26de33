import { UpstreamError } from '../../core/errors.ts'
import type { FrameBatch, InferenceEvent, InferenceFrames, JsonObject } from '../../core/events.ts'
import { asList, asText, fieldsOf, isObject, isString } from '../../core/json.ts'
import type { ImageReference, ImagesRequest } from '../../core/operation.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import { words } from '../../core/words.ts'
import type { ImageEgress, ImageNative } from '../operation.ts'
import { nativeOf } from '../operations/embeddings.ts'
import { forwardedBody } from '../operations/fields.ts'
import { base64OfDataUrl, dataUrlOf, imageTypeOf, isBase64 } from '../operations/image-shape.ts'
import { imageLimit } from '../operations/model-limits.ts'
import { costOf, countOf, malformed, readJsonObject } from '../operations/reply.ts'
import { errorInReply, isErrorBody } from '../read-error.ts'
import { parseReply } from '../reply-decoder.ts'
import { createSseParser } from '../sse.ts'
import { familyOf } from './image-family.ts'

/** Written by the family of the model, in its own words. */
const OWN_FIELDS = words(`
  input_references mask aspect_ratio resolution size quality seed stream partial_images response_format
`)

/**
 * OpenAI's `/images/generations`, and `/images/edits` as a form if there are images to start from. Sizes, quality
 * and seed are what the model's family knows (see image-family.ts); parameters that it does not take are dropped by name.
 */
export const chatImages: ImageEgress = {
  cannot: imageLimit,
  build(request, attempt) {
    const dropped: string[] = []
    const family = familyOf(attempt.endpoint.upstreamId)
    const body = { ...forwardedBody(request, attempt, OWN_FIELDS), ...family.write(request, dropped) }
    if (request.stream && family.streams) {
      body['stream'] = true
      if (isNumber(request.body['partial_images'])) body['partial_images'] = request.body['partial_images']
    }
    if (request.references.length === 0) return { path: '/images/generations', headers: {}, body, dropped }
    const path = '/images/edits'
    return family.editsInJson
      ? { path, headers: {}, body: { ...body, ...startingFrom(request, dropped) }, dropped }
      : { path, headers: {}, body, form: formOf(request, body), dropped }
  },
  async *read(reply, request): InferenceFrames {
    const type = reply.headers.get('content-type') ?? ''
    if (/^text\/event-stream/i.test(type)) yield* readEvents(reply)
    else yield readBody(await readJsonObject(reply), request)
  },
}

const isNumber = (value: unknown): value is number => typeof value === 'number'

/** xAI's: `image` for one, else `images`. */
function startingFrom({ references, mask }: ImagesRequest, dropped: string[]): JsonObject {
  if (mask) dropped.push('mask')
  const images = references.map(({ url }) => ({ type: 'image_url', url }))
  return images.length === 1 ? { image: images[0] } : { images }
}

/** A list field is named `image[]`; one image alone goes as `image`, which every server knows. */
function formOf({ references, mask }: ImagesRequest, body: JsonObject): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) {
    form.append(name, isString(value) ? value : JSON.stringify(value))
  }
  const field = references.length === 1 ? 'image' : 'image[]'
  for (const [index, reference] of references.entries()) appendImage(form, field, `image-${index}`, reference)
  if (mask) appendImage(form, 'mask', 'mask', mask)
  return form
}

function appendImage(form: FormData, field: string, name: string, { url }: ImageReference): void {
  const base64 = base64OfDataUrl(url) ?? ''
  const type = imageTypeOf(base64) ?? 'image/png'
  const file = new Blob([Buffer.from(base64, 'base64')], { type })
  form.append(field, file, `${name}.${type.replace(/^image\/|\+xml$/g, '')}`)
}

function readBody(body: JsonObject, request: ImagesRequest): FrameBatch {
  const list = asList(body['data'])
  const events: InferenceEvent[] = [start(body)]
  for (const entry of list.slice(0, request.count)) events.push(...imageEvents(entry))
  if (events.length === 1) throw malformed('the reply has no image')
  events.push(native({ type: 'reply', fields: nativeOf(body, ['data', 'created', 'usage']) }))
  return [{ events: [...events, ...endOf(body['usage'])] }]
}

const start = (body: JsonObject): InferenceEvent => ({
  type: 'response-start',
  upstreamId: asText(body['id']) ?? null,
  model: null,
  created: isNumber(body['created']) ? body['created'] : null,
})

const native = (data: ImageNative): InferenceEvent => ({ type: 'native', dialect: 'chat', data })

const endOf = (rawUsage: unknown): InferenceEvent[] => {
  const usage = readImageUsage(rawUsage)
  return [
    ...(usage ? [{ type: 'usage' as const, usage }] : []),
    { type: 'response-end', finishes: [{ choice: 0, reason: 'stop', native: null }] },
  ]
}

function imageEvents(entry: unknown): InferenceEvent[] {
  if (!isObject(entry)) throw malformed('an image of the reply is not an object')
  const { b64_json, url } = entry
  const fields = nativeOf(entry, ['b64_json', 'url', 'type', 'usage', 'created_at'])
  const natives = Object.keys(fields).length > 0 ? [native({ type: 'image', fields })] : []
  if (isString(b64_json) && isBase64(b64_json)) {
    return [{ type: 'image', choice: 0, url: dataUrlOf(b64_json, imageTypeOf(b64_json)) }, ...natives]
  }
  if (isString(url) && isImageUrl(url)) return [{ type: 'image', choice: 0, url }, ...natives]
  throw malformed('an image of the reply has neither data nor an address')
}

/** An address, or the content itself. */
const isImageUrl = (url: string): boolean => /^https?:\/\//i.test(url) || isBase64(base64OfDataUrl(url) ?? '')

/** `image_generation.*` and `image_edit.*`: drafts, then each complete image with the usage so far. */
async function* readEvents({ bytes, status, awaitContent }: UpstreamReply): InferenceFrames {
  const advance = awaitContent?.()
  const sse = createSseParser()
  let usage: unknown
  let hasImage = false
  const take = (data: string): InferenceEvent[] => {
    if (data === '[DONE]') return []
    const event = parse(data)
    if (isErrorBody(event) || event['type'] === 'error') throw errorInReply(event, status)
    const kind = String(event['type'])
    if (kind.endsWith('.partial_image')) return partial(event)
    if (!kind.endsWith('.completed')) return []
    hasImage = true
    usage = event['usage'] ?? usage
    return imageEvents(event)
  }
  for await (const chunk of bytes) {
    for (const { data } of sse.push(chunk)) {
      const events = take(data)
      if (events.length === 0) continue
      advance?.()
      yield [{ events }]
    }
  }
  for (const { data } of sse.end()) {
    const events = take(data)
    if (events.length > 0) yield [{ events }]
  }
  if (!hasImage)
    throw new UpstreamError('truncated', 'the stream ended before an image was complete', { status })
  yield [{ events: endOf(usage) }]
}

function partial({ b64_json, partial_image_index }: JsonObject): InferenceEvent[] {
  if (!isString(b64_json) || !isBase64(b64_json)) return []
  const index = isNumber(partial_image_index) ? partial_image_index : 0
  return [native({ type: 'partial', base64: b64_json, index })]
}

function parse(data: string): JsonObject {
  const value = parseReply(data, 200)
  if (value === undefined) throw malformed('an event of the stream is not JSON')
  if (!isObject(value)) throw malformed('an event of the stream is not a JSON object')
  return value
}

/** OpenAI's: `input_tokens` and `output_tokens` with the part of each that was images. Null if nothing was counted. */
function readImageUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null
  const input = countOf(raw['input_tokens'] ?? raw['prompt_tokens'])
  const output = countOf(raw['output_tokens'] ?? raw['completion_tokens'])
  if (input === undefined && output === undefined) return null
  const inputDetails = fieldsOf(raw['input_tokens_details'])
  const outputDetails = fieldsOf(raw['output_tokens_details'])
  const images = Math.min(input ?? 0, countOf(inputDetails['image_tokens']) ?? 0)
  const cached = Math.min((input ?? 0) - images, countOf(inputDetails['cached_tokens']) ?? 0)
  const text = Math.min(output ?? 0, countOf(outputDetails['text_tokens']) ?? 0)
  return {
    ...NO_USAGE,
    inputTokens: (input ?? 0) - images - cached,
    cacheReadTokens: cached,
    imageInputTokens: images,
    outputTokens: text,
    imageOutputTokens: (output ?? 0) - text,
    ...costOf(raw),
  }
}
