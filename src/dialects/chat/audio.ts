import type { JsonObject } from '../../core/events.ts'
import { asObject, asText, fieldsOf, isString } from '../../core/json.ts'
import type {
  SpeechRequest,
  SpokenAudio,
  TranscriptionRequest,
  TranscriptionResult,
} from '../../core/operation.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import type { Operation, SpeechEgress } from '../operation.ts'
import { nativeOf } from '../operations/embeddings.ts'
import { forwardedBody } from '../operations/fields.ts'
import { transcriptionLimit } from '../operations/model-limits.ts'
import { costOf, countOf, malformed, readJson, readJsonObject } from '../operations/reply.ts'
import { MEDIA_TYPES, once } from '../operations/speech.ts'

/** OpenAI's models demand a voice; callers of this API need none. */
const DEMANDS_VOICE = /(?:^|\/)(?:tts-1|gpt-4o-mini-tts)/i
const DEFAULT_VOICE = 'alloy'

/** OpenAI's `/audio/speech`: a body in JSON, and sound as it is made. */
export const chatSpeech: SpeechEgress = {
  build(request, attempt) {
    // Sound is relayed as bytes: a stream of events would be another format.
    const body = forwardedBody(request, attempt, ['stream_format'])
    body['response_format'] = request.format
    if (request.voice === undefined && DEMANDS_VOICE.test(attempt.endpoint.upstreamId)) {
      body['voice'] = DEFAULT_VOICE
    }
    return { path: '/audio/speech', headers: {}, body, dropped: [] }
  },
  async read(reply, request) {
    const type = (reply.headers.get('content-type') ?? '').trim().toLowerCase()
    if (!isSound(type)) return { audio: soundIn(await readJson(reply), request), usage: null }
    const iterator = reply.bytes[Symbol.asyncIterator]()
    const first = await iterator.next()
    if (first.done) throw malformed('the reply is empty')
    return {
      audio: { mediaType: mediaTypeOf(type, request), chunks: continued(first.value, iterator) },
      usage: null,
    }
  },
}

/** Servers that do not know their own type say octet-stream, or nothing. */
const isSound = (type: string): boolean => type === '' || /^(?:audio|video)\/|octet-stream/.test(type)

const mediaTypeOf = (type: string, { format }: SpeechRequest): string =>
  type.startsWith('audio/') ? type : MEDIA_TYPES[format]

/** Mistral's `{audio_data}`, in base64 (recorded 2026). */
function soundIn(body: unknown, { format }: SpeechRequest): SpokenAudio {
  const bytes = Buffer.from(asText(fieldsOf(body)['audio_data']) ?? '', 'base64')
  if (bytes.length === 0) throw malformed('the reply is not a sound')
  return { mediaType: MEDIA_TYPES[format], chunks: once(bytes) }
}

function continued(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  let isFirst = true
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        if (!isFirst) return rest.next()
        isFirst = false
        return Promise.resolve({ value: first, done: false as const })
      },
      return: async () => {
        await rest.return?.()
        return { value: undefined, done: true as const }
      },
    }),
  }
}

/** OpenAI's `/audio/transcriptions`: always a form, whatever the caller sent. */
export const chatTranscription: Operation<TranscriptionRequest, TranscriptionResult> = {
  cannot: transcriptionLimit,
  build(request, attempt) {
    const body = forwardedBody(request, attempt, ['file', 'response_format', 'stream'])
    body['response_format'] = request.format
    const form = new FormData()
    for (const [name, value] of Object.entries(body)) appendTo(form, name, value)
    form.append('file', request.audio.content, request.audio.name)
    return { path: '/audio/transcriptions', headers: {}, body, form, dropped: [] }
  },
  async read(reply) {
    const body = await readJsonObject(reply)
    const { text, usage, duration } = body
    if (!isString(text)) throw malformed('the reply has no text')
    const seconds = secondsOf(duration)
    return {
      result: { text, duration: seconds, native: nativeOf(body, ['text', 'usage', 'duration', 'x_groq']) },
      upstreamId: upstreamIdOf(body),
      usage: readUsage(usage, seconds),
    }
  },
}

/** Lists are repeated fields with brackets, as OpenAI's clients send them. */
function appendTo(form: FormData, name: string, value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) form.append(`${name}[]`, isString(item) ? item : JSON.stringify(item))
  } else form.append(name, isString(value) ? value : JSON.stringify(value))
}

/** Groq has it in an object of its own. */
function upstreamIdOf({ id, x_groq }: JsonObject): string | null {
  if (isString(id)) return id
  const groq = asObject(x_groq)?.['id']
  return asText(groq) ?? null
}

/** A month: more is a mistake. */
const MOST_SECONDS = 2_678_400

/** Some write the number as text. */
function secondsOf(value: unknown): number | null {
  const seconds = isString(value) && value.trim() !== '' ? Number(value) : value
  return typeof seconds === 'number' && seconds >= 0 && seconds <= MOST_SECONDS ? seconds : null
}

/**
 * By tokens or by seconds: `{type: "tokens", …}`, `{type: "duration", seconds}`, or the reply's own `duration`. Mistral
 * has both: `prompt_audio_seconds`, and tokens of audio that only its total includes (3 + 375 + 11 = 389, recorded 2026).
 */
function readUsage(raw: unknown, duration: number | null): Usage | null {
  const usage = fieldsOf(raw)
  const seconds = secondsOf(usage['seconds'] ?? usage['prompt_audio_seconds']) ?? duration
  const input = countOf(usage['input_tokens'] ?? usage['prompt_tokens'])
  const output = countOf(usage['output_tokens'] ?? usage['completion_tokens'])
  const timed = seconds === null ? {} : { audioSeconds: seconds }
  if (input === undefined && output === undefined) return seconds === null ? null : { ...NO_USAGE, ...timed }
  const details =
    usage['input_token_details'] ?? usage['input_tokens_details'] ?? usage['prompt_tokens_details']
  const listed = countOf(asObject(details)?.['audio_tokens']) ?? 0
  const isApart = countOf(usage['total_tokens']) === (input ?? 0) + listed + (output ?? 0)
  const audio = isApart ? listed : Math.min(input ?? 0, listed)
  return {
    ...NO_USAGE,
    inputTokens: (input ?? 0) - (isApart ? 0 : audio),
    audioInputTokens: audio,
    outputTokens: output ?? 0,
    ...timed,
    ...costOf(usage),
  }
}
