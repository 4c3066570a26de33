/** A search of the gateway within a loop: paid, cited, and shown in each dialect. */
import { afterAll, expect, test } from 'bun:test'
import { KEY_OF_ENGINE, startEngines } from '../../tools/web-search/engine-server.ts'
import { ask, calls, messageOf, STEP_USD, says, startTools } from './setup.ts'

const engines = startEngines()
afterAll(() => engines.stop())
const { upstream, gateway, results } = await startTools({
  SLUICE_EXA_API_KEY: KEY_OF_ENGINE,
  SLUICE_SEARCH_URLS: `exa=${engines.url}/exa`,
  SLUICE_SEARCH_PRICES: 'exa=0.005',
})

const search = { name: 'web_search', args: { query: 'the first page' } }
const LINK = '[example.com](https://news.example.com/first)'
const script = () => upstream.inTurn('tiny', [calls([search], 'One moment.'), says(`See ${LINK}.`)])
const cited = {
  url: 'https://news.example.com/first',
  title: 'First page',
  content: 'The first text.',
}

async function complete(path: string, body: Record<string, unknown>) {
  const response = await gateway.call(path, body)
  expect(response.status).toBe(200)
  return response.json()
}

test.each(['openrouter:web_search', 'web_search', 'web_search_preview'])(
  '%s of a chat request is the search of the gateway: a step that is paid, whose pages the answer cites',
  async (type) => {
    script()
    const reply = await complete('/chat/completions', ask({ tools: [{ type }] }))
    const { content, annotations } = reply.choices[0].message
    expect(content).toBe(`One moment.\n\nSee ${LINK}.`)
    const start_index = content.indexOf(LINK)
    expect(annotations).toEqual([
      { type: 'url_citation', url_citation: { ...cited, start_index, end_index: start_index + LINK.length } },
    ])
    expect(reply.usage.cost).toBeCloseTo(2 * STEP_USD + 0.005, 9)
    expect(reply.usage.cost_details.server_tool_cost).toBe(0.005)
    expect(reply.usage.server_tool_use_details).toEqual({
      tool_calls_requested: 1,
      tool_calls_executed: 1,
      web_search_requests: 1,
    })
    expect(results()[0]).toContain('The first text.')
    const { data } = await (await gateway.manage('GET', `/generation?id=${reply.id}`)).json()
    expect(data).toMatchObject({ num_search_results: 3, web_search_engine: 'exa' })
    expect(data.total_cost).toBeCloseTo(2 * STEP_USD + 0.005, 9)
    expect(data.steps).toHaveLength(2)
  },
)

test('a stream of chat has the citation behind its text', async () => {
  script()
  const body = ask({ stream: true, tools: [{ type: 'openrouter:web_search' }] })
  const text = await (await gateway.call('/chat/completions', body)).text()
  expect(text.indexOf('"url_citation"')).toBeGreaterThan(text.indexOf('See [example.com]'))
})

test('responses have the item of the request’s type, with its events', async () => {
  script()
  const item = {
    status: 'completed',
    action: { type: 'search', query: 'the first page', sources: [{ type: 'url' }, {}, {}] },
  }
  const asked = { model: 'tiny', input: 'Search' }
  const own = await complete('/responses', { ...asked, tools: [{ type: 'openrouter:web_search' }] })
  expect(own.output[1]).toMatchObject({ type: 'openrouter:web_search', ...item })
  expect(own.output[2].content[0].annotations).toMatchObject([{ type: 'url_citation', ...cited }])
  script()
  const filters = { allowed_domains: ['example.com'] }
  const body = { ...asked, stream: true, tools: [{ type: 'web_search', engine: 'exa', filters }] }
  const text = await (await gateway.call('/responses', body)).text()
  const names = [...text.matchAll(/^event: (response\.(?:output_item|web_search_call)\.\w+)$/gm)]
  expect(names.map(([, name]) => name).slice(2, 7)).toEqual([
    'response.output_item.added',
    'response.web_search_call.in_progress',
    'response.web_search_call.searching',
    'response.web_search_call.completed',
    'response.output_item.done',
  ])
  expect(engines.seen.at(-1)?.body).toMatchObject({ includeDomains: ['example.com'] })
})

test('messages have Anthropic’s blocks of a search', async () => {
  script()
  const messages = [{ role: 'user', content: 'Search' }]
  const asked = { model: 'tiny', max_tokens: 99, messages, tools: [{ type: 'openrouter:web_search' }] }
  const reply = await complete('/messages', asked)
  expect(reply.content).toMatchObject([
    { type: 'text' },
    { type: 'server_tool_use', name: 'web_search', input: { query: 'the first page' } },
    { type: 'web_search_tool_result', content: [{ type: 'web_search_result', url: cited.url }, {}, {}] },
    { type: 'text', citations: [{ type: 'web_search_result_location', url: cited.url }] },
  ])
  expect(reply.usage.server_tool_use).toMatchObject({ web_search_requests: 1 })
})

test('a failing engine is a failed result for the model, and free', async () => {
  engines.answer = () => new Response('<html>', { status: 502 })
  script()
  const reply = await complete('/chat/completions', ask({ tools: [{ type: 'openrouter:web_search' }] }))
  engines.answer = undefined
  expect(reply.usage.cost).toBeCloseTo(2 * STEP_USD, 9)
  expect(results()[0]).toStartWith('The call of web_search failed: ')
})

test('a search that the budget does not allow ends the request with a 402', async () => {
  script()
  const { key } = await gateway.makeKey({ limit: 0.004 })
  const headers = { authorization: `Bearer ${key}` }
  const response = await gateway.call(
    '/chat/completions',
    ask({ max_tokens: 9, tools: [{ type: 'web_search' }] }),
    headers,
  )
  expect(response.status).toBe(402)
  expect(await messageOf(response)).toContain('limit')
})
