import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, isObject } from '../../core/json.ts'
import type { EmbeddingInput, EmbeddingsRequest, EmbeddingsResult } from '../../core/operation.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import type { Operation } from '../operation.ts'
import { readEmbeddingList } from '../operations/embeddings.ts'
import { providerOptions } from '../operations/fields.ts'
import { countOf, malformed, readJsonObject } from '../operations/reply.ts'
import { leaveOutInto, writePart } from './build-parts.ts'
import { readUsage } from './usage.ts'

/** What vectors are for, in other providers' words; Google's own pass as they are. */
const TASKS: Readonly<Record<string, string>> = {
  query: 'RETRIEVAL_QUERY',
  search_query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  search_document: 'RETRIEVAL_DOCUMENT',
  passage: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
}

/**
 * Google's `batchEmbedContents`: one request for each input.
 *
 * | OpenAI's | Google's |
 * |---|---|
 * | `input` | `requests[].content.parts` |
 * | `dimensions` | `requests[].outputDimensionality` |
 * | `input_type` | `requests[].taskType` |
 * | `encoding_format` | none: numbers come, and are written as asked |
 * | `user` | none: named |
 *
 * Vertex has `predict` with `instances[]` of `content` and `task_type`, and counts the tokens of each; text alone.
 */
export const geminiEmbeddings: Operation<EmbeddingsRequest, EmbeddingsResult> = {
  cannot({ inputs }) {
    if (inputs.some(({ type }) => type === 'tokens')) return 'embeds text, not token ids'
    const hasUrl = inputs.some(
      (input) =>
        input.type === 'parts' &&
        input.parts.some((part) => part.type === 'image' && /^https?:/i.test(part.url)),
    )
    return hasUrl ? 'embeds images from data URLs, not from addresses' : null
  },
  build(request, { endpoint, provider }) {
    const dropped: string[] = []
    const leaveOut = leaveOutInto(dropped)
    if (request.user !== undefined) leaveOut('user')
    const name = endpoint.upstreamId.replace(/^models\//, '')
    const taskType = taskOf(request)
    if (provider.quirks.embeddings?.form === 'instances') {
      const body = instancesOf(request, taskType, providerOptions(request.body, provider.slug))
      return { path: `/models/${encodeURIComponent(name)}:predict`, headers: {}, body, dropped }
    }
    const requests = request.inputs.map((input) =>
      defined<JsonObject>({
        model: `models/${name}`,
        content: { parts: partsOf(input, leaveOut) },
        taskType,
        outputDimensionality: request.dimensions,
        ...providerOptions(request.body, provider.slug),
      }),
    )
    const path = `/models/${encodeURIComponent(name)}:batchEmbedContents`
    return { path, headers: {}, body: { requests }, dropped }
  },
  async read(reply, request) {
    const body = await readJsonObject(reply)
    const predictions: unknown[] | null = Array.isArray(body['predictions']) ? body['predictions'] : null
    const list: unknown[] = predictions?.map(embeddingIn) ?? listOf(body['embeddings'])
    const values = list.map((entry) => (isObject(entry) ? entry['values'] : undefined))
    const embeddings = readEmbeddingList(values, request.inputs.length)
    if (embeddings === null) throw malformed('the reply has not one embedding for each input')
    const usage = predictions === null ? readUsage(body['usageMetadata']) : countedIn(list)
    return { result: { embeddings }, upstreamId: null, usage: usage ?? null }
  },
}

const taskOf = ({ inputType }: EmbeddingsRequest): string | undefined =>
  inputType === undefined ? undefined : (TASKS[inputType.toLowerCase()] ?? inputType)

function instancesOf(
  { inputs, dimensions }: EmbeddingsRequest,
  taskType: string | undefined,
  options: JsonObject,
): JsonObject {
  const instances = inputs.map((input, index) =>
    defined<JsonObject>({ content: textOf(input, index), task_type: taskType }),
  )
  return { instances, parameters: defined<JsonObject>({ outputDimensionality: dimensions, ...options }) }
}

function textOf(input: EmbeddingInput, index: number): string {
  if (input.type === 'text') return input.text
  const parts = input.type === 'parts' ? input.parts : []
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text
      throw badRequest('must be text: this provider embeds nothing else', `input[${index}].content`)
    })
    .join('')
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const embeddingIn = (prediction: unknown): unknown =>
  isObject(prediction) ? prediction['embeddings'] : undefined

/** `statistics.token_count` of all; undefined where one does not tell it. */
function countedIn(list: readonly unknown[]): Usage | undefined {
  let inputTokens = 0
  for (const entry of list) {
    const statistics = isObject(entry) ? entry['statistics'] : undefined
    const count = countOf(isObject(statistics) ? statistics['token_count'] : undefined)
    if (count === undefined) return undefined
    inputTokens += count
  }
  return { ...NO_USAGE, inputTokens }
}

function partsOf(input: EmbeddingInput, leaveOut: (name: string) => void): JsonObject[] {
  if (input.type === 'text') return [{ text: input.text }]
  return input.type === 'parts' ? input.parts.flatMap((part) => writePart(part, leaveOut)) : []
}
