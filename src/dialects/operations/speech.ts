import { Type as t } from '@sinclair/typebox'
import type { JsonObject } from '../../core/events.ts'
import { defined } from '../../core/json.ts'
import type { SpeechFormat, SpeechRequest } from '../../core/operation.ts'
import { readRouting } from '../caller-fields.ts'
import { routingFields } from '../caller-schema.ts'
import { anyObject, bounded, oneOf, openObject, optional } from '../fields.ts'
import { bodyCheck } from '../mismatch.ts'
import { modelField } from './fields.ts'

export const speechBody = bounded(
  openObject({
    input: t.String({ minLength: 1, description: 'The text to speak' }),
    model: modelField('A model that speaks'),
    voice: optional(t.String({ minLength: 1 })),
    response_format: optional(oneOf(['mp3', 'pcm', 'wav', 'opus', 'aac', 'flac'])),
    speed: optional(t.Number({ minimum: 0.25, maximum: 4 })),
    instructions: optional(
      t.String({ description: 'How to read it out, for models that follow instructions' }),
    ),
    stream_format: optional(oneOf(['audio'])),
    input_references: optional(t.Array(anyObject('A recording of a voice, for models that imitate'))),
    ...routingFields,
  }),
)

/** Raw samples are this API's default. */
const DEFAULT_FORMAT: SpeechFormat = 'pcm'

export const MEDIA_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  pcm: 'audio/pcm',
  wav: 'audio/wav',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
}

/** A sound that came as a whole. */
export async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}

const checkBody = bodyCheck(speechBody)

/** The body of POST /audio/speech. Throws a `GatewayError` 400 that names the field's path. */
export function parseSpeech(input: JsonObject, headers: Headers): SpeechRequest {
  const body = checkBody(input)
  return defined<SpeechRequest>({
    ...readRouting('tts', body, headers),
    input: body.input,
    voice: body.voice ?? undefined,
    format: body.response_format ?? DEFAULT_FORMAT,
    speed: body.speed ?? undefined,
  })
}
