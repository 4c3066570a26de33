import { Type as t } from '@sinclair/typebox'
import { embeddingsBody } from '../../dialects/operations/embeddings.ts'
import { imagesBody } from '../../dialects/operations/images.ts'
import { moderationBody } from '../../dialects/operations/moderations.ts'
import { rerankBody } from '../../dialects/operations/rerank.ts'
import { MEDIA_TYPES, speechBody } from '../../dialects/operations/speech.ts'
import { transcriptionBody, transcriptionForm } from '../../dialects/operations/transcription.ts'
import {
  cachedInference,
  costs,
  count,
  generationId,
  inference,
  ORIGIN_HEADERS,
  serviceMetadata,
} from '../document-parts.ts'

/** The operations in the API document. */

const FORWARDED = 'Fields that are not listed are forwarded to the provider.'

export const embeddingsOperation = cachedInference('createEmbeddings', 'Create embeddings', {
  description: `One vector for each input, in the order of the inputs. ${FORWARDED}`,
  body: embeddingsBody,
  reply: t.Object({
    id: generationId,
    object: t.Literal('list'),
    model: t.String(),
    provider: t.String(),
    data: t.Array(
      t.Object({
        object: t.Literal('embedding'),
        index: count,
        embedding: t.Union([t.Array(t.Number()), t.String({ description: 'Base64 of 32-bit floats.' })]),
      }),
    ),
    usage: t.Object({ prompt_tokens: count, total_tokens: count, ...costs }),
    service_metadata: serviceMetadata,
  }),
  headers: ORIGIN_HEADERS,
})

export const rerankOperation = cachedInference('createRerank', 'Rank documents', {
  description: `Sorts documents by relevance to the query, the most relevant first. ${FORWARDED}`,
  body: rerankBody,
  reply: t.Object({
    id: generationId,
    model: t.String(),
    provider: t.String(),
    results: t.Array(
      t.Object({
        index: t.Integer({ minimum: 0, description: 'The index in `documents`.' }),
        relevance_score: t.Number(),
        document: t.Object({ text: t.Optional(t.String()), image: t.Optional(t.String()) }),
      }),
    ),
    usage: t.Object({ search_units: t.Optional(count), total_tokens: count, ...costs }),
    service_metadata: serviceMetadata,
  }),
  headers: ORIGIN_HEADERS,
})

export const moderationsOperation = inference('createModeration', 'Moderate texts and images', {
  description: `The default model is omni-moderation-latest. The results are returned as the provider sends them. ${FORWARDED}`,
  body: moderationBody,
  reply: t.Object({
    id: generationId,
    model: t.String(),
    provider: t.String(),
    results: t.Array(t.Object({}, { additionalProperties: true })),
    usage: t.Object(costs),
    service_metadata: serviceMetadata,
  }),
  headers: ORIGIN_HEADERS,
})

const file = t.String({ format: 'binary' })
const imageForm = t.Object({
  image: t.Union([file, t.Array(file)], { description: 'The images to edit; also as `image[]`.' }),
  prompt: t.String({ minLength: 1 }),
  model: t.Optional(t.String()),
  n: t.Optional(t.Integer({ minimum: 1, maximum: 10 })),
  size: t.Optional(t.String()),
  quality: t.Optional(t.String()),
  background: t.Optional(t.String()),
  output_format: t.Optional(t.String()),
})

const imagesReply = t.Object({
  created: t.Integer({ description: 'Unix seconds.' }),
  id: generationId,
  model: t.String(),
  provider: t.String(),
  data: t.Array(t.Object({ b64_json: t.String(), media_type: t.Optional(t.String()) })),
  usage: t.Object({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    input_tokens: count,
    output_tokens: count,
    ...costs,
  }),
  service_metadata: serviceMetadata,
})

const imagesText =
  'Images are always returned as base64. With `stream: true` the reply is a stream of ' +
  '`image_generation.partial_image`, `image_generation.text_chunk` and `image_generation.completed`, then `[DONE]`.'

export const imagesOperation = inference('createImages', 'Generate images', {
  description: `${imagesText} ${FORWARDED}`,
  body: imagesBody,
  reply: imagesReply,
  streams: true,
  headers: ORIGIN_HEADERS,
})

export const imageGenerationsOperation = inference(
  'createImageGenerations',
  "Generate images, at the path of OpenAI's clients",
  {
    description: imagesText,
    body: imagesBody,
    reply: imagesReply,
    streams: true,
    headers: ORIGIN_HEADERS,
  },
)

export const imageEditsOperation = inference(
  'createImageEdits',
  "Edit images, at the path of OpenAI's clients",
  {
    description: imagesText,
    body: imagesBody,
    form: imageForm,
    reply: imagesReply,
    streams: true,
    headers: ORIGIN_HEADERS,
  },
)

export const speechOperation = inference('createSpeech', 'Convert text to speech', {
  description:
    'The audio is streamed as the provider generates it; a truncated reply closes the connection. The default ' +
    `\`response_format\` is \`pcm\`. ${FORWARDED}`,
  body: speechBody,
  media: Object.values(MEDIA_TYPES),
  headers: ORIGIN_HEADERS,
})

const seconds = t.Number({ minimum: 0, description: 'Seconds.' })

export const transcriptionOperation = inference('createTranscription', 'Transcribe a recording', {
  description: `Takes the recording as base64 in JSON, or as a file of at most 100 MB in a form. ${FORWARDED}`,
  body: transcriptionBody,
  form: transcriptionForm,
  reply: t.Object({
    text: t.String(),
    language: t.Optional(t.String()),
    duration: t.Optional(seconds),
    segments: t.Optional(
      t.Array(t.Object({ id: t.Integer(), start: seconds, end: seconds, text: t.String() })),
    ),
    words: t.Optional(t.Array(t.Object({ word: t.String(), start: seconds, end: seconds }))),
    usage: t.Object({
      seconds: t.Optional(seconds),
      input_tokens: t.Optional(count),
      output_tokens: t.Optional(count),
      total_tokens: t.Optional(count),
      ...costs,
    }),
    service_metadata: serviceMetadata,
  }),
  headers: ORIGIN_HEADERS,
})
