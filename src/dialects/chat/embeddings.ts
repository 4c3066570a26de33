import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { EmbeddingsRequest, EmbeddingsResult } from '../../core/operation.ts'
import type { ProviderQuirks } from '../../core/snapshot.ts'
import type { Operation } from '../operation.ts'
import { nativeOf, readEmbeddingList } from '../operations/embeddings.ts'
import { forwardedBody } from '../operations/fields.ts'
import { malformed, readInputUsage, readJsonObject } from '../operations/reply.ts'

/** OpenAI's `/embeddings`, which nearly every provider of any dialect has. */
export const chatEmbeddings: Operation<EmbeddingsRequest, EmbeddingsResult> = {
  build(request, attempt) {
    const body = forwardedBody(request, attempt)
    applyQuirks(body, attempt.provider.quirks)
    // Providers without a word for it may refuse one: it is sent only if the caller wrote it for this form.
    const isUnsaid = request.inputType !== undefined && request.body['input_type'] === undefined
    return { path: '/embeddings', headers: {}, body, dropped: isUnsaid ? ['input_type'] : [] }
  },
  async read(reply, request) {
    const body = await readJsonObject(reply)
    if (!Array.isArray(body['data'])) throw malformed('the reply has no list of embeddings')
    const embeddings = readEmbeddingList(inOrder(body['data']), request.inputs.length)
    if (embeddings === null) throw malformed('the reply has not one embedding for each input')
    return {
      result: { embeddings },
      upstreamId: isString(body['id']) ? body['id'] : null,
      usage: readInputUsage(body['usage']),
      native: nativeOf(body, ['data']),
    }
  },
}

/** Voyage and Mistral name the length otherwise, and Voyage takes no word for plain numbers. */
function applyQuirks(body: JsonObject, { embeddings }: ProviderQuirks): void {
  if (embeddings?.dimensionsField !== undefined && body['dimensions'] !== undefined) {
    body[embeddings.dimensionsField] = body['dimensions']
    delete body['dimensions']
  }
  if (embeddings?.floatFormat === false && body['encoding_format'] === 'float') delete body['encoding_format']
}

/** By `index` where all have one, as the servers that answer out of order do; else as they came. */
function inOrder(data: readonly unknown[]): unknown[] {
  const entries = data.map((entry, place) => {
    const index = isObject(entry) ? entry['index'] : undefined
    return {
      embedding: isObject(entry) ? entry['embedding'] : undefined,
      index: typeof index === 'number' ? index : place,
    }
  })
  return entries.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding)
}
