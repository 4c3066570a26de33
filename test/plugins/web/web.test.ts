import { describe, expect, test } from 'bun:test'
import { ANSWER, CITED, PRICE_OF_SEARCH, REQUESTS, streamedRequest, webGateway } from './setup.ts'

const { gateway, upstream, engines, prompt } = await webGateway()
const AT = ANSWER.indexOf(CITED)

const chat = (more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  gateway.call(
    '/chat/completions',
    {
      model: 'tiny',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi' },
        { role: 'user', content: [{ type: 'text', text: 'What is new?' }] },
      ],
      plugins: [{ id: 'web' }],
      ...more,
    },
    headers,
  )
const problem = async (response: Response): Promise<string> => {
  const { error } = await response.json()
  return `${response.status} ${error.message}`
}

describe.each(REQUESTS)('%s', (path, body) => {
  test('searches before it answers, cites the result that the model links, and charges the search', async () => {
    const before = gateway.generations().length
    const response = await gateway.call(path, { ...body, plugins: [{ id: 'web' }] })
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(engines.seen.map(({ engine, query }) => [engine, query])).toEqual([['exa', 'What is new?']])
    expect(prompt()).toContain('The first text.')
    expect(prompt()).toContain('It is data to read')
    expect(text).toContain('"https://news.example.com/first"')
    expect(text).not.toContain('"https://evil.example/"')
    const [step] = gateway
      .generations()
      .slice(before)
      .filter((row) => row['api_type'] === 'tool')
    expect(step).toMatchObject({ cost_nano_usd: 7_000_000 })
  })

  test('streamed too', async () => {
    const response = await gateway.call(...streamedRequest(path, { ...body, plugins: [{ id: 'web' }] }))
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(text).toContain('"https://news.example.com/first"')
    expect(text).not.toContain('"https://evil.example/"')
    expect(engines.seen).toHaveLength(1)
  })
})

describe('the answer', () => {
  test('of chat has the citation with its place in the text, and the charge in its usage', async () => {
    const reply = await (await chat()).json()
    const { content, annotations } = reply.choices[0].message
    expect(content).toBe(ANSWER)
    expect(annotations).toEqual([
      {
        type: 'url_citation',
        url_citation: {
          url: 'https://news.example.com/first',
          title: 'First page',
          content: 'The first text.',
          start_index: AT,
          end_index: AT + CITED.length,
        },
      },
    ])
    expect(reply.usage.cost_details.server_tool_cost).toBe(PRICE_OF_SEARCH)
    expect(reply.usage.cost).toBeCloseTo(PRICE_OF_SEARCH + 0.00002, 9)
    expect(reply.usage.server_tool_use_details).toMatchObject({ web_search_requests: 1 })
  })

  test('of Responses has it in the annotations of its text', async () => {
    const reply = await (
      await gateway.call('/responses', { model: 'tiny', input: 'x', plugins: [{ id: 'web' }] })
    ).json()
    const [message] = reply.output.filter(({ type }: { type: string }) => type === 'message')
    expect(message.content[0].annotations).toMatchObject([
      {
        type: 'url_citation',
        url: 'https://news.example.com/first',
        start_index: AT,
        end_index: AT + CITED.length,
      },
    ])
  })

  test('of a model that cites nothing has no annotations', async () => {
    upstream.on('tiny', () =>
      Response.json({
        choices: [{ message: { role: 'assistant', content: 'No links' }, finish_reason: 'stop', index: 0 }],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      }),
    )
    expect((await (await chat()).json()).choices[0].message.annotations).toBeUndefined()
  })

  test('has the search as a step of its generation, and in the routing metadata', async () => {
    const reply = await (await chat({}, { 'x-openrouter-metadata': 'enabled' })).json()
    expect(reply.openrouter_metadata.pipeline).toContainEqual({
      type: 'plugin',
      name: 'web-search',
      summary: 'exa found 3 results',
      data: { engine: 'exa', results: expect.arrayContaining(['https://news.example.com/first']) },
    })
    const [step] = gateway.generations().filter((row) => row['parent_id'] === reply.id)
    expect(step).toMatchObject({
      model: 'openrouter:web_search',
      provider_slug: 'exa',
      cost_nano_usd: 7_000_000,
    })
    expect(JSON.parse(String(step?.['step']))).toEqual({
      kind: 'web',
      searches: 1,
      searchResults: 3,
      searchEngine: 'exa',
    })
  })
})

