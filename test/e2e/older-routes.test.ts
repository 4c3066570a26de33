import { beforeEach, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { gatewayOfFile } from '../file-setup.ts'
import { API_KEY } from '../gateway.ts'
import { chunk, DONE, sse, startUpstream, streamed, unary, usageChunk } from '../upstream.ts'

/** Routes that clients of OpenAI and Anthropic ask for beside the conversations. */

let openai: OpenAI
let anthropic: Anthropic
const pricing = { prompt: '0.000001', completion: '0.000002' }

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    listens: true,
    environment: { OPENAI_API_KEY: 'secret', OPENAI_BASE_URL: upstream.baseUrl },
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        dialect: 'chat',
        base_url: upstream.baseUrl,
        models: ['maker/small', 'maker/large', 'other/one'].map((id) => ({
          id,
          upstream_id: id.replace('/', '-'),
          pricing,
        })),
      },
    ],
  },
  upstream,
)
openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: API_KEY, maxRetries: 0 })
anthropic = new Anthropic({ baseURL: gateway.url, apiKey: API_KEY, authToken: null, maxRetries: 0 })
beforeEach(() => {
  upstream.seen.length = 0
})

describe('POST /completions', () => {
  const model = 'maker/small'

  test('is carried as a chat completion', async () => {
    upstream.on('maker-small', unary(' a time'))
    const reply = await openai.completions.create({ model, prompt: 'Once upon', max_tokens: 9, echo: true })
    expect(reply).toMatchObject({
      object: 'text_completion',
      model,
      choices: [{ index: 0, text: 'Once upon a time', finish_reason: 'stop', logprobs: null }],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    })
    expect(reply.id).toMatch(/^gen-/)
    expect(upstream.seen[0]?.body).toMatchObject({
      messages: [{ role: 'user', content: 'Once upon' }],
      max_tokens: 9,
    })
    expect(upstream.seen[0]?.body).not.toHaveProperty('prompt')
    expect(upstream.seen[0]?.body).not.toHaveProperty('echo')
    expect(gateway.generations().at(-1)).toMatchObject({
      api_type: 'completions',
      cost_nano_usd: 20_000,
    })
  })

  test('streams', async () => {
    upstream.on('maker-small', streamed([' a', ' time']))
    const stream = await openai.completions.create({ model, prompt: ['Once upon'], echo: true, stream: true })
    const chunks = []
    for await (const each of stream) chunks.push(each)
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe('Once upon a time')
    expect(chunks.every(({ object }) => object === 'text_completion')).toBe(true)
    expect(chunks.flatMap(({ choices }) => choices.map(({ finish_reason: reason }) => reason)).at(-1)).toBe(
      'stop',
    )
    expect(chunks.at(-1)?.usage?.total_tokens).toBe(15)
  })

  test('ends a broken-off stream in an error', async () => {
    upstream.on('maker-small', () => sse([chunk({ content: ' a' })]))
    const response = await gateway.call('/completions', { model, prompt: 'Once', stream: true })
    const text = await response.text()
    expect(text).toContain('"object":"text_completion"')
    expect(text).toContain('"error":{"code":502')
    expect(text).not.toContain('[DONE]')
  })

  test('tells logprobs in the older form', async () => {
    const token = (text: string) => ({
      token: text,
      logprob: -0.5,
      bytes: null,
      top_logprobs: [{ token: text, logprob: -0.5 }],
    })
    upstream.on('maker-small', () =>
      sse([
        chunk({ content: ' a' }, null, {
          choices: [
            { index: 0, delta: { content: ' a' }, logprobs: { content: [token(' a')] }, finish_reason: null },
          ],
        }),
        chunk({}, 'stop'),
        usageChunk(),
        DONE,
      ]),
    )
    const stream = await openai.completions.create({ model, prompt: 'Once', logprobs: 1, stream: true })
    const [first] = await Array.fromAsync(stream)
    expect(first?.choices[0]?.logprobs).toEqual({
      tokens: [' a'],
      token_logprobs: [-0.5],
      top_logprobs: [{ ' a': -0.5 }],
      text_offset: [0],
    })
    expect(upstream.seen[0]?.body).toMatchObject({ logprobs: true, top_logprobs: 1 })
  })

  test.each([
    [{ prompt: [1, 2, 3] }, 'token ids'],
    [{ prompt: [[1], [2]] }, 'token ids'],
    [{ prompt: ['a', 'b'] }, 'one text'],
    [{ prompt: 'a', suffix: 'b' }, 'suffix'],
    [{ prompt: 'a', best_of: 3 }, 'best_of'],
    [{ prompt: 'a', messages: [] }, '/chat/completions'],
    [{}, 'prompt'],
  ])('refuses %j', async (body, reason) => {
    const response = await gateway.call('/completions', { model, ...body })
    expect(response.status).toBe(400)
    expect((await response.json()).error.message).toContain(reason)
    expect(upstream.seen).toEqual([])
  })
})

