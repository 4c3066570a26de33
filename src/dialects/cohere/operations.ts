import type { JsonObject } from '../../core/events.ts'
import { asText, defined, fieldsOf, isObject, isString } from '../../core/json.ts'
import type {
  EmbeddingInput,
  EmbeddingsRequest,
  EmbeddingsResult,
  RerankDocument,
  RerankRequest,
  RerankResult,
} from '../../core/operation.ts'
import type { ContentPart } from '../../core/request.ts'
import type { Operation } from '../operation.ts'
import { readEmbeddingList } from '../operations/embeddings.ts'
import { forwardedBody, providerOptions } from '../operations/fields.ts'
import { vectorLimit } from '../operations/model-limits.ts'
import { countOf, malformed, readInputUsage, readJsonObject } from '../operations/reply.ts'
import { readRanking, readRankingUsage } from '../operations/rerank.ts'

/** Other providers' input types → Cohere's, which requires one; its own are kept. */
const INPUT_TYPES: Readonly<Record<string, string>> = {
  query: 'search_query',
  retrieval_query: 'search_query',
  document: 'search_document',
  passage: 'search_document',
  retrieval_document: 'search_document',
}
const DEFAULT_INPUT_TYPE = 'search_document'

/**
 * Cohere's `/v2/embed`.
 *
 * | OpenAI's | Cohere's |
 * |---|---|
 * | `input` of texts | `texts` |
 * | `input` of parts | `inputs[].content` (text, image_url) |
 * | `dimensions` | `output_dimension` |
 * | `input_type` | `input_type`, else `search_document` |
 * | `encoding_format` | `embedding_types` |
 * | `user` | dropped by name |
 */
export const cohereEmbeddings: Operation<EmbeddingsRequest, EmbeddingsResult> = {
  cannot(request, endpoint) {
    const { inputs } = request
    if (inputs.some(({ type }) => type === 'tokens')) return 'embeds text, not token ids'
    const hasOther = inputs.some((input) => input.type === 'parts' && !input.parts.every(isTextOrImage))
    return hasOther ? 'embeds texts and images alone' : vectorLimit(request, endpoint)
  },
  build(request, { endpoint, provider }) {
    const { inputs, inputType, dimensions, encodingFormat } = request
    const texts = inputs.flatMap((input) => (input.type === 'text' ? [input.text] : []))
    const areTexts = texts.length === inputs.length
    const known = inputType === undefined ? DEFAULT_INPUT_TYPE : INPUT_TYPES[inputType.toLowerCase()]
    const body = defined<JsonObject>({
      model: endpoint.upstreamId,
      input_type: known ?? inputType,
      embedding_types: [encodingFormat],
      ...(areTexts ? { texts } : { inputs: inputs.map(writeInput) }),
      output_dimension: dimensions,
      ...providerOptions(request.body, provider.slug),
    })
    return { path: '/embed', headers: {}, body, dropped: request.user === undefined ? [] : ['user'] }
  },
  async read(reply, request) {
    const body = await readJsonObject(reply)
    const byType = fieldsOf(body['embeddings'])
    const list = byType[request.encodingFormat] ?? byType['float']
    const embeddings = Array.isArray(list) ? readEmbeddingList(list, request.inputs.length) : null
    if (embeddings === null) throw malformed('the reply has not one embedding for each input')
    const meta = fieldsOf(body['meta'])
    return {
      result: { embeddings },
      upstreamId: asText(body['id']) ?? null,
      usage: billedOf(meta['billed_units']),
    }
  },
}

const isTextOrImage = ({ type }: ContentPart): boolean => type === 'text' || type === 'image'

function writeInput(input: EmbeddingInput): JsonObject {
  const parts: ContentPart[] =
    input.type === 'parts' ? input.parts : input.type === 'text' ? [{ type: 'text', text: input.text }] : []
  return {
    content: parts.map((part) => {
      if (part.type === 'image') return { type: 'image_url', image_url: { url: part.url } }
      return { type: 'text', text: part.type === 'text' ? part.text : '' }
    }),
  }
}

/** `{input_tokens, image_tokens}`: here the text tokens exclude images. Older models count `{images}`, and no tokens. */
function billedOf(billed: unknown) {
  if (!isObject(billed)) return null
  const images = countOf(billed['image_tokens'])
  const texts = countOf(billed['input_tokens'])
  if (images === undefined && texts === undefined) return null
  return readInputUsage({ prompt_tokens: (texts ?? 0) + (images ?? 0), image_tokens: images })
}

/** Cohere's `/v2/rerank`: its documents are texts; objects become YAML, as Cohere recommends. */
export const cohereRerank: Operation<RerankRequest, RerankResult> = {
  cannot: ({ documents }) =>
    documents.some((document) => !isString(document) && document.image !== undefined)
      ? 'ranks texts, not images'
      : null,
  build(request, attempt) {
    const body = forwardedBody(request, attempt, ['user', 'return_documents', 'rank_fields'])
    body['documents'] = request.documents.map(textOf)
    const dropped = request.user === undefined ? [] : ['user']
    return { path: '/rerank', headers: {}, body, dropped }
  },
  async read(reply, request) {
    const body: JsonObject = await readJsonObject(reply)
    return {
      result: readRanking(body['results'], request),
      upstreamId: asText(body['id']) ?? null,
      usage: readRankingUsage(body),
    }
  },
}

function textOf(document: RerankDocument): string {
  if (isString(document)) return document
  const entries = Object.entries(document).filter(([, value]) => value !== undefined && value !== null)
  const [only] = entries
  if (entries.length === 1 && only?.[0] === 'text' && isString(only[1])) return only[1]
  return entries
    .map(([name, value]) => `${name}: ${isString(value) ? value : JSON.stringify(value)}`)
    .join('\n')
}
