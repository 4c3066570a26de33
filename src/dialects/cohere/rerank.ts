import type { JsonObject } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import type { RerankDocument, RerankRequest, RerankResult } from '../../core/operation.ts'
import type { Operation } from '../operation.ts'
import { forwardedBody } from '../operations/forward.ts'
import { readRanking, readRankingUsage } from '../operations/ranking.ts'
import { readJsonObject } from '../operations/reply-body.ts'

/** Cohere's `/v2/rerank`: its documents are texts, and objects become YAML, as Cohere itself advises. */
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
      upstreamId: isString(body['id']) ? body['id'] : null,
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
