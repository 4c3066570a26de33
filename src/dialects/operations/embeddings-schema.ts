import { type Static, Type as t } from '@sinclair/typebox'
import { bounded } from '../bounded.ts'
import { OPEN, oneOf, optional } from '../fields.ts'
import { modelField, routingFields } from './fields.ts'

const textPart = t.Object({ type: t.Literal('text'), text: t.String({ minLength: 1 }) }, OPEN)
const imagePart = t.Object(
  {
    type: t.Literal('image_url'),
    image_url: t.Object({ url: t.String({ minLength: 1, description: 'An https URL or a data URL' }) }, OPEN),
  },
  OPEN,
)
const audioPart = t.Object(
  {
    type: t.Literal('input_audio'),
    input_audio: t.Object(
      { data: t.String({ minLength: 1, description: 'Base64' }), format: t.String({ minLength: 1 }) },
      OPEN,
    ),
  },
  OPEN,
)
const filePart = t.Object(
  {
    type: t.Literal('file'),
    file: t.Object({ file_data: optional(t.String()), filename: optional(t.String()) }, OPEN),
  },
  OPEN,
)
const videoPart = t.Object(
  {
    type: oneOf(['video_url', 'input_video']),
    video_url: t.Object({ url: t.String({ minLength: 1 }) }, OPEN),
  },
  OPEN,
)
export const embeddingPart = t.Union([textPart, imagePart, audioPart, filePart, videoPart])

const text = t.String({ minLength: 1 })
const tokens = t.Array(t.Integer({ minimum: 0 }), { minItems: 1, description: 'Token ids' })
const item = t.Object({ content: t.Array(embeddingPart, { minItems: 1 }) }, OPEN)

/** Inputs of parts, checked apart: of all forms of `input`, their mistakes can be explained best. */
export const embeddingItems = bounded(t.Object({ input: t.Array(item, { minItems: 1 }) }, OPEN))

export const embeddingsBody = bounded(
  t.Object(
    {
      input: t.Union(
        [
          text,
          t.Array(text, { minItems: 1 }),
          tokens,
          t.Array(tokens, { minItems: 1 }),
          t.Array(item, { minItems: 1 }),
        ],
        {
          description:
            'A text, texts, token ids, lists of token ids, or objects whose `content` has parts (text, image_url, input_audio, file, video_url)',
        },
      ),
      model: modelField('An embedding model'),
      dimensions: optional(t.Integer({ minimum: 1, description: 'The length of the vectors' })),
      encoding_format: optional(oneOf(['float', 'base64'])),
      input_type: optional(
        t.String({ minLength: 1, description: 'What the vectors are for, such as `query` or `document`' }),
      ),
      ...routingFields,
    },
    OPEN,
  ),
)
export type EmbeddingsBody = Static<typeof embeddingsBody>
export type EmbeddingPart = Static<typeof embeddingPart>
