import type { TranscriptionRequest, TranscriptionResult } from '../../core/operation.ts'
import { completionTokens, estimateTokens, NO_USAGE, promptTokens } from '../../core/usage.ts'
import { transcriptionIngress } from '../../dialects/operations/transcription.ts'
import { transcriptionEgresses } from '../../dialects/operations.ts'
import type { Task } from './task.ts'

/** POST /audio/transcriptions: priced by seconds, or by input and output tokens. */
export const transcription: Task<TranscriptionRequest, TranscriptionResult> = {
  ingress: transcriptionIngress,
  egresses: transcriptionEgresses,
  bound: ({ audio }, pricing) => {
    const seconds = audio.seconds ?? audio.content.size / LEAST_BYTES_PER_SECOND
    if (pricing.audioSecond !== undefined) return { ...NO_USAGE, audioSeconds: seconds }
    return {
      ...NO_USAGE,
      audioInputTokens: Math.ceil(seconds * MOST_TOKENS_PER_SECOND),
      outputTokens: Math.ceil(seconds * WORD_TOKENS_PER_SECOND) + 64,
    }
  },
  logged: ({ text }) => text,
  count(request, { text }, reported, pricing) {
    const bound = transcription.bound(request, pricing)
    if (pricing.audioSecond !== undefined) {
      const seconds = reported?.audioSeconds
      return seconds === undefined
        ? { usage: { ...(reported ?? NO_USAGE), ...secondsOf(bound) }, source: 'estimated' }
        : { usage: { ...NO_USAGE, audioSeconds: seconds }, source: 'provider' }
    }
    if (reported !== null && promptTokens(reported) + completionTokens(reported) > 0) {
      return { usage: reported, source: 'provider' }
    }
    const seconds = reported?.audioSeconds
    const audioInputTokens =
      seconds === undefined ? bound.audioInputTokens : Math.ceil(seconds * USUAL_TOKENS_PER_SECOND)
    return {
      usage: { ...(reported ?? NO_USAGE), audioInputTokens, outputTokens: estimateTokens(text.length) },
      source: 'estimated',
    }
  },
  filtered(result, scanners, drop) {
    const text = String(scanners.scan(result.text))
    if (text === result.text && scanners.isClean(result.native)) return result
    // Words and segments repeat the text in pieces that filters cannot match.
    for (const name of Object.keys(result.native)) drop(name)
    return { ...result, text, native: {} }
  },
}

const secondsOf = ({ audioSeconds }: { audioSeconds?: number }) =>
  audioSeconds === undefined ? {} : { audioSeconds }

/** 16 kbit/s: speech is rarely compressed further. */
const LEAST_BYTES_PER_SECOND = 2_000
/** Google counts 32 tokens per second, OpenAI 10. */
const MOST_TOKENS_PER_SECOND = 32
const USUAL_TOKENS_PER_SECOND = 10
/** Fast speech: four words and timestamps. */
const WORD_TOKENS_PER_SECOND = 8
