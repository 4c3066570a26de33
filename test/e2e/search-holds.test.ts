import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../gateway.ts'

/** What a provider may search for is reserved before it does, so that requests in parallel stay within a limit. */

let server: Bun.Server<undefined>
let gateway: Gateway

const SEARCHES = 3
const LIMIT_USD = 0.1

beforeAll(async () => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      await Bun.sleep(50)
      if (new URL(request.url).pathname.endsWith('/messages')) {
        return Response.json({
          id: 'msg_up',
          type: 'message',
          role: 'assistant',
          model: 'up',
          content: [{ type: 'text', text: 'Found.' }],
          stop_reason: 'end_turn',
          usage: { input_tokens: 5, output_tokens: 5, server_tool_use: { web_search_requests: SEARCHES } },
        })
      }
      return Response.json({
        id: 'up',
        object: 'chat.completion',
        created: 1,
        model: 'up',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Found.' }, finish_reason: 'stop' }],
        usage: {
          prompt_tokens: 5,
          completion_tokens: 5,
          server_tool_use: { web_search_requests: SEARCHES },
        },
      })
    },
  })
  const base_url = `http://127.0.0.1:${server.port}/v1`
  const pricing = { prompt: '0.000001', completion: '0.000002', web_search: '0.01' }
  gateway = await startGateway({
    providers: [
      { slug: 'claude', dialect: 'messages', base_url, models: [{ id: 'searcher', pricing }] },
      { slug: 'chat', dialect: 'chat', base_url, models: [{ id: 'chatter', pricing }] },
    ],
  })
})
afterAll(async () => {
  await gateway.stop()
  await server.stop(true)
})

const user = [{ role: 'user', content: 'What is new?' }]
const rows: [what: string, path: string, body: object, admitted: number][] = [
  [
    'as many as the tool may',
    '/messages',
    {
      model: 'searcher',
      max_tokens: 50,
      messages: user,
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: SEARCHES }],
    },
    3,
  ],
  [
    'a guess where nothing bounds them',
    '/chat/completions',
    { model: 'chatter', max_tokens: 50, messages: user, web_search_options: {} },
    0,
  ],
  [
    'none where none is asked for',
    '/chat/completions',
    { model: 'chatter', max_tokens: 50, messages: user },
    20,
  ],
]
test.each(rows)('%s', async (_, path, body, admitted) => {
  const { key } = await gateway.makeKey({ limit: LIMIT_USD })
  const ask = async (): Promise<number> =>
    (await gateway.call(path, body, { authorization: `Bearer ${key}` })).status
  const statuses = await Promise.all(Array.from({ length: 20 }, ask))
  expect(statuses.filter((status) => status === 200)).toHaveLength(admitted)
  expect(statuses.filter((status) => status === 402)).toHaveLength(20 - admitted)
})
