import { type Static, Type as t } from '@sinclair/typebox'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, isString } from '../../core/json.ts'
import type { EmbeddingsRequest, EmbeddingsResult } from '../../core/operation.ts'
import type { ContentPart } from '../../core/request.ts'
import { promptTokens } from '../../core/usage.ts'
import { routingFields } from '../caller-schema.ts'
import { bounded, openObject, optional } from '../fields.ts'
import { bodyCheck } from '../mismatch.ts'
import type { OperationIngress } from '../operation.ts'
import { embeddingsIngress } from '../operations/embeddings.ts'
import { modelField } from '../operations/fields.ts'
import { viewCost, viewMetadata } from '../usage.ts'
import { createKeep, readPart } from './parse-parts.ts'
import { content } from './schema.ts'

const embedFields = {
  content,
  taskType: optional(t.String({ description: 'The use of the vectors, such as RETRIEVAL_QUERY' })),
  title: optional(t.String()),
  outputDimensionality: optional(t.Integer({ minimum: 1, description: 'The length of the vectors' })),
}
const model = modelField('Of the path')

/** The body of `:embedContent`. */
export const embedBody = bounded(openObject({ model, ...embedFields, ...routingFields }))

/** The body of `:batchEmbedContents`. */
export const batchEmbedBody = bounded(
  openObject({ model, requests: t.Array(openObject(embedFields), { minItems: 1 }), ...routingFields }),
)

const checkBody = bodyCheck(batchEmbedBody)
const checkOne = bodyCheck(embedBody)

type Entry = Pick<Static<typeof embedBody>, 'content' | 'taskType' | 'title' | 'outputDimensionality'>

/**
 * The same request as the body of POST /embeddings. `body` is in camelCase, with the `model` of its path. Throws a
 * `GatewayError` 400 that names the field.
 */
export function neutralEmbedBody(body: JsonObject): JsonObject {
  const isBatch = body.requests !== undefined
  const entries = isBatch ? entriesOf(body) : [entryOf(body)]
  const [first] = entries
  for (const [i, { taskType, outputDimensionality }] of entries.entries()) {
    if (taskType !== first?.taskType || outputDimensionality !== first?.outputDimensionality) {
      throw badRequest(
        'must have the same taskType and outputDimensionality as the first: one call returns vectors of one kind',
        `requests[${i}]`,
      )
    }
  }
  const { model, models, provider, session_id, user, trace } = body
  return defined<JsonObject>({
    model,
    models,
    provider,
    session_id,
    user,
    trace,
    input: plainest(
      entries.map((entry, i) => inputOf(entry, isBatch ? `requests[${i}].content` : 'content')),
    ),
    dimensions: first?.outputDimensionality ?? undefined,
    taskType: first?.taskType ?? undefined,
  })
}

function entryOf(body: JsonObject): Entry {
  return checkOne(body)
}

function entriesOf(body: JsonObject): Entry[] {
  return checkBody(body).requests
}

function inputOf({ content, title }: Entry, at: string): ContentPart[] {
  const keep = createKeep()
  const parts = (content.parts ?? []).flatMap((part, i) => readPart(part, `${at}.parts[${i}]`, keep))
  if (parts.length === 0) throw badRequest('must have at least 1 part that is not empty', `${at}.parts`)
  return title ? [{ type: 'text', text: title }, ...parts] : parts
}

/** Plain texts if all inputs are texts, because every provider takes those; else lists of parts. */
function plainest(inputs: ContentPart[][]): unknown[] {
  const texts = inputs.map((parts) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
  const areTexts = inputs.every((parts, i) => parts.length === texts[i]?.length)
  return areTexts
    ? texts.map((each) => each.join('\n'))
    : inputs.map((parts) => ({ content: parts.map(viewPart) }))
}

function viewPart(part: ContentPart): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return { type: 'image_url', image_url: { url: part.url } }
    case 'video':
      return { type: 'video_url', video_url: { url: part.url } }
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } }
    case 'file':
      return { type: 'file', file: defined({ file_data: part.data ?? part.fileId, filename: part.filename }) }
    case 'unknown':
      throw badRequest('must be text, inlineData or fileData', 'content.parts')
  }
}

/** Google's task type → the neutral one; others are kept. */
const INPUT_TYPES: Readonly<Record<string, string>> = {
  RETRIEVAL_QUERY: 'query',
  RETRIEVAL_DOCUMENT: 'document',
  CLASSIFICATION: 'classification',
  CLUSTERING: 'clustering',
}

/** `:embedContent` and `:batchEmbedContents`, toward callers. `neutralEmbedBody` reads the body first. */
export const embedIngressOf = (isBatch: boolean): OperationIngress<EmbeddingsRequest, EmbeddingsResult> => ({
  parse({ taskType, ...body }, headers) {
    const request = embeddingsIngress.parse(body, headers)
    return isString(taskType) ? { ...request, inputType: INPUT_TYPES[taskType] ?? taskType } : request
  },
  writeReply({ embeddings }, reply, closing) {
    const vectors = embeddings.map((embedding) => ({ values: isString(embedding) ? [] : embedding }))
    return {
      ...(isBatch ? { embeddings: vectors } : { embedding: vectors[0] }),
      usageMetadata: { promptTokenCount: promptTokens(closing.usage), ...viewCost(closing) },
      modelVersion: reply.model,
      responseId: reply.generationId,
      ...viewMetadata(closing.serviceMetadata),
    }
  },
})
