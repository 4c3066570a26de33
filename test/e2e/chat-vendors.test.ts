import { beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { gatewayOfFile } from '../file-setup.ts'
import { FIXTURES } from '../recordings.ts'
import { dataLines, startUpstream } from '../upstream.ts'

/** Mistral and Perplexity as the environment turns them on, behind POST /chat/completions. */

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    environment: {
      MISTRAL_API_KEY: 'secret-of-mistral',
      MISTRAL_BASE_URL: upstream.baseUrl,
      PERPLEXITY_API_KEY: 'secret-of-perplexity',
      PERPLEXITY_BASE_URL: upstream.baseUrl,
    },
  },
  upstream,
)

beforeEach(() => {
  upstream.seen.length = 0
})

const fixture = (file: string) => async (): Promise<Response> =>
  new Response(await Bun.file(join(FIXTURES, 'chat', file)).bytes(), {
    headers: { 'content-type': file.endsWith('.sse') ? 'text/event-stream' : 'application/json' },
  })
const USER = { role: 'user', content: 'Six times seven?' }
const opted = { 'x-service-metadata': 'enabled' }

interface Delta {
  content?: string
  reasoning?: string
  reasoning_details?: Record<string, unknown>[]
}

async function assemble(response: Response) {
  const lines = await dataLines(response)
  expect(lines.at(-1)).toBe('[DONE]')
  const chunks = lines.slice(0, -1).map((line) => JSON.parse(line))
  const deltas: Delta[] = chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: Delta }) => delta))
  const message = {
    role: 'assistant',
    content: deltas.map(({ content }) => content ?? '').join(''),
    reasoning: deltas.map(({ reasoning }) => reasoning ?? '').join(''),
    reasoning_details: deltas.flatMap(({ reasoning_details }) => reasoning_details ?? []),
  }
  return { chunks, message }
}

test('Mistral: thoughts come as reasoning, and go back as parts', async () => {
  upstream.on('mistral-small-2603', fixture('mistral-thinking.sse'))
  const asked = {
    model: 'mistralai/mistral-small-2603',
    stream: true,
    reasoning: { effort: 'low' },
    seed: 7,
    max_tokens: 90,
  }
  const { message, chunks } = await assemble(
    await gateway.call('/chat/completions', { ...asked, user: 'ann', messages: [USER] }, opted),
  )
  expect(upstream.seen[0]?.body).toEqual({
    model: 'mistral-small-2603',
    stream: true,
    reasoning_effort: 'high',
    random_seed: 7,
    max_tokens: 90,
    messages: [USER],
  })
  expect(message).toMatchObject({ content: '42', reasoning: 'Six times seven.' })
  expect(JSON.stringify(chunks.at(-1).service_metadata)).toContain('"user"')

  const again = { role: 'user', content: 'And one more?' }
  await gateway.call('/chat/completions', { ...asked, messages: [USER, message, again] })
  expect(upstream.seen[1]?.body['messages']).toEqual([
    USER,
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Six times seven.' }] },
        { type: 'text', text: '42' },
      ],
    },
    again,
  ])
})

test('Mistral: a begun answer is marked, and an id of another provider is replaced', async () => {
  upstream.on('mistral-large-2512', fixture('mistral-thinking.json'))
  const call = { id: 'toolu_01', type: 'function', function: { name: 'now', arguments: '{}' } }
  const response = await gateway.call('/chat/completions', {
    model: 'mistralai/mistral-large-2512',
    messages: [
      USER,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'toolu_01', content: '12' },
      { role: 'assistant', content: 'It is' },
    ],
  })
  expect(response.status).toBe(200)
  const sent = upstream.seen[0]?.body['messages']
  if (!Array.isArray(sent)) throw new Error('no messages were sent')
  expect(sent[1].tool_calls[0].id).toMatch(/^[A-Za-z0-9]{9}$/)
  expect(sent[2].tool_call_id).toBe(sent[1].tool_calls[0].id)
  expect(sent[3]).toEqual({ role: 'assistant', content: 'It is', prefix: true })
})

test('Perplexity: sources are annotations, sent once, and its own fields pass unchanged', async () => {
  const source = { title: 'Tides', url: 'https://tides.example', date: '2026-01-01', snippet: 'Twice a day.' }
  const image = { image_url: 'https://x.example/a.png', origin_url: 'https://x.example', height: 1, width: 2 }
  upstream.on('sonar', () =>
    Response.json({
      id: 'p1',
      model: 'sonar',
      created: 1_760_000_000,
      object: 'chat.completion',
      usage: {
        prompt_tokens: 8,
        completion_tokens: 5,
        total_tokens: 13,
        search_context_size: 'high',
        citation_tokens: 40,
        num_search_queries: 3,
        cost: { input_tokens_cost: 0.001, output_tokens_cost: 0.001, request_cost: 0.005, total_cost: 0.007 },
      },
      citations: [source.url, 'https://moon.example'],
      search_results: [source],
      images: [image],
      related_questions: ['Why?'],
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: 'Twice a day.[1]' },
          delta: { role: 'assistant', content: '' },
        },
      ],
    }),
  )
  const own = {
    return_images: true,
    web_search_options: { search_context_size: 'high' },
    search_domain_filter: ['-x.example'],
  }
  const response = await gateway.call('/chat/completions', {
    model: 'perplexity/sonar',
    ...own,
    tools: [{ type: 'function', function: { name: 'now' } }],
    messages: [{ role: 'system', content: 'Be brief.' }, USER, USER],
  })
  const reply = await response.json()
  expect(upstream.seen[0]?.body).toEqual({
    model: 'sonar',
    ...own,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: `${USER.content}\n\n${USER.content}` },
    ],
  })
  expect(reply.choices[0].message).toMatchObject({
    content: 'Twice a day.[1]',
    annotations: [
      {
        type: 'url_citation',
        url_citation: { url: source.url, title: 'Tides', content: 'Twice a day.' },
      },
      { type: 'url_citation', url_citation: { url: 'https://moon.example' } },
    ],
  })
  expect(reply).toMatchObject({ images: [image], related_questions: ['Why?'], search_results: [source] })
  expect(reply.usage).toMatchObject({
    prompt_tokens: 8,
    completion_tokens: 5,
    citation_tokens: 40,
    search_context_size: 'high',
    server_tool_use_details: { web_search_requests: 3 },
  })
})
