import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { TranscriptionRequest, TranscriptionResult } from '../../core/operation.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import type { Operation } from '../operation.ts'
import { nativeOf } from '../operations/embeddings.ts'
import { forwardedBody } from '../operations/fields.ts'
import { costOf, countOf, malformed, readJsonObject } from '../operations/reply.ts'

/** OpenAI's `/audio/transcriptions`: always a form, whatever the caller sent. */
export const chatTranscription: Operation<TranscriptionRequest, TranscriptionResult> = {
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
  const groq = isObject(x_groq) ? x_groq['id'] : undefined
  return isString(groq) ? groq : null
}

/** A month: more is a mistake. */
const MOST_SECONDS = 2_678_400

/** Some write the number as text. */
function secondsOf(value: unknown): number | null {
  const seconds = isString(value) && value.trim() !== '' ? Number(value) : value
  return typeof seconds === 'number' && seconds >= 0 && seconds <= MOST_SECONDS ? seconds : null
}

/** By tokens or by seconds: `{type: "tokens", …}`, `{type: "duration", seconds}`, or the reply's own `duration`. */
function readUsage(raw: unknown, duration: number | null): Usage | null {
  const usage = isObject(raw) ? raw : {}
  const seconds = secondsOf(usage['seconds']) ?? duration
  const input = countOf(usage['input_tokens'] ?? usage['prompt_tokens'])
  const output = countOf(usage['output_tokens'] ?? usage['completion_tokens'])
  const timed = seconds === null ? {} : { audioSeconds: seconds }
  if (input === undefined && output === undefined) return seconds === null ? null : { ...NO_USAGE, ...timed }
  const details = usage['input_token_details'] ?? usage['input_tokens_details']
  const audio = Math.min(input ?? 0, countOf(isObject(details) ? details['audio_tokens'] : undefined) ?? 0)
  return {
    ...NO_USAGE,
    inputTokens: (input ?? 0) - audio,
    audioInputTokens: audio,
    outputTokens: output ?? 0,
    ...timed,
    ...costOf(usage),
  }
}
