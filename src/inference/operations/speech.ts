import type { Attempt } from '../../core/attempt.ts'
import { cancel } from '../../core/cancellation.ts'
import { characterCount } from '../../core/characters.ts'
import type { SpeechRequest, SpokenAudio } from '../../core/operation.ts'
import type { Pricing } from '../../core/snapshot.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import type { SpeechEgress } from '../../dialects/operation.ts'
import { speechEgresses } from '../../dialects/operations.ts'
import { readErrorReply } from '../../dialects/read-error.ts'
import { type Incoming, keepOpen, limitIdle } from '../../http/incoming.ts'
import { admitUnits, tokensOfUnits } from '../admission/admit.ts'
import { textTokens } from '../admission/estimate.ts'
import type { Generation, Opening, RunDeps } from '../generation.ts'
import { begin, end } from '../pipeline.ts'
import { generationHeaders } from '../reply/headers.ts'
import type { Counted } from '../reply/meter.ts'
import { voiceNeeds } from '../routing/needs.ts'
import { fail, settle } from '../settle.ts'
import { CallerDisconnected, onDisconnect } from '../upstream/abort.ts'
import { type CallCodec, tryAttempts } from '../upstream/attempts.ts'
import { errorForCaller } from '../upstream/failure.ts'
import { refusalOf } from './run.ts'
import { createUnitMeter, type UnitMeter } from './unit-meter.ts'

interface SpeechReply {
  audio: SpokenAudio
  usage: Usage | null
}

interface InputLength {
  readonly characters: number
  readonly tokens: number
}

type SpeechGeneration = Generation<UnitMeter, SpeechRequest>

/** Streams the audio as it arrives, and settles before its last byte. */
export async function runSpeech(opening: Opening<SpeechRequest>, deps: RunDeps): Promise<Response> {
  const { request, startedAt } = opening
  // Once for all endpoints: an input of 20 MB takes tens of milliseconds.
  const length = { characters: characterCount(request.input), tokens: textTokens(request.input) }
  const bound = (pricing: Pricing): Usage => speechBound(length, pricing)
  const generation = await begin<UnitMeter, SpeechRequest>(
    opening,
    {
      refusal: refusalOf(request, { egresses: speechEgresses }),
      needs: request.voice === undefined ? undefined : voiceNeeds(request.voice),
      meter: createUnitMeter(deps.now, startedAt, bound),
      tokens: (attempts) => tokensOfUnits(bound, attempts),
      admit: (attempts, claiming) => admitUnits(bound, attempts, claiming),
    },
    deps,
  )
  const audio = await startSpeech(generation, length)
  return new Response(
    relayBytes(generation, generation.content?.tapAudio(audio.mediaType, audio.chunks) ?? audio.chunks),
    { headers: generationHeaders(generation, audio.mediaType) },
  )
}

/** The audio, once its first bytes have arrived. Throws the caller's error. */
async function startSpeech(generation: SpeechGeneration, length: InputLength): Promise<SpokenAudio> {
  try {
    const { answer, dropped } = await tryAttempts(speechCodec, generation)
    generation.dropped = dropped
    generation.meter.take(null, (pricing) => countSpeech(length, answer.usage, pricing))
    return answer.audio
  } catch (error) {
    const failure = await fail(generation, error)
    end(generation)
    throw failure
  }
}

function egressOf({ dialect }: Attempt): SpeechEgress {
  const egress = speechEgresses[dialect]
  if (!egress) throw new Error(`planned in the dialect ${dialect}, which does not support speech`)
  return egress
}

const speechCodec: CallCodec<SpeechReply, SpeechGeneration> = {
  build: (attempt, { request }) => egressOf(attempt).build(request, attempt),
  read: async (reply, attempt, { request }) => ({
    answer: await egressOf(attempt).read(reply, request),
    upstreamId: null,
  }),
  readError: (_, status, headers, text) => readErrorReply(status, headers, text),
}

/** Slow speech has 5 characters per second, normal speech 14. A second has at most 25 tokens (Google's count). */
const TOKENS_PER_CHARACTER = 5
const USUAL_TOKENS_PER_CHARACTER = 1.8

