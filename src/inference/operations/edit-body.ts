import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { INFERENCE_BODY_LIMIT, readJsonBody } from '../../http/body.ts'
import { isForm, readForm } from '../../http/form.ts'
import type { Incoming } from '../../http/incoming.ts'

/** Sixteen images of a few megabytes. */
const FORM_LIMIT_BYTES = 100_000_000

const NUMBERS = ['n', 'output_compression', 'partial_images', 'seed']

/**
 * Converts the body of POST /images/edits to that of POST /images. Accepts what OpenAI's clients send: a form with `image`
 * files, or JSON with `images`. Throws a `GatewayError` 400 that names the field.
 */
export async function readEditBody(incoming: Incoming): Promise<JsonObject> {
  if (!isForm(incoming.request.headers)) return fromJson(await readJsonBody(incoming, INFERENCE_BODY_LIMIT))
  const form = await readForm(incoming, FORM_LIMIT_BYTES)
  const body: JsonObject = {}
  const references: JsonObject[] = []
  for (const [name, value] of form.entries()) {
    if (typeof value !== 'string') {
      if (name === 'mask') {
        body['mask'] = referenceTo(await dataUrlOf(value))
        continue
      }
      if (!/^images?(?:\[\d*\])?$/.test(name)) throw badRequest('must not be a file', name)
      references.push(referenceTo(await dataUrlOf(value)))
    } else body[name] = fieldOf(name, value)
  }
  if (references.length === 0) throw badRequest('is required: at least one file', 'image')
  return { ...body, input_references: references }
}

function fieldOf(name: string, text: string): unknown {
  if (NUMBERS.includes(name) && /^-?\d+$/.test(text)) return Number(text)
  if (name === 'stream') return text === 'true' || (text === 'false' ? false : text)
  return name === 'provider' || name === 'trace' ? parsed(text, name) : text
}

function parsed(text: string, name: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    throw badRequest('must be JSON', name)
  }
}

const dataUrlOf = async (file: Blob): Promise<string> =>
  `data:${file.type || 'image/png'};base64,${Buffer.from(await file.arrayBuffer()).toString('base64')}`

const referenceTo = (url: string): JsonObject => ({ type: 'image_url', image_url: { url } })

function fromJson({ images, mask, ...body }: JsonObject): JsonObject {
  const maskUrl = isObject(mask) ? mask['image_url'] : undefined
  const masked =
    mask === undefined ? body : { ...body, mask: typeof maskUrl === 'string' ? referenceTo(maskUrl) : mask }
  if (images === undefined) return masked
  if (!Array.isArray(images) || images.length === 0) throw badRequest('must be a list of images', 'images')
  const references = images.map((image: unknown, index) => {
    const url = isObject(image) ? image['image_url'] : undefined
    if (typeof url !== 'string')
      throw badRequest('is required: an https URL or a data URL', `images[${index}].image_url`)
    return referenceTo(url)
  })
  return { ...masked, input_references: references }
}
