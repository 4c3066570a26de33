/** Two providers of embeddings, the first of which ranks too, with OpenAI's own client. */
import { beforeEach } from 'bun:test'
import { gatewayOfFile, lastRowOf, openaiOf } from '../file-setup.ts'
import { type Answer, startUpstream } from '../upstream.ts'

const vectors = { architecture: { output_modalities: ['embeddings'] } }
const ranking = { architecture: { output_modalities: ['rerank'] } }

export async function startForEmbeddings() {
  const [first, second] = [startUpstream(), startUpstream()]
  const gateway = await gatewayOfFile(
    {
      listens: true,
      providers: [
        {
          slug: 'one',
          name: 'One',
          base_url: first.baseUrl,
          api_key: 'secret-of-one',
          models: [
            { id: 'vec', ...vectors, pricing: { prompt: '0.00000013', completion: '0' } },
            { id: 'vec-free', pricing: { prompt: '0', completion: '0' } },
            { id: 'vec-unpriced', ...vectors },
            { id: 'rank', ...ranking, pricing: { request: '0.002' } },
            { id: 'rank-tokens', ...ranking, pricing: { prompt: '0.00000005' } },
            { id: 'talk', architecture: { output_modalities: ['text'] }, pricing: { prompt: '0.000001' } },
          ],
        },
        {
          slug: 'two',
          name: 'Two',
          base_url: second.baseUrl,
          models: [{ id: 'vec', ...vectors, pricing: { prompt: '0.0000002', completion: '0' } }],
        },
      ],
    },
    first,
    second,
  )
  beforeEach(() => {
    first.seen.length = 0
    second.seen.length = 0
    first.on('vec', answer([[0.5, -1.25]]))
    second.on('vec', answer([[2, 4]]))
  })
  return { first, second, gateway, client: openaiOf(gateway), lastRow: lastRowOf(gateway) }
}

/** A reply with these vectors. */
export const answer =
  (embeddings: unknown[], usage: unknown = { prompt_tokens: 9, total_tokens: 9 }, more = {}): Answer =>
  () =>
    Response.json({
      object: 'list',
      model: 'upstream-name',
      data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      usage,
      ...more,
    })
