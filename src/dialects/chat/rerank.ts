import { isObject, isString } from '../../core/json.ts'
import type { RerankRequest, RerankResult } from '../../core/operation.ts'
import type { Operation } from '../operation.ts'
import { forwardedBody } from '../operations/fields.ts'
import { readJson } from '../operations/reply.ts'
import { readRanking, readRankingUsage } from '../operations/rerank.ts'

/**
 * `/rerank` in the shape that Jina, Together, vLLM and others share with Cohere, and Voyage nearly: it says `top_k`,
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
      upstreamId: isString(body['id']) ? body['id'] : null,
      usage: readRankingUsage(body),
    }
  },
}
