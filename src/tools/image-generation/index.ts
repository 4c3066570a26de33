import { badRequest } from '../../core/errors.ts'
import {
  BACKGROUNDS,
  IMAGE_FORMATS,
  IMAGE_QUALITIES,
  IMAGE_RATIOS,
  IMAGE_RESOLUTIONS,
} from '../../core/image-words.ts'
import { defined, isText, type JsonObject } from '../../core/json.ts'
import { oneTextTool } from '../description.ts'
import { readParameters } from '../parameters.ts'
import type { ServerTool } from '../tool.ts'

const MOST_USES = 100
const USUAL_USES = 10
const LONGEST_PROMPT = 32_000
/** Models of images take up to two minutes. */
const CALL_MS = 180_000

/** Makes an image by a model of images, and shows it to the caller. */
export const imageGeneration: ServerTool = {
  name: 'image_generation',
  callMs: CALL_MS,
  describe(parameters, place, { imageModel }) {
    const { fields } = readImage(parameters, place)
    imageModel(fields.model, place)
    return oneTextTool(
      'Makes one image from a description and shows it to the user. You do not see the image: do not link to it and do not repeat it.',
      'prompt',
      'What the image shows, in full sentences, with its style',
    )
  },
  async run({ prompt }, { parameters, uses, draw, imageModel }) {
    if (!isText(prompt)) throw new Error('prompt must be a text')
    if (prompt.length > LONGEST_PROMPT) throw new Error(`prompt has more than ${LONGEST_PROMPT} characters`)
    const { fields, mostUses } = readImage(parameters, 'parameters')
    if (uses >= mostUses) throw new Error(`no more than ${mostUses} images are made for this request`)
    const model = imageModel(fields.model, 'parameters')
    const drawn = await draw({ ...fields, model, prompt, n: 1 }, { kind: 'tool' })
    const [image] = drawn.images
    if (image === undefined) throw new Error(`${drawn.model} made no image`)
    const { base64, mediaType, native } = image
    const { revised_prompt: revised } = native
    const type = mediaType ?? 'image/png'
    return {
      text: `${drawn.model} made the image, and the user sees it.${isText(revised) ? ` It was made from: ${revised}` : ''}`,
      item: defined({
        prompt,
        revised_prompt: isText(revised) ? revised : undefined,
        output_format: type.slice('image/'.length),
        result: base64,
      }),
      images: [`data:${type};base64,${base64}`],
    }
  },
}

/** The parameters of the tool's entry. Throws a 400 for one that is wrong or unknown. */
function readImage(parameters: JsonObject, place: string) {
  const read = readParameters(parameters, place)
  const fields = defined({
    model: read.text('model'),
    size: read.text('size'),
    aspect_ratio: read.word('aspect_ratio', IMAGE_RATIOS),
    resolution: read.word('resolution', IMAGE_RESOLUTIONS),
    quality: read.word('quality', IMAGE_QUALITIES),
    background: read.word('background', BACKGROUNDS),
    output_format: read.word('output_format', IMAGE_FORMATS),
    output_compression: read.integer('output_compression', 100),
    seed: read.integer('seed', Number.MAX_SAFE_INTEGER),
  })
  if (fields.size !== undefined && !SIZE.test(fields.size))
    throw badRequest('must be WIDTHxHEIGHT, such as 1024x1024, or 512, 1K, 2K, 4K or auto', `${place}.size`)
  const mostUses = read.integer('max_uses', MOST_USES) ?? USUAL_USES
  read.end()
  return { fields, mostUses }
}

const SIZE = /^(?:auto|512|[124][kK]|[1-9]\d{1,4}x[1-9]\d{1,4})$/