/**
 * Speech is priced by characters, or by input and output tokens. A model without an audio price is priced by characters
 * at its prompt price, as in the price lists of such providers.
 */
function speechBound({ characters, tokens }: InputLength, pricing: Pricing): Usage {
  if (pricing.inputCharacter !== undefined) return { ...NO_USAGE, inputCharacters: characters }
  if (isByCharacter(pricing)) return { ...NO_USAGE, inputTokens: characters }
  return {
    ...NO_USAGE,
    inputTokens: tokens,
    audioOutputTokens: Math.ceil(characters * TOKENS_PER_CHARACTER),
  }
}

function countSpeech(length: InputLength, reported: Usage | null, pricing: Pricing): Counted {
  const bound = speechBound(length, pricing)
  if (reported !== null && pricing.inputCharacter === undefined)
    return { usage: reported, source: 'provider' }
  // The number of characters is exact.
  if (bound.audioOutputTokens === 0) return { usage: bound, source: 'provider' }
  const audioOutputTokens = Math.ceil(length.characters * USUAL_TOKENS_PER_CHARACTER)
  return { usage: { ...bound, audioOutputTokens }, source: 'estimated' }
}

const isByCharacter = ({ prompt, completion, audioOutput }: Pricing): boolean =>
  audioOutput === undefined && (completion === 0n || completion === prompt)

/** Without keep-alives, the silence of the provider is silence of the connection too. */
async function* keptOpen(chunks: AsyncIterable<Uint8Array>, incoming: Incoming) {
  keepOpen(incoming)
  yield* chunks
  limitIdle(incoming)
}

const SLOW_READER_MS = 60_000

/**
 * Streams bytes with backpressure. The last byte is held until the settlement is committed. A truncated reply closes the
 * connection, so that it never looks complete.
 */
function relayBytes(generation: Generation, chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const { cancellation, id, content, deps, opening } = generation
  const iterator = keptOpen(chunks, opening.incoming)
  let held: Uint8Array | null = null
  let isOver = false
  let connection: ReadableStreamDefaultController<Uint8Array> | null = null
  const lost = (error: unknown): void => deps.onLost(error, id, opening.incoming.trace)
  const clock = deps.ticker.watch(() => leave(new CallerDisconnected('the client stopped reading')))

  function finish(): void {
    isOver = true
    clock.stop()
    end(generation)
  }

  function leave(reason: CallerDisconnected): void {
    if (isOver) return
    isOver = true
    clock.stop()
    // Has no effect on a settlement that has started.
    settle(generation, 'disconnected').catch(lost).finally(finish)
    cancel(cancellation, reason)
    iterator.return(undefined).catch(() => undefined)
    connection?.error()
  }

  /** Reads until bytes can be sent. False: everything is settled and sent. */
  async function sendNext(controller: ReadableStreamDefaultController<Uint8Array>): Promise<boolean> {
    for (;;) {
      const { value, done } = await iterator.next()
      if (done) await settle(generation, 'complete')
      if (isOver) return true
      if (held !== null && (done || value.length > 0)) controller.enqueue(held)
      if (done) return false
      if (value.length === 0) continue
      held = value.subarray(-1)
      if (value.length === 1) continue
      controller.enqueue(value.subarray(0, -1))
      return true
    }
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    clock.due = Number.POSITIVE_INFINITY
    try {
      const hasMore = await sendNext(controller)
      if (isOver) return
      if (hasMore) clock.due = deps.ticker.now() + SLOW_READER_MS
      else {
        finish()
        controller.close()
      }
    } catch (error) {
      if (isOver) return
      content?.fail(errorForCaller(error, generation))
      await settle(generation, 'truncated').catch(lost)
      finish()
      // No reason, because Bun prints it.
      controller.error()
    }
  }

  onDisconnect(cancellation, leave)
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        connection = controller
      },
      pull,
      cancel: () => leave(new CallerDisconnected()),
    },
    { highWaterMark: 0 },
  )
}
