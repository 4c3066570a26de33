import type { JsonObject } from '../../core/events.ts'
import type { EmbeddingInput, EmbeddingsRequest, EmbeddingsResult } from '../../core/operation.ts'
import type { Operation } from '../operation.ts'
import { readEmbeddingList } from '../operations/embeddings.ts'
import { providerOptions } from '../operations/forward.ts'
import { malformed, readJsonObject } from '../operations/reply-body.ts'
import { defined, isObject } from '../values.ts'
import { leaveOutInto } from './left-out.ts'
import { writePart } from './parts.ts'
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
    const { inputType } = request
    const requests = request.inputs.map((input) =>
      defined<JsonObject>({
        model: `models/${name}`,
        content: { parts: partsOf(input, leaveOut) },
        taskType: inputType === undefined ? undefined : (TASKS[inputType.toLowerCase()] ?? inputType),
        outputDimensionality: request.dimensions,
        ...providerOptions(request.body, provider.slug),
      }),
    )
    const path = `/models/${encodeURIComponent(name)}:batchEmbedContents`
    return { path, headers: {}, body: { requests }, dropped }
  },
  async read(reply, request) {
    const body = await readJsonObject(reply)
    const list = Array.isArray(body['embeddings']) ? body['embeddings'] : []
    const values = list.map((entry: unknown) => (isObject(entry) ? entry['values'] : undefined))
    const embeddings = readEmbeddingList(values, request.inputs.length)
    if (embeddings === null) throw malformed('the reply has not one embedding for each input')
    return { result: { embeddings }, upstreamId: null, usage: readUsage(body['usageMetadata']) ?? null }
  },
}

function partsOf(input: EmbeddingInput, leaveOut: (name: string) => void): JsonObject[] {
  if (input.type === 'text') return [{ text: input.text }]
  return input.type === 'parts' ? input.parts.flatMap((part) => writePart(part, leaveOut)) : []
}
