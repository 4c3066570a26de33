import { type Static, Type as t } from '@sinclair/typebox'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, fieldsOf, isObject, isString } from '../../core/json.ts'
import type { Embedding, EmbeddingInput, EmbeddingsRequest, EmbeddingsResult } from '../../core/operation.ts'
import type { ContentPart } from '../../core/request.ts'
import { promptTokens } from '../../core/usage.ts'
import { readRouting } from '../caller-fields.ts'
import { routingFields } from '../caller-schema.ts'
import { bounded, oneOf, openObject, optional } from '../fields.ts'
import { bodyCheck, kindText } from '../mismatch.ts'
import type { OperationIngress } from '../operation.ts'
import { viewCost, viewMetadata } from '../usage.ts'
import { modelField } from './fields.ts'

const textPart = openObject({ type: t.Literal('text'), text: t.String({ minLength: 1 }) })
const imagePart = openObject({
  type: t.Literal('image_url'),
  image_url: openObject({ url: t.String({ minLength: 1, description: 'An https URL or a data URL' }) }),
})
const audioPart = openObject({
  type: t.Literal('input_audio'),
  input_audio: openObject({
    data: t.String({ minLength: 1, description: 'Base64' }),
    format: t.String({ minLength: 1 }),
  }),
})
const filePart = openObject({
  type: t.Literal('file'),
  file: openObject({ file_data: optional(t.String()), filename: optional(t.String()) }),
})
const videoPart = openObject({
  type: oneOf(['video_url', 'input_video']),
  video_url: openObject({ url: t.String({ minLength: 1 }) }),
})
const embeddingPart = t.Union([textPart, imagePart, audioPart, filePart, videoPart])

const text = t.String({ minLength: 1 })
const tokens = t.Array(t.Integer({ minimum: 0 }), { minItems: 1, description: 'Token ids' })
const item = openObject({ content: t.Array(embeddingPart, { minItems: 1 }) })

/** Inputs of parts, checked separately: an error in one form is clearer than one in the union. */
const embeddingItems = bounded(openObject({ input: t.Array(item, { minItems: 1 }) }))

export const embeddingsBody = bounded(
  openObject({
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
      t.String({ minLength: 1, description: 'The use of the vectors, such as `query` or `document`' }),
    ),
    ...routingFields,
  }),
)
type EmbeddingsBody = Static<typeof embeddingsBody>
type EmbeddingPart = Static<typeof embeddingPart>

const checkBody = bodyCheck(embeddingsBody)
const checkItems = bodyCheck(embeddingItems)

/** POST /embeddings, in OpenAI's shape. */
export const embeddingsIngress: OperationIngress<EmbeddingsRequest, EmbeddingsResult> = {
  parse(input, headers) {
    checkInput(input)
    const body = checkBody(input)
    return defined<EmbeddingsRequest>({
      ...readRouting('embeddings', body, headers),
      inputs: inputsOf(body.input),
      dimensions: body.dimensions ?? undefined,
      encodingFormat: body.encoding_format ?? 'float',
      inputType: body.input_type ?? undefined,
    })
  },
  writeReply({ embeddings }, reply, closing) {
    const prompt = promptTokens(closing.usage)
    const { usage, ...native } = reply.native
    return {
      ...native,
      id: reply.generationId,
      object: 'list',
      model: reply.model,
      provider: reply.providerName,
      data: embeddings.map((embedding, index) => ({
        object: 'embedding',
        index,
        embedding: inFormat(embedding, reply.request.encodingFormat),
      })),
      usage: {
        ...fieldsOf(usage),
        prompt_tokens: prompt,
        total_tokens: prompt,
        ...viewCost(closing),
      },
      ...viewMetadata(closing.serviceMetadata),
    }
  },
}

