import type { Attempt } from '../../core/attempt.ts'
import type { InferenceFrame, InferenceFrames, JsonObject } from '../../core/events.ts'
import type { ImageReference, ImagesRequest, MadeImage } from '../../core/operation.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import type { DialectCall } from '../../dialects/dialect.ts'
import type { ImageSpeaker } from '../../dialects/image-speaker.ts'
import { imagesIngress, madeImages, writeImageStream } from '../../dialects/operations/images.ts'
import { imageSpeakerFor } from '../../dialects/operations.ts'
import { readErrorReply } from '../../dialects/read-error.ts'
import { jsonReply } from '../../http/json-reply.ts'
import { admitUnits, tokensOfUnits } from '../admission.ts'
import { type Asking, tryAttempts } from '../attempts.ts'
import { type Dispatched, untilContent, upstreamIdOf } from '../dispatch.ts'
import type { Exchange } from '../exchange.ts'
import { failed, jsonHeaders, type Opening, type RunDeps, withExchange } from '../opening.ts'
import { relay } from '../relay.ts'
import { countedContent } from '../url-contents.ts'
import { createImageMeter, type ImageMeter, imagesBound } from './image-meter.ts'
import { readReference, withContent } from './image-urls.ts'
import { contextOf, whileConnected } from './run.ts'

/** The whole story of one request for images, streamed or not. */
export async function runImages(input: Opening<ImagesRequest>, deps: RunDeps): Promise<Response> {
  const { startedAt, signal } = input
  const fetchContent = countedContent(deps.fetchContent, input.incoming.body)
  const read = async (reference: ImageReference): Promise<ImageReference> => ({
    ...reference,
    url: await readReference(reference, fetchContent, signal),
  })
  const references = await Promise.all(input.request.references.map(read))
  const { mask } = input.request
  const request: ImagesRequest = { ...input.request, references, ...(mask ? { mask: await read(mask) } : {}) }
  const meter = createImageMeter(deps.now, startedAt, request)
  return withExchange({ ...input, request }, deps, {
    refusal: (dialect, endpoint) => {
      const speaker = imageSpeakerFor(dialect, endpoint)
      if (!speaker) return `is spoken to in the dialect ${dialect}, which has no images`
      return speaker.cannot?.(request) ?? null
    },
    meter,
    tokens: (attempts) => tokensOfUnits(() => imagesBound(request), attempts),
    admit: (attempts, claiming) => admitUnits(() => imagesBound(request), attempts, claiming),
    answer: (exchange, upstreamAbort, end) =>
      request.stream
        ? streamImages(request, input, deps, exchange, upstreamAbort, end)
        : whileConnected(signal, upstreamAbort, end, () =>
            answerOnce(request, deps, exchange, upstreamAbort.signal),
          ),
  })
}

function speakerOf({ dialect, endpoint }: Attempt): ImageSpeaker {
  const speaker = imageSpeakerFor(dialect, endpoint)
  if (!speaker) throw new Error(`planned in the dialect ${dialect}, which has no images`)
  return speaker
}

/** Frames whose images are data URLs: addresses that a provider gives are read before anybody sees them. */
const framesOf = (
  request: ImagesRequest,
  reply: UpstreamReply,
  attempt: Attempt,
  deps: RunDeps,
  signal: AbortSignal,
): InferenceFrames => withContent(speakerOf(attempt).read(reply, request, attempt), attempt, deps, signal)

function asking<Answer>(request: ImagesRequest, read: Asking<Answer>['read']): Asking<Answer> {
  return {
    build: (attempt): DialectCall => speakerOf(attempt).build(request, attempt),
    read,
    readError: (_, status, headers, text) => readErrorReply(status, headers, text),
  }
}

async function answerOnce(
  request: ImagesRequest,
  deps: RunDeps,
  exchange: Exchange<ImageMeter>,
  signal: AbortSignal,
): Promise<Response> {
  try {
    const whole = asking(request, async (reply, attempt, again) => {
      const collect = async (given: UpstreamReply): Promise<InferenceFrame[]> => {
        const frames: InferenceFrame[] = []
        for await (const batch of framesOf(request, given, attempt, deps, signal)) frames.push(...batch)
        return frames
      }
      const first = await collect(reply)
      const copies = speakerOf(attempt).isSingle ? request.count - 1 : 0
      const others = Array.from({ length: copies }, async () => collect(await again()))
      // Fewer images than were asked for are an answer.
      const more = (await Promise.allSettled(others)).flatMap((other) =>
        other.status === 'fulfilled' ? other.value : [],
      )
      signal.throwIfAborted()
      return { answer: [...first, ...more], upstreamId: upstreamIdOf(first) }
    })
    const answered = await tryAttempts(whole, exchange.attempts, deps, signal, exchange.log)
    exchange.dropped = answered.dropped
    const images: MadeImage[] = []
    const native: JsonObject = {}
    for (const frame of answered.answer) {
      exchange.meter.see(frame)
      exchange.content?.see(frame)
      madeImages(frame.events, images, native)
    }
    const closing = await exchange.settle('whole')
    const context = contextOf(request, exchange, answered.attempt, native)
    const body = imagesIngress.writeReply({ images, native }, context, closing)
    return jsonReply(JSON.stringify(body), jsonHeaders(exchange))
  } catch (error) {
    throw await failed(error, exchange, signal, deps)
  }
}

/** A draft, words or an image: what a caller sees. */
const isVisible = ({ events }: InferenceFrame): boolean =>
  events.some(({ type }) => type !== 'response-start' && type !== 'usage')

async function streamImages(
  request: ImagesRequest,
  input: Opening<ImagesRequest>,
  deps: RunDeps,
  exchange: Exchange<ImageMeter>,
  upstreamAbort: AbortController,
  end: () => void,
): Promise<Response> {
  const begun = asking(request, async (reply, attempt) => {
    const frames = framesOf(request, reply, attempt, deps, upstreamAbort.signal)
    const { first, all } = await untilContent(frames, isVisible)
    return { answer: all, upstreamId: upstreamIdOf(first) }
  })
  const start = async (): Promise<Dispatched> => {
    const { attempt, answer, dropped } = await tryAttempts(
      begun,
      exchange.attempts,
      deps,
      upstreamAbort.signal,
      exchange.log,
    )
    return { attempt, frames: answer, dropped }
  }
  const writerFor = (attempt: Attempt | undefined) =>
    writeImageStream(contextOf(request, exchange, attempt, {}))
  return relay({
    deps,
    exchange,
    upstreamAbort,
    callerSignal: input.signal,
    keeper: undefined,
    start,
    open: ({ attempt }) => ({ writer: writerFor(attempt), echoed: [] }),
    failureWriter: () => writerFor(exchange.log.current ?? exchange.attempts[0]),
    ended: end,
  })
}
