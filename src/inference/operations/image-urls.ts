import type { Attempt } from '../../core/attempt.ts'
import { type Cancellation, signalOf } from '../../core/cancellation.ts'
import { badRequest, GatewayError, UpstreamError } from '../../core/errors.ts'
import type { InferenceEvent, InferenceFrame, InferenceFrames } from '../../core/events.ts'
import type { ImageReference } from '../../core/operation.ts'
import { base64OfDataUrl, dataUrlOf, imageTypeOf, isBase64 } from '../../dialects/operations/image-shape.ts'
import type { FetchContent, RunDeps } from '../generation.ts'
import { dataUrlOf as fetchedDataUrl } from '../request/url-contents.ts'

const HTTP = /^https?:/i

/** The reference as a data URL. Throws a `GatewayError` 400 that names the field if it is not an image. */
export async function readReference(
  { url, path }: ImageReference,
  fetchContent: FetchContent,
  signal: AbortSignal,
): Promise<string> {
  if (HTTP.test(url)) return fetchedDataUrl(url, 'image', path, fetchContent, signal)
  // Bare base64 is an image too.
  const base64 = base64OfDataUrl(url) ?? (/^data:/i.test(url) ? '' : url)
  if (!isBase64(base64)) throw badRequest('must be an https URL, or a data URL in base64', path)
  const type = imageTypeOf(base64)
  if (!type?.startsWith('image/')) throw badRequest('is not an image: png, jpeg, webp and gif are', path)
  return dataUrlOf(base64.replace(/\s+/g, ''), type)
}

/** Replaces the images' URLs by their contents. Throws a `malformed` `UpstreamError` if one is not an image. */
export async function* withContent(
  frames: InferenceFrames,
  attempt: Attempt,
  deps: RunDeps,
  cancellation: Cancellation,
): InferenceFrames {
  for await (const batch of frames) {
    const frames: InferenceFrame[] = []
    for (const frame of batch) {
      const hasImage = frame.events.some(({ type }) => type === 'image')
      frames.push(hasImage ? { events: await withImages(frame.events, attempt, deps, cancellation) } : frame)
    }
    yield frames
  }
}

const withImages = (
  events: readonly InferenceEvent[],
  attempt: Attempt,
  deps: RunDeps,
  cancellation: Cancellation,
): Promise<InferenceEvent[]> =>
  Promise.all(
    events.map(async (event) => {
      if (event.type !== 'image') return event
      if (HTTP.test(event.url))
        return { ...event, url: await contentOf(event.url, attempt, deps, cancellation) }
      if (isBase64(base64OfDataUrl(event.url) ?? '')) return event
      throw unreadable('is neither base64 nor a URL')
    }),
  )

/**
 * A URL with the origin of the provider is fetched like its replies. Any other goes through the outbound guard, like URLs
 * of callers, so that a provider cannot make the gateway fetch from the operator's network.
 */
async function contentOf(
  url: string,
  attempt: Attempt,
  deps: RunDeps,
  cancellation: Cancellation,
): Promise<string> {
  const { provider } = attempt
  const isOwn = URL.parse(url)?.origin === URL.parse(provider.baseUrl)?.origin
  const bytes = isOwn
    ? await ownBytes(url, attempt, deps, cancellation)
    : await guardedBytes(url, deps.fetchContent, signalOf(cancellation))
  const base64 = Buffer.from(bytes).toString('base64')
  const type = imageTypeOf(base64)
  if (!type?.startsWith('image/')) throw unreadable('leads to no image')
  return dataUrlOf(base64, type)
}

async function ownBytes(
  url: string,
  { provider }: Attempt,
  deps: RunDeps,
  cancellation: Cancellation,
): Promise<Uint8Array> {
  const reply = await deps.upstream.send(
    { method: 'GET', url, headers: {}, body: undefined },
    {
      group: provider.slug,
      maxInFlight: provider.maxInFlight,
      timeouts: provider.timeouts,
      cancellation,
    },
  )
  if (reply.status !== 200) throw unreadable(`answered with status ${reply.status}`)
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of reply.bytes) {
    size += part.byteLength
    if (size > LIMIT_BYTES) throw unreadable('leads to too large an image')
    parts.push(part)
  }
  return Buffer.concat(parts)
}
const LIMIT_BYTES = 64 * 1024 * 1024

async function guardedBytes(
  url: string,
  fetchContent: FetchContent,
  signal: AbortSignal,
): Promise<Uint8Array> {
  try {
    const { status, bytes } = await fetchContent(url, signal)
    if (status < 200 || status > 299) throw unreadable(`answered with status ${status}`)
    return bytes
  } catch (error) {
    if (error instanceof GatewayError) throw unreadable('may not be called from here', error)
    throw error
  }
}

const unreadable = (why: string, cause?: unknown): UpstreamError =>
  new UpstreamError('malformed', `the address of an image in the reply ${why}`, { status: 200, cause })