/** All entries must have the kind of the first: the schema alone would explain the wrong kind. */
function checkInput(body: JsonObject): void {
  const { input } = body
  if (input === '') throw badRequest('must not be empty', 'input')
  if (!Array.isArray(input)) return
  if (input.length === 0) throw badRequest('must have at least 1 entry, not 0', 'input')
  const [first] = input
  const kind = kindOf(first)
  if (kind === 'item' && input.every(isObject)) {
    checkItems(body)
  }
  for (const [index, entry] of input.entries()) {
    const place = `input[${index}]`
    if (kind === null) {
      throw badRequest(
        `must be a text, a token id, a list of token ids, or an object with "content", not ${kindText(first)}`,
        'input[0]',
      )
    }
    if (kindOf(entry) !== kind)
      throw badRequest(`must be ${KINDS[kind]}, as the first entry is, not ${kindText(entry)}`, place)
    if (entry === '') throw badRequest('must not be empty', place)
    if (kind === 'token' && !isTokenId(entry)) throw badRequest(TOKEN_IDS, place)
    if (Array.isArray(entry)) {
      if (entry.length === 0) throw badRequest('must have at least 1 entry, not 0', place)
      const wrong = entry.findIndex((token) => !isTokenId(token))
      if (wrong !== -1) throw badRequest(TOKEN_IDS, `${place}[${wrong}]`)
    }
  }
}

const KINDS = {
  text: 'a text',
  token: 'a token id',
  tokens: 'a list of token ids',
  item: 'an object with "content"',
} as const
const TOKEN_IDS = 'must be a token id: a whole number of at least 0'
const isTokenId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

function kindOf(entry: unknown): keyof typeof KINDS | null {
  if (isString(entry)) return 'text'
  if (typeof entry === 'number') return 'token'
  if (Array.isArray(entry)) return 'tokens'
  return isObject(entry) ? 'item' : null
}

function inputsOf(input: EmbeddingsBody['input']): EmbeddingInput[] {
  if (isString(input)) return [{ type: 'text', text: input }]
  const tokens = input.filter((entry) => typeof entry === 'number')
  if (tokens.length > 0) return [{ type: 'tokens', tokens }]
  const inputs: EmbeddingInput[] = []
  for (const [index, entry] of input.entries()) {
    if (typeof entry === 'number') continue
    if (isString(entry)) inputs.push({ type: 'text', text: entry })
    else if (Array.isArray(entry)) inputs.push({ type: 'tokens', tokens: entry })
    else {
      const parts = entry.content.map((part, i) => partOf(part, `input[${index}].content[${i}]`))
      inputs.push({ type: 'parts', parts })
    }
  }
  return inputs
}

function partOf(part: EmbeddingPart, place: string): ContentPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image_url':
      return { type: 'image', url: part.image_url.url }
    case 'input_audio':
      return { type: 'audio', data: part.input_audio.data, format: part.input_audio.format }
    case 'file': {
      const { file_data: data, filename } = part.file
      if (!data) throw badRequest('is required: a data URL or an https URL', `${place}.file.file_data`)
      return defined<ContentPart>({ type: 'file', data, filename: filename ?? undefined })
    }
    default:
      return { type: 'video', url: part.video_url.url }
  }
}

/** The vector in the requested format. */
function inFormat(embedding: Embedding, format: EmbeddingsRequest['encodingFormat']): Embedding {
  if (format === 'base64') return isString(embedding) ? embedding : base64Of(embedding)
  return isString(embedding) ? numbersOf(embedding) : embedding
}

const base64Of = (numbers: readonly number[]): string =>
  Buffer.from(new Float32Array(numbers).buffer).toString('base64')

function numbersOf(base64: string): number[] {
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'))
  return [...new Float32Array(bytes.buffer, 0, bytes.byteLength >> 2)]
}

/** The embedding of a reply; null for anything else. A vector has at least one number, of 4 bytes in base64. */
function embeddingOf(value: unknown): Embedding | null {
  if (isString(value)) {
    const bytes = Buffer.byteLength(value, 'base64')
    return bytes > 0 && bytes % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(value) ? value : null
  }
  if (!Array.isArray(value) || value.length === 0) return null
  return value.every((number) => typeof number === 'number') ? value : null
}

export const readEmbeddingList = (values: readonly unknown[], expected: number): Embedding[] | null => {
  if (values.length !== expected) return null
  const embeddings: Embedding[] = []
  for (const value of values) {
    const embedding = embeddingOf(value)
    if (embedding === null) return null
    embeddings.push(embedding)
  }
  return embeddings
}

/** The provider's fields that the writer does not set itself. */
export function nativeOf(body: JsonObject, known: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !known.includes(name)))
}
