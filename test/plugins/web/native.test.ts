import { expect, test } from 'bun:test'
import { gatewayOfFile } from '../../file-setup.ts'
import { KEY_OF_ENGINE } from '../../tools/web-search/engine-server.ts'
import { startUpstream } from '../../upstream.ts'

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    environment: {
      ANTHROPIC_API_KEY: 'k',
      ANTHROPIC_BASE_URL: upstream.baseUrl,
      SLUICE_EXA_API_KEY: KEY_OF_ENGINE,
      // Would fail: no server listens there.
      SLUICE_SEARCH_URLS: 'exa=http://127.0.0.1:9',
    },
  },
  upstream,
)

const answer = () =>
  Response.json({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'news' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: [
          { type: 'web_search_result', url: 'https://a.example/', title: 'A', encrypted_content: 'x' },
        ],
      },
      {
        type: 'text',
        text: 'Found.',
        citations: [
          {
            type: 'web_search_result_location',
            url: 'https://a.example/',
            title: 'A',
            encrypted_index: 'x',
            cited_text: 'text',
          },
        ],
      },
    ],
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, output_tokens: 5, server_tool_use: { web_search_requests: 1 } },
  })

const model = 'anthropic/claude-sonnet-4.5'

test.each([[{}], [{ engine: 'auto' }], [{ engine: 'native', max_uses: 2, include_domains: ['a.example'] }]])(
  'a provider that searches itself is sent its own tool: %j',
  async (options) => {
    for (const name of ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929']) upstream.on(name, answer)
    const response = await gateway.call('/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'What is new?' }],
      plugins: [{ id: 'web', ...options }],
    })
    const reply = await response.json()
    expect(reply).toMatchObject({ choices: [{ message: { content: 'Found.' } }] })
    const tools = upstream.seen.at(-1)?.body['tools']
    expect(tools).toMatchObject([{ type: 'web_search_20250305', name: 'web_search' }])
    if ('max_uses' in options) expect(tools).toMatchObject([{ max_uses: 2, allowed_domains: ['a.example'] }])
    expect(reply.choices[0].message.annotations).toMatchObject([
      { url_citation: { url: 'https://a.example/' } },
    ])
    expect(reply.usage.server_tool_use_details.web_search_requests).toBe(1)
  },
)

test('a named engine is asked all the same', async () => {
  const response = await gateway.call('/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'What is new?' }],
    plugins: [{ id: 'web', engine: 'exa' }],
  })
  expect(response.status).toBe(503)
  expect((await response.json()).error.message).toStartWith('The search engine Exa failed')
})

test.each([[{}], [{ engine: 'native', max_uses: 2, allowed_domains: ['a.example'] }]])(
  'the tool web_search is the tool of such a provider: %j',
  async (parameters) => {
    for (const name of ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929']) upstream.on(name, answer)
    const response = await gateway.call('/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'What is new?' }],
      tools: [{ type: 'openrouter:web_search', parameters }],
    })
    expect(response.status).toBe(200)
    const tools = upstream.seen.at(-1)?.body['tools']
    expect(tools).toMatchObject([{ type: 'web_search_20250305', name: 'web_search' }])
    if ('max_uses' in parameters)
      expect(tools).toMatchObject([{ max_uses: 2, allowed_domains: ['a.example'] }])
  },
)

test('a search that is there twice is refused, also if the provider has its own', async () => {
  const search = { type: 'openrouter:web_search' }
  const response = await gateway.call('/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'What is new?' }],
    tools: [search, search],
  })
  expect(response.status).toBe(400)
  expect((await response.json()).error.message).toContain('twice')
})