describe('POST /moderations', () => {
  const results = [{ flagged: false, categories: { violence: false }, category_scores: { violence: 0.1 } }]

  test('goes to the provider that has it, and costs nothing there', async () => {
    upstream.on('omni-moderation-latest', () =>
      Response.json({ id: 'modr-1', model: 'omni-moderation-latest', results }),
    )
    const reply = await openai.moderations.create({ input: 'Hello' })
    expect(reply).toMatchObject({ model: 'openai/omni-moderation-latest', results })
    expect(upstream.seen[0]).toMatchObject({ path: '/v1/moderations', body: { input: 'Hello' } })
    expect(gateway.generations().at(-1)).toMatchObject({ api_type: 'moderation', cost_nano_usd: 0 })
  })

  test('a model that does not moderate is refused with the route that serves it', async () => {
    const known = await gateway.call('/moderations', { input: 'Hello', model: 'mistral-moderation-latest' })
    expect(known.status).toBe(404)
    const other = await gateway.call('/moderations', { input: 'Hello', model: 'gpt-4o-mini' })
    expect(other.status).toBe(400)
    expect((await other.json()).error.message).toContain('/chat/completions')
  })
})

describe.each(['/api/v1', '/v1'])('GET %s/models/{id}', (prefix) => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}${prefix}${path}`, { headers: { authorization: `Bearer ${API_KEY}`, ...headers } })

  test.each(['maker/small', 'maker%2Fsmall', 'maker/small:nitro'])('%s', async (name) => {
    const response = await get(`/models/${name}`)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ id: 'maker/small', object: 'model', owned_by: 'maker' })
  })

  test('names the nearest of an unknown one', async () => {
    const response = await get('/models/maker/smal')
    expect(response.status).toBe(404)
    expect((await response.json()).error.message).toContain('maker/small')
    expect((await get('/models/maker/%E0%A4%A')).status).toBe(400)
    expect((await fetch(`${gateway.url}${prefix}/models/maker/small`)).status).toBe(401)
  })

  test('leaves the routes below it alone', async () => {
    expect((await (await get('/models/maker/small/endpoints')).json()).data.id).toBe('maker/small')
    expect((await (await get('/models/count')).json()).data.count).toBeGreaterThan(2)
  })
})

test("OpenAI's client lists and retrieves", async () => {
  const page = await openai.models.list()
  expect(page.object).toBe('list')
  expect(page.data.find(({ id }) => id === 'maker/small')).toMatchObject({
    object: 'model',
    owned_by: 'maker',
  })
  expect(await openai.models.retrieve('maker/small')).toMatchObject({ id: 'maker/small' })
})

describe("Anthropic's shape", () => {
  test('its client lists page by page, and retrieves', async () => {
    const ids: string[] = []
    for await (const model of anthropic.models.list({ limit: 2 })) ids.push(model.id)
    expect(ids).toContain('maker/small')
    expect(ids).toContain('maker/large')
    expect(new Set(ids).size).toBe(ids.length)
    const last = ids.at(-1) ?? ''
    const before = await anthropic.models.list({ before_id: last, limit: 2 })
    expect(before.data.map(({ id }) => id)).toEqual(ids.slice(-3, -1))
    const one = await anthropic.models.retrieve('maker/small')
    expect(one).toMatchObject({ id: 'maker/small', type: 'model', lifecycle: 'active' })
    expect(Number.isNaN(Date.parse(one.created_at))).toBe(false)
  })

  test('and its errors', async () => {
    await expect(anthropic.models.retrieve('nothing/here').then(String)).rejects.toBeInstanceOf(
      Anthropic.NotFoundError,
    )
    await expect(anthropic.models.list({ after_id: 'nothing' }).then(String)).rejects.toBeInstanceOf(
      Anthropic.BadRequestError,
    )
  })
})

test.each(['', '/v1', '/api/v1', '/v1beta'])('%s/health and /version are open to all', async (prefix) => {
  const health = await fetch(`${gateway.url}${prefix}/health`)
  expect(await health.json()).toEqual({ status: 'live' })
  const version = await fetch(`${gateway.url}${prefix}/version`)
  expect(await version.json()).toEqual({ name: 'sluice', version: expect.any(String) })
})
