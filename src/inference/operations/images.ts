import type { Attempt } from '../../core/attempt.ts'
import { throwIfCancelled } from '../../core/cancellation.ts'
import type { InferenceFrame, InferenceFrames, JsonObject } from '../../core/events.ts'
import type { ImageReference, ImagesRequest, ImagesResult, MadeImage } from '../../core/operation.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import type { Closing } from '../../core/result.ts'
import type { DialectCall } from '../../dialects/dialect.ts'
import type { ImageEgress } from '../../dialects/operation.ts'
import { imagesIngress, madeImages, writeImageStream } from '../../dialects/operations/images.ts'
import { imageEgressFor } from '../../dialects/operations.ts'
import { readErrorReply } from '../../dialects/read-error.ts'
import { textReply } from '../../http/text-reply.ts'
import { admitUnits, tokensOfUnits } from '../admission/admit.ts'
import type { Generation, Opening, RunDeps } from '../generation.ts'
import { begin, end } from '../pipeline.ts'
import { jsonHeaders } from '../reply/headers.ts'
import { streamResponse } from '../reply/stream.ts'
import { createTextStream, type TextStream } from '../reply/text-stream.ts'
import { countedContent } from '../request/url-contents.ts'
import { inputNeeds } from '../routing/needs.ts'
import { fail, settle } from '../settle.ts'
import { type CallCodec, callEndpoint, tryAttempts } from '../upstream/attempts.ts'
import { type Dispatched, untilContent, upstreamIdOf } from '../upstream/first-content.ts'
import { createImageMeter, type ImageMeter, imagesBound } from './image-meter.ts'
import { readReference, withContent } from './image-urls.ts'
import { contextOf } from './run.ts'

type ImagesGeneration = Generation<ImageMeter, ImagesRequest>

/** Images, streamed or not. */
export async function runImages(opening: Opening<ImagesRequest>, deps: RunDeps): Promise<Response> {
  const generation = await beginImages(opening, deps)
  if (generation.request.stream) return streamResponse(streamedImages(generation))
  const { images, native, attempt, closing } = await completeImages(generation)
  const context = contextOf(generation, attempt, native)
  const body = imagesIngress.writeReply({ images, native }, context, closing)
  return textReply(JSON.stringify(body), jsonHeaders(generation))
}

/** Images in one reply, settled. Throws the caller's error. */
export const drawImages = async (opening: Opening<ImagesRequest>, deps: RunDeps): Promise<Drawing> =>
  completeImages(await beginImages(opening, deps))

async function beginImages(opening: Opening<ImagesRequest>, deps: RunDeps): Promise<ImagesGeneration> {
  const request = await withReferences(opening, deps)
  return begin<ImageMeter, ImagesRequest>(
    { ...opening, request },
    {
      refusal: (dialect, endpoint) => {
        const egress = imageEgressFor(dialect, endpoint)
        if (!egress) return `is called in the dialect ${dialect}, which does not support images`
        return egress.cannot?.(request, endpoint) ?? null
      },
      needs: request.references.length > 0 ? inputNeeds(['image']) : undefined,
      meter: createImageMeter(deps.now, opening.startedAt, request),
      tokens: (attempts) => tokensOfUnits(() => imagesBound(request), attempts),
      admit: (attempts, claiming) => admitUnits(() => imagesBound(request), attempts, claiming),
    },
    deps,
  )
}

/** Replaces the URLs of references by their contents. */
async function withReferences(
  { request, incoming, signal }: Opening<ImagesRequest>,
  deps: RunDeps,
): Promise<ImagesRequest> {
  const fetchContent = countedContent(deps.fetchContent, incoming.body)
  const read = async (reference: ImageReference): Promise<ImageReference> => ({
    ...reference,
    url: await readReference(reference, fetchContent, signal),
  })
  const references = await Promise.all(request.references.map(read))
  const { mask } = request
  return { ...request, references, ...(mask ? { mask: await read(mask) } : {}) }
}

function egressOf({ dialect, endpoint }: Attempt): ImageEgress {
  const egress = imageEgressFor(dialect, endpoint)
  if (!egress) throw new Error(`planned in the dialect ${dialect}, which does not support images`)
  return egress
}

/** Frames whose images are data URLs: a provider's URLs are fetched here. */
const framesOf = (
  { request, deps, cancellation }: ImagesGeneration,
  reply: UpstreamReply,
  attempt: Attempt,
): InferenceFrames =>
  withContent(egressOf(attempt).read(reply, request, attempt), attempt, deps, cancellation)

const codecOf = <Answer>(
  read: CallCodec<Answer, ImagesGeneration>['read'],
): CallCodec<Answer, ImagesGeneration> => ({
  build: (attempt, { request }): DialectCall => egressOf(attempt).build(request, attempt),
  read,
  readError: (_, status, headers, text) => readErrorReply(status, headers, text),
})

async function collected(
  generation: ImagesGeneration,
  reply: UpstreamReply,
  attempt: Attempt,
): Promise<InferenceFrame[]> {
  const frames: InferenceFrame[] = []
  for await (const batch of framesOf(generation, reply, attempt)) frames.push(...batch)
  return frames
}

/** For models with one image per call, the remaining images are requested in parallel. */
const completeCodec: CallCodec<InferenceFrame[], ImagesGeneration> = codecOf(
  async (reply, attempt, generation) => {
    const first = await collected(generation, reply, attempt)
    const copies = egressOf(attempt).isSingle ? generation.request.count - 1 : 0
    const others = Array.from({ length: copies }, async () =>
      collected(generation, (await callEndpoint(completeCodec, attempt, generation)).reply, attempt),
    )
    // A reply with fewer images than requested succeeds.
    const more = (await Promise.allSettled(others)).flatMap((other) =>
      other.status === 'fulfilled' ? other.value : [],
    )
    throwIfCancelled(generation.cancellation)
    return { answer: [...first, ...more], upstreamId: upstreamIdOf(first) }
  },
)

/** Settled images, and the fields of the reply that they came with. */
interface Drawing extends ImagesResult {
  readonly attempt: Attempt
  readonly closing: Closing
}

async function completeImages(generation: ImagesGeneration): Promise<Drawing> {
  try {
    const answered = await tryAttempts(completeCodec, generation)
    generation.dropped = answered.dropped
    const images: MadeImage[] = []
    const native: JsonObject = {}
    for (const frame of answered.answer) {
      generation.meter.see(frame)
      generation.content?.see(frame)
      madeImages(frame.events, images, native)
    }
    const closing = await settle(generation, 'complete')
    return { images, native, attempt: answered.attempt, closing }
  } catch (error) {
    throw await fail(generation, error)
  } finally {
    end(generation)
  }
}

/** True for drafts, text and images, which the caller sees. */
const isVisible = ({ events }: InferenceFrame): boolean =>
  events.some(({ type }) => type !== 'response-start' && type !== 'usage')

const streamCodec: CallCodec<InferenceFrames, ImagesGeneration> = codecOf((reply, attempt, generation) =>
  untilContent(framesOf(generation, reply, attempt), isVisible),
)

function streamedImages(generation: ImagesGeneration): TextStream {
  const writerFor = (attempt: Attempt | undefined) => writeImageStream(contextOf(generation, attempt, {}))
  return createTextStream({
    generation,
    starting: tryAttempts(streamCodec, generation).then(
      ({ attempt, answer, dropped }): Dispatched => ({ attempt, frames: answer, dropped }),
    ),
    open: ({ attempt }) => writerFor(attempt),
    unansweredWriter: () => writerFor(generation.current ?? generation.attempts[0]),
  })
}
