import { type Static, Type as t } from '@sinclair/typebox'
import { bounded } from '../bounded.ts'
import { OPEN, oneOf, optional } from '../fields.ts'
import { modelField, routingFields } from './fields.ts'

const RATIOS = [
  '1:1',
  '1:2',
  '1:4',
  '1:8',
  '2:1',
  '2:3',
  '2.35:1',
  '3:2',
  '3:4',
  '4:1',
  '4:3',
  '4:5',
  '5:2',
  '5:4',
  '8:1',
  '9:16',
  '16:9',
  '9:19.5',
  '19.5:9',
  '9:20',
  '20:9',
  '9:21',
  '21:9',
  'auto',
] as const

const reference = t.Object(
  {
    type: t.Literal('image_url'),
    image_url: t.Object({ url: t.String({ minLength: 1, description: 'An https URL or a data URL' }) }, OPEN),
  },
  OPEN,
)

export const imagesBody = bounded(
  t.Object(
    {
      prompt: t.String({ minLength: 1 }),
      model: modelField('Absent: the default image model of the workspace'),
      n: optional(t.Integer({ minimum: 1, maximum: 10, description: 'How many; default 1' })),
      aspect_ratio: optional(oneOf(RATIOS)),
      resolution: optional(oneOf(['512', '1K', '2K', '4K'])),
      size: optional(t.String({ description: '`WIDTHxHEIGHT`, a resolution (`1K`, `2K`, `4K`), or `auto`' })),
      quality: optional(oneOf(['auto', 'low', 'medium', 'high', 'xhigh', 'max', 'standard', 'hd'])),
      background: optional(oneOf(['auto', 'transparent', 'opaque'])),
      output_format: optional(oneOf(['png', 'jpeg', 'webp', 'svg'])),
      output_compression: optional(t.Integer({ minimum: 0, maximum: 100 })),
      seed: optional(t.Integer()),
      input_references: optional(
        t.Array(reference, { maxItems: 16, description: 'Images that the new one starts from' }),
      ),
      mask: optional(reference),
      partial_images: optional(
        t.Integer({
          minimum: 0,
          maximum: 3,
          description: 'Streams: how many drafts, where the model makes them',
        }),
      ),
      // Images come as `b64_json` whatever it says: nothing of a caller's is kept under an address.
      response_format: optional(oneOf(['b64_json', 'url'])),
      stream: optional(t.Boolean({ default: false })),
      ...routingFields,
    },
    OPEN,
  ),
)
export type ImagesBody = Static<typeof imagesBody>
