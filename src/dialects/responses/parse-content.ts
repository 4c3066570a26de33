import { badRequest } from '../../core/errors.ts'
import { defined, restOf } from '../../core/json.ts'
import type { ContentPart } from '../../core/request.ts'
import { checkImageUrl } from '../image-data.ts'
import type { Content, Part } from './schema-items.ts'

interface ReadContent {
  /** One text without marks is a string: many providers take nothing else from some roles. */
  content: string | ContentPart[] | null
  refusal?: string
}

/** Checked content → neutral parts. `at` is its path. Throws a `GatewayError` 400 for invalid images. */
export function readContent(content: Content | null | undefined, at: string): ReadContent {
  if (content === null || content === undefined || typeof content === 'string') {
    return { content: content ?? null }
  }
  const parts = content.flatMap((part, i) => readPart(part, `${at}[${i}]`))
  const refusals = content.flatMap((part) => (part.type === 'refusal' ? [part.refusal] : []))
  return defined({
    content: plain(parts, refusals.length > 0),
    refusal: refusals.length > 0 ? refusals.join('\n') : undefined,
  })
}

function plain(parts: ContentPart[], mayBeNull: boolean): string | ContentPart[] | null {
  const [only, ...more] = parts
  if (only === undefined) return mayBeNull ? null : ''
  return more.length === 0 && only.type === 'text' && only.extra === undefined ? only.text : parts
}

/** Fields that a former reply or OpenAI's client added to a text: never sent again. */
const TEXT = new Set(['type', 'text', 'annotations', 'logprobs', 'parsed'])
const IMAGE = new Set(['type', 'image_url', 'file_id', 'detail'])
const FILE = new Set(['type', 'file_data', 'file_url', 'file_id', 'filename', 'detail'])
const AUDIO = new Set(['type', 'input_audio'])
const VIDEO = new Set(['type', 'video_url'])

function readPart(part: Part, at: string): ContentPart[] {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return [defined({ type: 'text', text: part.text, extra: restOf(part, TEXT) })]
    case 'refusal':
      return []
    case 'input_image':
      return [readImage(part, at)]
    case 'input_file':
      return [readFile(part, at)]
    case 'input_audio': {
      const { data, format } = part.input_audio
      return [defined({ type: 'audio', data, format, extra: restOf(part, AUDIO) })]
    }
    case 'input_video':
      return [defined({ type: 'video', url: part.video_url, extra: restOf(part, VIDEO) })]
  }
}

function readImage(part: Extract<Part, { type: 'input_image' }>, at: string): ContentPart {
  const { image_url: url, file_id, detail } = part
  if (!url) {
    // An image of the provider's own file store.
    if (file_id) return { type: 'unknown', data: { ...part } }
    throw badRequest('is required: an https URL or a data URL (or file_id)', `${at}.image_url`)
  }
  checkImageUrl(url, `${at}.image_url`)
  return defined({ type: 'image', url, detail: detail ?? undefined, extra: restOf(part, IMAGE) })
}

function readFile(part: Extract<Part, { type: 'input_file' }>, at: string): ContentPart {
  const { file_data, file_url, file_id, filename } = part
  const data = file_data ?? file_url ?? undefined
  if (data === undefined && !file_id) {
    throw badRequest('must have file_data (a data URL), file_url or file_id', at)
  }
  return defined({
    type: 'file',
    data,
    fileId: data === undefined ? (file_id ?? undefined) : undefined,
    filename: filename ?? undefined,
    extra: restOf(part, FILE),
  })
}
