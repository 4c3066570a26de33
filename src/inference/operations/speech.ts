import type { Attempt } from '../../core/attempt.ts'
import { characterCount } from '../../core/characters.ts'
import type { SpeechRequest, SpokenAudio } from '../../core/operation.ts'
import type { Pricing } from '../../core/snapshot.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import type { SpeechSpeaker } from '../../dialects/operation.ts'
import { speechSpeakers } from '../../dialects/operations.ts'
import { readErrorReply } from '../../dialects/read-error.ts'
import { admitUnits, tokensOfUnits } from '../admission/admit.ts'
import { textTokens } from '../admission/estimate.ts'
import type { Generation, Opening, RunDeps } from '../generation.ts'
import { begin, end } from '../pipeline.ts'
import { generationHeaders } from '../reply/headers.ts'
import type { Counted } from '../reply/meter.ts'
import { fail } from '../settle.ts'
import { type CallCodec, tryAttempts } from '../upstream/attempts.ts'
import { relayBytes } from './relay-bytes.ts'
import { refusalOf } from './run.ts'
import { createUnitMeter, type UnitMeter } from './unit-meter.ts'

interface Spoken {
  audio: SpokenAudio
  usage: Usage | null
}

type Speaking = Generation<UnitMeter, SpeechRequest>

/** The sound is relayed as it comes, and settled before its last piece. */
export async function runSpeech(opening: Opening<SpeechRequest>, deps: RunDeps): Promise<Response> {
  const { request, startedAt } = opening
  const bound = (pricing: Pricing): Usage => speechBound(request, pricing)
  const generation = await begin<UnitMeter, SpeechRequest>(
    opening,
    {
      refusal: refusalOf(request, { speakers: speechSpeakers }),
      meter: createUnitMeter(deps.now, startedAt, bound),
      tokens: (attempts) => tokensOfUnits(bound, attempts),
      admit: (attempts, claiming) => admitUnits(bound, attempts, claiming),
    },
    deps,
  )
  const audio = await spoken(generation)
  return new Response(
    relayBytes(generation, generation.content?.hear(audio.mediaType, audio.chunks) ?? audio.chunks),
    { headers: generationHeaders(generation, audio.mediaType) },
  )
}

/** The beginning of the sound. Throws the error that the caller gets. */
async function spoken(generation: Speaking): Promise<SpokenAudio> {
  try {
    const { answer, dropped } = await tryAttempts(speaking, generation)
    generation.dropped = dropped
    generation.meter.take(null, (pricing) => countSpeech(generation.request, answer.usage, pricing))
    return answer.audio
  } catch (error) {
    const failure = await fail(generation, error)
    end(generation)
    throw failure
  }
}

function speakerOf({ dialect }: Attempt): SpeechSpeaker {
  const speaker = speechSpeakers[dialect]
  if (!speaker) throw new Error(`planned in the dialect ${dialect}, which does not speak`)
  return speaker
}

const speaking: CallCodec<Spoken, Speaking> = {
  build: (attempt, { request }) => speakerOf(attempt).build(request, attempt),
  read: async (reply, attempt, { request }) => ({
    answer: await speakerOf(attempt).read(reply, request),
    upstreamId: null,
  }),
  readError: (_, status, headers, text) => readErrorReply(status, headers, text),
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

function countSpeech(request: SpeechRequest, reported: Usage | null, pricing: Pricing): Counted {
  const bound = speechBound(request, pricing)
  if (reported !== null && pricing.inputCharacter === undefined)
    return { usage: reported, source: 'provider' }
  // Characters are counted, not guessed.
  if (bound.audioOutputTokens === 0) return { usage: bound, source: 'provider' }
  const audioOutputTokens = Math.ceil(characterCount(request.input) * USUAL_TOKENS_PER_CHARACTER)
  return { usage: { ...bound, audioOutputTokens }, source: 'estimated' }
}

const isByCharacter = ({ prompt, completion, audioOutput }: Pricing): boolean =>
  audioOutput === undefined && (completion === 0n || completion === prompt)
