/** Plugins and server tools that OpenRouter runs in place of the gateway, and what they cost. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { gatewayOfFile } from '../../file-setup.ts'
import { chunk, DONE, sse, startUpstream, usageChunk } from '../../upstream.ts'
import { messageOf } from './setup.ts'

const [router, direct] = [startUpstream(), startUpstream()]
const PRICING = { prompt: '0.000001', completion: '0.000002' }
const entry = (slug: string, upstream: typeof router, ids: readonly string[], more: object = {}) => ({
  slug,
  name: slug,
  dialect: ['chat', 'responses'],
  base_url: upstream.baseUrl,
  models: ids.map((id) => ({ id, pricing: PRICING })),
  ...more,
})
const gateway = await gatewayOfFile(
  {
    providers: [
      entry('openrouter', router, ['lab/there', 'lab/both'], { delegate_tools: true }),
      entry('maker', direct, ['lab/both', 'lab/here']),
    ],
  },
  router,
  direct,
)

const WEB = { id: 'web', engine: 'exa', max_results: 3 }
const SEARCH = { type: 'openrouter:web_search', parameters: { max_results: 2 } }
const STOP = [{ type: 'step_count_is', step_count: 2 }]
/** As OpenRouter reports it: more than the tokens cost. */
const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 10,
  total_tokens: 110,
  cost: 0.0145476,
  server_tool_use: { web_search_requests: 1 },
}
const CITATION = {
  type: 'url_citation',
  url_citation: { url: 'https://example.com/', title: 'Example', content: 'x', start_index: 0, end_index: 4 },
}
const REPLY = { role: 'assistant', content: 'Well.', annotations: [CITATION] }

beforeEach(() => {
  for (const upstream of [router, direct]) {
    upstream.seen.length = 0
    for (const model of ['lab/there', 'lab/both', 'lab/here'])
      upstream.on(model, ({ body }) =>
        body['stream'] === true
          ? sse([
              chunk({ role: 'assistant', content: 'Well.', annotations: [CITATION] }),
              chunk({}, 'stop'),
              usageChunk(USAGE),
              DONE,
            ])
          : Response.json({
              id: 'gen-1',
              choices: [{ index: 0, message: REPLY, finish_reason: 'stop' }],
              usage: USAGE,
            }),
      )
  }
})

const ask = (model: string, more: Record<string, unknown>) =>
  gateway.call('/chat/completions', { model, messages: [{ role: 'user', content: 'News?' }], ...more })
const lastRow = () => gateway.generations().at(-1)

describe('a request whose every endpoint is at a provider that runs tools', () => {
  test.each([false, true])(
    'is handed on whole, and what it charges is booked, streamed: %p',
    async (stream) => {
      const asked = { plugins: [WEB], tools: [SEARCH], stop_server_tools_when: STOP, stream }
      const response = await ask('lab/there', asked)
      const raw = await response.text()
      expect(response.status, raw).toBe(200)
      expect(router.seen).toHaveLength(1)
      expect(router.seen[0]?.body).toMatchObject({
        plugins: [WEB],
        tools: [SEARCH],
        stop_server_tools_when: STOP,
      })
      expect(raw).toContain('"url_citation"')
      expect(raw).toContain('"cost":0.0145476')
      expect(lastRow()).toMatchObject({ cost_nano_usd: 14_547_600, provider_slug: 'openrouter' })
    },
  )

  // Two cents for each search, unless the entry's pricing has its own.
  test.each([
    [{ plugins: [WEB] }, 1],
    [{ tools: [SEARCH] }, 10],
    [{ tools: [{ type: 'openrouter:web_search', parameters: { max_uses: 3 } }], plugins: [WEB] }, 4],
  ])('reserves its searches: %j', async (asked, searches) => {
    for (const [limit, status] of [
      [searches * 0.02, 402],
      [searches * 0.02 + 0.01, 200],
    ] as const) {
      const { key } = await gateway.makeKey({ limit })
      const body = { model: 'lab/there', max_tokens: 10, messages: [{ role: 'user', content: 'News?' }] }
      const response = await gateway.call(
        '/chat/completions',
        { ...body, ...asked },
        { authorization: `Bearer ${key}` },
      )
      expect(response.status, await response.text()).toBe(status)
    }
  })

  test('costs its tokens if no charge is reported, and what is reported without plugins and tools is not booked', async () => {
    const { cost: _, ...usage } = USAGE
    router.on('lab/there', () =>
      Response.json({ id: 'g', choices: [{ index: 0, message: REPLY, finish_reason: 'stop' }], usage }),
    )
    await ask('lab/there', { plugins: [WEB] })
    expect(lastRow()).toMatchObject({ cost_nano_usd: 120_000 })
    router.on('lab/there', () =>
      Response.json({
        id: 'g',
        choices: [{ index: 0, message: REPLY, finish_reason: 'stop' }],
        usage: USAGE,
      }),
    )
    await ask('lab/there', {})
    expect(lastRow()).toMatchObject({ cost_nano_usd: 120_000 })
  })

  test('in Responses, too', async () => {
    router.on('lab/there', () =>
      Response.json({
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        output: [
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: 'Well.', annotations: [] }],
          },
        ],
        usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110, cost: 0.01 },
      }),
    )
    const response = await gateway.call('/responses', {
      model: 'lab/there',
      input: 'News?',
      plugins: [WEB],
      tools: [SEARCH],
    })
    expect(response.status, await response.text()).toBe(200)
    expect(router.seen[0]).toMatchObject({ path: '/v1/responses', body: { plugins: [WEB], tools: [SEARCH] } })
    expect(lastRow()).toMatchObject({ cost_nano_usd: 10_000_000 })
  })

  test('if the request names the provider alone', async () => {
    expect((await ask('lab/both', { plugins: [WEB], provider: { only: ['openrouter'] } })).status).toBe(200)
    expect(router.seen[0]?.body['plugins']).toEqual([WEB])
  })
})

