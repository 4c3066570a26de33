import { isObject, isString } from '../../core/json.ts'
import type { ModerationRequest, ModerationResult } from '../../core/operation.ts'
import type { Operation } from '../operation.ts'
import { nativeOf } from '../operations/embeddings.ts'
import { forwardedBody } from '../operations/fields.ts'
import { malformed, readInputUsage, readJsonObject } from '../operations/reply.ts'

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
      upstreamId: isString(body['id']) ? body['id'] : null,
      usage: readInputUsage(body['usage']),
      native: nativeOf(body, ['results', 'usage']),
    }
  },
}
