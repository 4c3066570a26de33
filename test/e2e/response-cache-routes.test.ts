import { describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { type Answer, startUpstream } from '../upstream.ts'
import { ON } from './response-cache-setup.ts'

/** Which routes beside the conversations have a response cache. */

const pricing = { prompt: '0.000001', completion: '0.000002' }
const modelOf = (id: string, output: string) => ({
  id,
  pricing,
  architecture: { output_modalities: [output] },
})

/** A provider of transcriptions, which takes forms. */
let heard = 0
const ears = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch() {
    heard += 1
    return Response.json({ text: `Heard ${heard}` })
  },
})

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    providers: [
      {
        slug: 'one',
        base_url: upstream.baseUrl,
        models: [
          modelOf('vec', 'embeddings'),
          modelOf('rank', 'rerank'),
          modelOf('paint', 'image'),
          modelOf('speak', 'speech'),
        ],
      },
      {
        slug: 'ears',
        base_url: `http://127.0.0.1:${ears.port}/v1`,
        models: [modelOf('hear', 'transcription')],
      },
    ],
  },
  upstream,
  { stop: () => ears.stop(true) },
)

describe('the cache of other routes', () => {
  const post = async (path: string, body: object) => {
    const response = await gateway.call(path, body, ON)
    const { id, usage, ...reply } = objectOf(await response.json())
    return { cache: response.headers.get('x-openrouter-cache-status'), id, usage: objectOf(usage), reply }
  }
  const vector = () =>
    Response.json({
      object: 'list',
      model: 'up',
      data: [{ object: 'embedding', index: 0, embedding: [0.1, -1.25, 3e-9] }],
      usage: { prompt_tokens: 9, total_tokens: 9, prompt_tokens_details: { cached_tokens: 3 } },
      further: { field: true },
    })
  const ranking = () =>
    Response.json({
      id: 'up',
      results: [
        { index: 1, relevance_score: 0.75 },
        { index: 0, relevance_score: 0.25 },
      ],
      meta: { billed_units: { search_units: 1 } },
    })
  const rows: [path: string, model: string, answer: Answer, body: object][] = [
    ['/embeddings', 'vec', vector, { input: 'The tide turns' }],
    ['/embeddings', 'vec', vector, { input: 'The tide turns', encoding_format: 'base64' }],
    ['/rerank', 'rank', ranking, { query: 'tide', documents: ['sand', 'sea'], top_n: 2 }],
  ]
  for (const [path, model, answer, body] of rows) {
    test(`has ${path} ${JSON.stringify(body)}`, async () => {
      upstream.on(model, answer)
      upstream.seen.length = 0
      const miss = await post(path, { model, ...body })
      const hit = await post(path, { ...body, user: 'ann', model })
      expect([miss.cache, hit.cache, upstream.seen.length]).toEqual(['MISS', 'HIT', 1])
      expect(hit.reply).toEqual(miss.reply)
      expect(hit.id).not.toBe(miss.id)
      const { cost_details, is_byok, ...counted } = hit.usage
      expect(Object.values({ ...counted, ...objectOf(cost_details) }).filter(Boolean)).toEqual([])
      expect(gateway.generations().at(-1)).toMatchObject({
        id: hit.id,
        response_cache_source_id: miss.id,
        cost_nano_usd: 0,
        tokens_prompt: 0,
        model,
      })
    })
  }

  test('tells different inputs apart', async () => {
    expect((await post('/embeddings', { model: 'vec', input: 'tide' })).cache).toBe('MISS')
    expect((await post('/embeddings', { model: 'vec', input: ['tide'] })).cache).toBe('MISS')
  })

  const uncached: [path: string, model: string, answer: () => Response, body: object][] = [
    [
      '/images',
      'paint',
      () => Response.json({ created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }] }),
      { prompt: 'A boat' },
    ],
    [
      '/audio/speech',
      'speak',
      () => new Response('sound', { headers: { 'content-type': 'audio/mpeg' } }),
      { input: 'Hello', voice: 'ann' },
    ],
  ]
  for (const [path, model, answer, body] of uncached) {
    test(`does not have ${path}`, async () => {
      upstream.on(model, answer)
      upstream.seen.length = 0
      for (let count = 0; count < 2; count++) {
        const response = await gateway.call(path, { model, ...body }, ON)
        await response.arrayBuffer()
        expect([response.status, response.headers.get('x-openrouter-cache-status')]).toEqual([200, null])
      }
      expect(upstream.seen.length).toBe(2)
    })
  }

  test('does not have /audio/transcriptions', async () => {
    const body = { model: 'hear', input_audio: { data: 'UklGRg==', format: 'wav' } }
    for (const text of ['Heard 1', 'Heard 2']) {
      const { cache, reply } = await post('/audio/transcriptions', body)
      expect([cache, reply['text']]).toEqual([null, text])
    }
  })
})
