import type { JsonObject } from '../../core/events.ts'
import { asObject, asText, isObject } from '../../core/json.ts'
import type {
  EmbeddingsRequest,
  EmbeddingsResult,
  ModerationRequest,
  ModerationResult,
  RerankRequest,
  RerankResult,
} from '../../core/operation.ts'
import type { ProviderQuirks } from '../../core/snapshot.ts'
import type { Operation } from '../operation.ts'
import { nativeOf, readEmbeddingList } from '../operations/embeddings.ts'
import { forwardedBody } from '../operations/fields.ts'
import { vectorLimit } from '../operations/model-limits.ts'
import { malformed, readInputUsage, readJson, readJsonObject } from '../operations/reply.ts'
import { readRanking, readRankingUsage } from '../operations/rerank.ts'

/** OpenAI's `/embeddings`, which nearly every provider of any dialect has. */
export const chatEmbeddings: Operation<EmbeddingsRequest, EmbeddingsResult> = {
  cannot: vectorLimit,
  build(request, attempt) {
    const body = forwardedBody(request, attempt)
    applyQuirks(body, request, attempt.provider.quirks)
    // Providers without a word for it may refuse one: it is sent only if the caller wrote it for this form.
    const isUnsaid = request.inputType !== undefined && body['input_type'] === undefined
    return { path: '/embeddings', headers: {}, body, dropped: isUnsaid ? ['input_type'] : [] }
  },
  async read(reply, request) {
    const body = await readJsonObject(reply)
    if (!Array.isArray(body['data'])) throw malformed('the reply has no list of embeddings')
    const embeddings = readEmbeddingList(inOrder(body['data']), request.inputs.length)
    if (embeddings === null) throw malformed('the reply has not one embedding for each input')
    return {
      result: { embeddings },
      upstreamId: asText(body['id']) ?? null,
      usage: readInputUsage(body['usage']),
      native: nativeOf(body, ['data']),
    }
  },
}

/** Voyage and Mistral name the length otherwise, and Voyage takes no word for plain numbers. */
function applyQuirks(
  body: JsonObject,
  { inputType }: EmbeddingsRequest,
  { embeddings }: ProviderQuirks,
): void {
  if (embeddings?.inputTypes !== undefined && inputType !== undefined)
    body['input_type'] = wordFor(inputType, embeddings.inputTypes)
  if (embeddings?.dimensionsField !== undefined && body['dimensions'] !== undefined) {
    body[embeddings.dimensionsField] = body['dimensions']
    delete body['dimensions']
  }
  if (embeddings?.floatFormat === false && body['encoding_format'] === 'float') delete body['encoding_format']
}

/** The words of other vendors for the same two uses become this vendor's; others are left as they are. */
function wordFor(inputType: string, words: { query: string; document: string }): string {
  if (/^(?:search_|retrieval_)?query$/i.test(inputType)) return words.query
  return /^(?:(?:search_|retrieval_)?document|passage)$/i.test(inputType) ? words.document : inputType
}

/** By `index` where all have one, as the servers that answer out of order do; else as they came. */
function inOrder(data: readonly unknown[]): unknown[] {
  const entries = data.map((entry, place) => {
    const index = asObject(entry)?.['index']
    return {
      embedding: asObject(entry)?.['embedding'],
      index: typeof index === 'number' ? index : place,
    }
  })
  return entries.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding)
}

/** OpenAI's `/moderations`, which Mistral has in the same shape. */
export const chatModerations: Operation<ModerationRequest, ModerationResult> = {
  build: (request, attempt) => ({
    path: '/moderations',
    headers: {},
    body: forwardedBody(request, attempt),
    dropped: [],
  }),
  async read(reply) {
    const body = await readJsonObject(reply)
    const { results } = body
    if (!Array.isArray(results) || !results.every(isObject)) throw malformed('the reply has no results')
    return {
      result: { results },
      upstreamId: asText(body['id']) ?? null,
      usage: readInputUsage(body['usage']),
      native: nativeOf(body, ['results', 'usage']),
    }
  },
}

/**
 * `/rerank` in the shape that Jina, Together, vLLM and others share with Cohere, and Voyage nearly: it uses `top_k`,
 * and answers in `data`. Documents go as they came, and are never asked back: the writer has them.
 */
export const chatRerank: Operation<RerankRequest, RerankResult> = {
  build(request, attempt) {
    const body = forwardedBody(request, attempt, ['return_documents'])
    const { rankingBoundField } = attempt.provider.quirks
    if (rankingBoundField !== undefined && body['top_n'] !== undefined) {
      body[rankingBoundField] = body['top_n']
      delete body['top_n']
    }
    return { path: '/rerank', headers: {}, body, dropped: [] }
  },
  async read(reply, request) {
    const body = await readJson(reply)
    if (!isObject(body)) return { result: readRanking(body, request), upstreamId: null, usage: null }
    return {
      result: readRanking(body['results'] ?? body['data'], request),
      upstreamId: asText(body['id']) ?? null,
      usage: readRankingUsage(body),
    }
  },
}
