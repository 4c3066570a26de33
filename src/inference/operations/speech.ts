import type { Attempt } from '../../core/attempt.ts'
import { characterCount } from '../../core/characters.ts'
import type { SpeechRequest, SpokenAudio } from '../../core/operation.ts'
import type { Pricing } from '../../core/snapshot.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import { speechSpeakers } from '../../dialects/operations.ts'
import { readErrorReply } from '../../dialects/read-error.ts'
import type { SpeechSpeaker } from '../../dialects/speech-speaker.ts'
import { CallerLeft } from '../abort.ts'
import { admitUnits, tokensOfUnits } from '../admission.ts'
import { type Answered, type Asking, tryAttempts } from '../attempts.ts'
import { textTokens } from '../estimate.ts'
import type { Exchange } from '../exchange.ts'
import type { Counted } from '../meter.ts'
import { failed, type Opening, type RunDeps, withExchange } from '../opening.ts'
import { relayBytes } from './relay-bytes.ts'
import { refusalOf } from './run.ts'
import { createUnitMeter, type UnitMeter } from './unit-meter.ts'

interface Spoken {
  audio: SpokenAudio
  usage: Usage | null
}

/** The whole story of one request for speech: the sound is relayed as it comes, and settled before its last piece. */
export async function runSpeech(input: Opening<SpeechRequest>, deps: RunDeps): Promise<Response> {
  const { request, startedAt } = input
  const bound = (pricing: Pricing): Usage => speechBound(request, pricing)
  return withExchange(input, deps, {
    refusal: refusalOf(request, { speakers: speechSpeakers }),
    meter: createUnitMeter(deps.now, startedAt, bound),
    tokens: (attempts) => tokensOfUnits(bound, attempts),
    admit: (attempts, claiming) => admitUnits(bound, attempts, claiming),
    answer: (exchange, upstreamAbort, end) => speak(input, deps, exchange, upstreamAbort, end),
  })
}

async function speak(
  { request, signal }: Opening<SpeechRequest>,
  deps: RunDeps,
  exchange: Exchange<UnitMeter>,
  upstreamAbort: AbortController,
  end: () => void,
): Promise<Response> {
  const leave = () => upstreamAbort.abort(new CallerLeft())
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  let answered: Answered<Spoken>
  try {
    answered = await tryAttempts(asking(request), exchange.attempts, deps, upstreamAbort.signal, exchange.log)
  } catch (error) {
    signal.removeEventListener('abort', leave)
    throw await failed(error, exchange, upstreamAbort.signal, deps)
  }
  const { audio, usage } = answered.answer
  exchange.dropped = answered.dropped
  exchange.meter.take(null, (pricing) => countSpeech(request, usage, pricing))
  const body = relayBytes({
    chunks: exchange.content?.hear(audio.mediaType, audio.chunks) ?? audio.chunks,
    exchange,
    ticker: deps.ticker,
    upstreamAbort,
    callerSignal: signal,
    onLost: (error) => deps.onLost(error, exchange.generationId),
    ended: () => {
      signal.removeEventListener('abort', leave)
      end()
    },
  })
  return new Response(body, {
    headers: {
      'content-type': audio.mediaType,
      'cache-control': 'no-store',
      'x-generation-id': exchange.generationId,
    },
  })
}

function asking(request: SpeechRequest): Asking<Spoken> {
  const speakerOf = ({ dialect }: Attempt): SpeechSpeaker => {
    const speaker = speechSpeakers[dialect]
    if (!speaker) throw new Error(`planned in the dialect ${dialect}, which does not speak`)
    return speaker
  }
  return {
    build: (attempt) => speakerOf(attempt).build(request, attempt),
    read: async (reply, attempt) => ({
      answer: await speakerOf(attempt).read(reply, request),
      upstreamId: null,
    }),
    readError: (_, status, headers, text) => readErrorReply(status, headers, text),
  }
}

/** Slow speech has 5 characters a second, usual speech 14; a second is 25 tokens at most (Google's count). */
const TOKENS_PER_CHARACTER = 5
const USUAL_TOKENS_PER_CHARACTER = 1.8

/**
 * Speech is priced by the character, or by tokens in and out. A model whose sound has no price of its own is priced by
 * the character at its prompt price: so say the lists of those who sell it that way.
 */
function speechBound({ input }: SpeechRequest, pricing: Pricing): Usage {
  const characters = characterCount(input)
  if (pricing.inputCharacter !== undefined) return { ...NO_USAGE, inputCharacters: characters }
  if (isByCharacter(pricing)) return { ...NO_USAGE, inputTokens: characters }
  return {
    ...NO_USAGE,
    inputTokens: textTokens(input),
    audioOutputTokens: Math.ceil(characters * TOKENS_PER_CHARACTER),
  }
}

function countSpeech(request: SpeechRequest, told: Usage | null, pricing: Pricing): Counted {
  const bound = speechBound(request, pricing)
  if (told !== null && pricing.inputCharacter === undefined) return { usage: told, source: 'provider' }
  // Characters are counted, not guessed.
  if (bound.audioOutputTokens === 0) return { usage: bound, source: 'provider' }
  const audioOutputTokens = Math.ceil(characterCount(request.input) * USUAL_TOKENS_PER_CHARACTER)
  return { usage: { ...bound, audioOutputTokens }, source: 'estimated' }
}

const isByCharacter = ({ prompt, completion, audioOutput }: Pricing): boolean =>
  audioOutput === undefined && (completion === 0n || completion === prompt)