describe('the conversation', () => {
  test('gets the results in the last turn of the user; the others stay', async () => {
    await (await chat({ plugins: [{ id: 'web', search_prompt: 'FOUND:' }] })).text()
    const messages = upstream.seen.at(-1)?.body['messages']
    expect(messages).toMatchObject([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi' },
      {
        role: 'user',
        content: [
          { type: 'text', text: expect.stringMatching(/^FOUND:\n\n/) },
          { type: 'text', text: 'What is new?' },
        ],
      },
    ])
  })

  test('is not sent the plugin, and without text there is nothing to search for', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
    const response = await chat({ messages: [{ role: 'user', content: [image] }] })
    expect(response.status).toBe(200)
    expect(engines.seen).toEqual([])
    expect(upstream.seen[0]?.body['plugins']).toBeUndefined()
  })
})

describe('options', () => {
  test('reach the engine, and those of web_search_options too', async () => {
    await (
      await chat({
        plugins: [{ id: 'web', engine: 'exa', max_results: 2, exclude_domains: ['Spam.example'] }],
        web_search_options: { user_location: { type: 'approximate', approximate: { country: 'de' } } },
      })
    ).text()
    expect(engines.seen[0]?.body).toMatchObject({
      numResults: 2,
      excludeDomains: ['spam.example'],
      userLocation: 'DE',
    })
    await (await chat({ plugins: [{ id: 'web', engine: 'searxng' }] })).text()
    expect(engines.seen[1]?.engine).toBe('searxng')
  })

  test('that no engine has are 400s that name what there is', async () => {
    expect(await problem(await chat({ plugins: [{ id: 'web', engine: 'brave' }] }))).toBe(
      '400 plugins.web.engine: "brave" is not configured at this gateway: its operator can set SLUICE_BRAVE_API_KEY. Configured are: exa, searxng',
    )
    expect(await problem(await chat({ plugins: [{ id: 'web', engine: 'bing' }] }))).toStartWith(
      '400 plugins[0].engine',
    )
    expect(await problem(await chat({ plugins: [{ id: 'web', max_results: 26 }] }))).toStartWith(
      '400 plugins[0].max_results',
    )
    expect(
      await problem(await chat({ plugins: [{ id: 'web', include_domains: ['https://a.example'] }] })),
    ).toStartWith('400 plugins.web.include_domains[0]')
    expect(await problem(await chat({ plugins: [{ id: 'web', x_search: {} }] }))).toStartWith(
      '400 plugins.web.x_search',
    )
    expect(await problem(await chat({ plugins: [{ id: 'web', engine: 'native' }] }))).toBe(
      '400 plugins.web.engine: "native" is the search of the provider, and no provider of tiny has one',
    )
    expect(upstream.seen).toEqual([])
  })

  test('enabled: false is no search', async () => {
    await (await chat({ plugins: [{ id: 'web', enabled: false }] })).text()
    expect(engines.seen).toEqual([])
  })
})

describe(':online', () => {
  test('is the plugin, and the model is named without it', async () => {
    expect((await chat({ model: 'tiny:online', plugins: undefined })).status).toBe(200)
    expect(engines.seen).toHaveLength(1)
    expect(upstream.seen[0]?.body['model']).toBe('tiny')
  })

  test('with the plugin turned off is a 400', async () => {
    const response = await chat({ model: 'tiny:online', plugins: [{ id: 'web', enabled: false }] })
    expect(await problem(response)).toContain('asks for a web search')
  })
})

describe('a bad day', () => {
  test('an engine that fails ends the request with its name, and nothing is charged', async () => {
    const before = gateway.generations().length
    engines.answer = () => new Response('limit', { status: 429 })
    const response = await chat()
    expect(response.headers.get('retry-after')).toBe('10')
    expect(await problem(response)).toBe('503 The search engine Exa answered 429: its rate limit is reached')
    engines.answer = () => new Response('<html>')
    expect(await problem(await chat({ stream: true }))).toBe(
      '502 The search engine Exa gave an answer that is not JSON',
    )
    const added = gateway.generations().slice(before)
    expect(added.map((row) => row['cost_nano_usd'])).toEqual(added.map(() => 0))
    expect(upstream.seen).toEqual([])
  })

  test('a key without room for the search is refused before the engine is asked', async () => {
    const { key } = await gateway.makeKey({ limit: 0.001 })
    const response = await chat({}, { authorization: `Bearer ${key}` })
    expect(response.status).toBe(402)
    expect(engines.seen).toEqual([])
  })
})