describe('here run', () => {
  test('plugins of a request that another provider may answer', async () => {
    for (const model of ['lab/both', 'lab/here']) {
      const response = await ask(model, { plugins: [WEB] })
      expect(response.status).toBe(400)
      expect(await messageOf(response)).toContain('SLUICE_EXA_API_KEY')
    }
    expect([...router.seen, ...direct.seen]).toEqual([])
  })

  test('tools that only the gateway has', async () => {
    const tools = [{ type: 'sluice:calculator' }]
    expect((await ask('lab/there', { tools })).status).toBe(200)
    expect(router.seen[0]?.body['tools']).toMatchObject([{ type: 'function' }])
  })

  test('plugins that a guardrail sets always; those that it forbids are refused', async () => {
    const rule = (enforcement: string) =>
      gateway.manage('POST', '/guardrails', {
        name: enforcement,
        plugins: [{ id: 'moderation', enforcement, ...(enforcement === 'always' && { blocked: ['news'] }) }],
      })
    for (const enforcement of ['always', 'never']) {
      const { data } = await (await rule(enforcement)).json()
      const { key, hash } = await gateway.makeKey({})
      await gateway.manage('POST', `/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] })
      const response = await gateway.call(
        '/chat/completions',
        {
          model: 'lab/there',
          messages: [{ role: 'user', content: 'News?' }],
          plugins: [WEB, { id: 'moderation' }],
        },
        { authorization: `Bearer ${key}` },
      )
      expect(response.status).toBe(403)
    }
    expect(router.seen).toEqual([])
  })
})

describe('provider.options', () => {
  const options = (delegate_tools: unknown, slug = 'openrouter') => ({
    options: { [slug]: { delegate_tools } },
  })

  test('of a request keep its plugins and tools here', async () => {
    const tools = [{ type: 'openrouter:calculator' }]
    expect((await ask('lab/there', { tools, provider: options(false, 'OpenRouter') })).status).toBe(200)
    expect(router.seen[0]?.body['tools']).toMatchObject([{ type: 'function' }])
  })

  test('demand that they are handed on', async () => {
    const only = { only: ['openrouter'], ...options(true) }
    expect((await ask('lab/both', { tools: [SEARCH], provider: only })).status).toBe(200)
    expect(router.seen[0]?.body['tools']).toEqual([SEARCH])
  })

  test.each([
    ['lab/both', options(true), 'provider.options.openrouter.delegate_tools: cannot hold'],
    ['lab/here', options(true, 'maker'), 'provider.options.maker.delegate_tools: cannot hold'],
    ['lab/there', options('yes'), 'provider.options.openrouter.delegate_tools: must be true or false'],
    ['lab/there', { options: { openrouter: 1 } }, 'provider.options.openrouter: must be an object'],
    [
      'lab/here',
      { options: { maker: { top_secret: 1 } } },
      'provider.options.maker.top_secret: is not available in conversations: only delegate_tools is',
    ],
  ])('of %s that cannot hold are refused: %p', async (model, provider, message) => {
    const response = await ask(model, { tools: [SEARCH], provider })
    expect(response.status).toBe(400)
    expect(await messageOf(response)).toContain(message)
    expect([...router.seen, ...direct.seen]).toEqual([])
  })
})
