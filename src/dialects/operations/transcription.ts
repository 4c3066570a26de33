import { type Static, Type as t } from '@sinclair/typebox'
import { audioDuration } from '../../core/audio-duration.ts'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined } from '../../core/json.ts'
import type { AudioFile, TranscriptionRequest, TranscriptionResult } from '../../core/operation.ts'
import { completionTokens, promptTokens } from '../../core/usage.ts'
import { readRouting } from '../caller-fields.ts'
import { routingFields } from '../caller-schema.ts'
import { bounded, oneOf, openObject, optional } from '../fields.ts'
import { bodyCheck } from '../mismatch.ts'
import type { OperationIngress } from '../operation.ts'
import { viewCost, viewMetadata } from '../usage.ts'
import { bytesOfBase64, modelField } from './fields.ts'

const fields = {
  model: modelField('A model that transcribes'),
  language: optional(t.String({ minLength: 2, maxLength: 35, description: 'Such as `en`' })),
  prompt: optional(t.String()),
  response_format: optional(oneOf(['json', 'verbose_json'])),
  temperature: optional(t.Number({ minimum: 0, maximum: 1 })),
  timestamp_granularities: optional(t.Array(oneOf(['word', 'segment']))),
  ...routingFields,
}

const inputAudio = openObject({
  data: t.String({ minLength: 1, description: 'Base64' }),
  format: t.String({ minLength: 2, maxLength: 10, description: 'wav, mp3, flac, m4a, ogg, webm …' }),
})

export const transcriptionBody = bounded(openObject({ input_audio: inputAudio, ...fields }))
export const transcriptionForm = openObject({ file: t.String({ format: 'binary' }), ...fields })
const formFields = bounded(openObject(fields))
type Fields = Static<typeof formFields>

const checkBody = bodyCheck(transcriptionBody)
const checkForm = bodyCheck(formFields)

/** POST /audio/transcriptions, the recording in JSON. */
export const transcriptionIngress: OperationIngress<TranscriptionRequest, TranscriptionResult> = {
  parse(input, headers) {
    const body = checkBody(input)
    const { input_audio, ...rest } = body
    return requestOf(rest, fileOf(input_audio), headers)
  },
  writeReply({ text, duration, native }, _, closing) {
    const { usage } = closing
    const input = promptTokens(usage)
    const output = completionTokens(usage)
    return {
      ...native,
      text,
      ...(duration === null ? {} : { duration }),
      usage: defined({
        seconds: usage.audioSeconds,
        input_tokens: input || undefined,
        output_tokens: output || undefined,
        total_tokens: input + output || undefined,
        ...viewCost(closing),
      }),
      ...viewMetadata(closing.serviceMetadata),
    }
  },
}

/** The fields of a form, beside its file. Throws a `GatewayError` 400 that names the field. */
export function parseTranscriptionForm(
  input: JsonObject,
  audio: AudioFile,
  headers: Headers,
): TranscriptionRequest {
  const body = checkForm(input)
  return requestOf(body, audio, headers)
}

function requestOf(body: JsonObject & Fields, audio: AudioFile, headers: Headers): TranscriptionRequest {
  if (body['stream'] === true || body['stream'] === 'true') {
    throw badRequest('transcriptions are not streamed here: leave it out', 'stream')
  }
  const format = body.response_format ?? 'json'
  const granularities = body.timestamp_granularities ?? []
  if (granularities.length > 0 && format !== 'verbose_json') {
    throw badRequest('needs "response_format" to be verbose_json', 'timestamp_granularities')
  }
  return defined<TranscriptionRequest>({
    ...readRouting('stt', body, headers),
    audio,
    language: body.language ?? undefined,
    format,
  })
}

function fileOf({ data, format }: { data: string; format: string }): AudioFile {
  const extension = format.toLowerCase()
  if (!/^[a-z0-9]+$/.test(extension)) {
    throw badRequest('must be the name of a format, such as wav or mp3', 'input_audio.format')
  }
  // Some clients send a data URL.
  const base64 = data.replace(/^data:[^,]*;base64,/i, '')
  const bytes = bytesOfBase64(base64, 'input_audio.data')
  const content = new Blob([bytes], { type: TYPES[extension] ?? `audio/${extension}` })
  return { content, name: `audio.${extension}`, seconds: audioDuration(bytes) }
}

const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  mpga: 'audio/mpeg',
  m4a: 'audio/mp4',
  oga: 'audio/ogg',
  opus: 'audio/ogg',
}
