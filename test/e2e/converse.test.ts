import { beforeEach, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assemble } from '../chat-stream.ts'
import { frameOf, streamOf } from '../dialects/converse/frames.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { FIXTURES } from '../recordings.ts'
import { dataLines } from '../upstream.ts'

/** Amazon Bedrock behind POST /chat/completions: by an entry that signs, and by the environment with its own key. */

interface Seen {
  path: string
  headers: Headers
  body: Record<string, unknown>
}

let seen: Seen[] = []
/** The replies for a model, one after the other; the last one stays. */
const answers = new Map<string, (() => Response)[]>()
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    seen.push({ path: pathname, headers: request.headers, body: await request.json() })
    const model = decodeURIComponent(/\/model\/([^/]+)\//.exec(pathname)?.[1] ?? '')
    const turns = answers.get(model) ?? []
    const answer = turns.length > 1 ? turns.shift() : turns[0]
    return answer ? answer() : Response.json({ message: 'no such model' }, { status: 404 })
  },
})
const address = `http://127.0.0.1:${server.port}`
const pricing = {
  prompt: '0.000001',
  completion: '0.000002',
  input_cache_read: '0.0000001',
  input_cache_write: '0.00000125',
}
const gateway = await gatewayOfFile(
  {
    environment: {
      AWS_BEARER_TOKEN_BEDROCK: 'bedrock-key',
      AWS_REGION: 'eu-west-1',
      AWS_BEDROCK_BASE_URL: address,
    },
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        dialect: 'converse',
        base_url: `${address}/lab`,
        aws: { region: 'us-west-2', access_key_id: 'AKIALAB', secret_access_key: 'secret-of-lab' },
        models: [
          { id: 'lamps', upstream_id: 'us.anthropic.claude-3-7-sonnet-20250219-v1:0', pricing },
          { id: 'answer', upstream_id: 'anthropic.claude-3-haiku-20240307-v1:0', pricing },
          { id: 'plain', pricing },
        ],
      },
    ],
  },
  { stop: () => server.stop(true) },
)
gateway.deps.run.wait = async () => undefined
beforeEach(() => {
  seen = []
})

const CLAUDE = 'us.anthropic.claude-3-7-sonnet-20250219-v1:0'
const textOf = (file: string): string => readFileSync(join(FIXTURES, 'converse', file), 'utf8')

const stream = (file: string) => (): Response => {
  const events = textOf(`${file}.chunks.txt`).trim().split('\n')
  return new Response(streamOf(events.map((line) => JSON.parse(line))), {
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  })
}
const body = (file: string) => (): Response =>
  new Response(textOf(`${file}.json`), { headers: { 'content-type': 'application/json' } })

const ask = (model: string, more: Record<string, unknown> = {}) => ({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
})
const tools = ['set_lamp', 'list_lamps', 'now'].map((name) => ({ type: 'function', function: { name } }))

const IDS = ['tooluse_a', 'tooluse_b', 'tooluse_c']
const RESULTS = IDS.map((id) => ({ role: 'tool', tool_call_id: id, content: `done ${id}` }))

test('a streamed turn with tools and thoughts continues, with signed requests', async () => {
  answers.set(CLAUDE, [stream('thinking-tools'), stream('text')])
  const asked = ask('lamps', { stream: true, tools, reasoning: { max_tokens: 2000 } })
  const first = await assemble(await gateway.call('/chat/completions', asked))
  expect(seen[0]?.path).toBe('/lab/model/us.anthropic.claude-3-7-sonnet-20250219-v1%3A0/converse-stream')
  expect(seen[0]?.headers.get('authorization')).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIALAB\/\d{8}\/us-west-2\/bedrock\/aws4_request, SignedHeaders=host;x-amz-date, Signature=[0-9a-f]{64}$/,
  )
  const thinking = { type: 'enabled', budget_tokens: 2000 }
  expect(seen[0]?.body).toMatchObject({ additionalModelRequestFields: { thinking } })
  expect(first.isDone).toBe(true)
  expect(first.finish).toMatchObject({ finish_reason: 'tool_calls', native_finish_reason: 'tool_use' })
  expect(first.last.usage).toMatchObject({ prompt_tokens: 40, completion_tokens: 88, cost: 0.000216 })
  expect(first.message.reasoning).toBe('Two lamps, so two calls.')
  expect(first.message.tool_calls.map(({ function: called }) => called.arguments)).toEqual([
    '{"lamp": "Küche", "on": true}',
    '{}',
    '{}',
  ])

  const messages = [...asked.messages, first.message, ...RESULTS]
  const second = await assemble(await gateway.call('/chat/completions', { ...asked, messages }))
  expect(second.message.content).toBe('Grüße aus der Werkstatt 🛠 und zurück')
  expect(seen[1]?.body).toMatchObject({ additionalModelRequestFields: { thinking } })
  expect(seen[1]?.body['messages']).toEqual([
    { role: 'user', content: [{ text: 'Hello' }] },
    {
      role: 'assistant',
      content: [
        {
          reasoningContent: {
            reasoningText: { text: 'Two lamps, so two calls.', signature: 'c2lnLWxhbXBz' },
          },
        },
        { text: 'I switch it on.' },
        { toolUse: { toolUseId: 'tooluse_a', name: 'set_lamp', input: { lamp: 'Küche', on: true } } },
        { toolUse: { toolUseId: 'tooluse_b', name: 'list_lamps', input: {} } },
        { toolUse: { toolUseId: 'tooluse_c', name: 'now', input: {} } },
      ],
    },
    {
      role: 'user',
      content: IDS.map((toolUseId) => ({
        toolResult: { toolUseId, content: [{ text: `done ${toolUseId}` }] },
      })),
    },
  ])
})

test('the same turn continues after a complete answer', async () => {
  answers.set(CLAUDE, [body('thinking-tools'), body('cached')])
  const asked = ask('lamps', { tools, reasoning: { max_tokens: 2000 } })
  const { choices } = await (await gateway.call('/chat/completions', asked)).json()
  const [{ message, finish_reason }] = choices
  expect(finish_reason).toBe('tool_calls')
  const results = ['tooluse_d', 'tooluse_e'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'off' }))
  const messages = [...asked.messages, message, ...results]
  const { usage } = await (await gateway.call('/chat/completions', { ...asked, messages })).json()
  expect(seen.map(({ path }) => path.split('/').at(-1))).toEqual(['converse', 'converse'])
  expect(seen[1]?.body['messages']).toMatchObject([
    {},
    {
      content: [
        { reasoningContent: { reasoningText: { text: 'One call.', signature: 'c2ln' } } },
        { toolUse: { toolUseId: 'tooluse_d', input: { lamp: 'Flur', on: false } } },
        { toolUse: { toolUseId: 'tooluse_e', input: {} } },
      ],
    },
    { content: [{ toolResult: { toolUseId: 'tooluse_d' } }, { toolResult: { toolUseId: 'tooluse_e' } }] },
  ])
  expect(usage).toMatchObject({
    prompt_tokens: 4604,
    completion_tokens: 2,
    prompt_tokens_details: { cached_tokens: 3400, cache_write_tokens: 1200 },
    cost: 0.001848,
  })
  expect(gateway.generations().at(-1)).toMatchObject({
    cost_nano_usd: 1_848_000,
    native_finish_reason: 'end_turn',
  })
})

test('the same turn continues by Anthropic’s API, with unchanged thoughts', async () => {
  answers.set(CLAUDE, [body('thinking-tools'), body('cached')])
  const asked = {
    model: 'lamps',
    max_tokens: 4000,
    thinking: { type: 'enabled', budget_tokens: 2000 },
    tools: [{ name: 'set_lamp', input_schema: { type: 'object' } }],
    messages: [{ role: 'user', content: 'Hello' }],
  }
  const first = await (await gateway.call('/messages', asked)).json()
  expect(first).toMatchObject({
    stop_reason: 'tool_use',
    content: [
      { type: 'thinking', thinking: 'One call.', signature: 'c2ln' },
      { type: 'tool_use', id: 'tooluse_d', name: 'set_lamp', input: { lamp: 'Flur', on: false } },
      { type: 'tool_use', id: 'tooluse_e', name: 'list_lamps', input: {} },
    ],
    usage: { input_tokens: 50, output_tokens: 60 },
  })
  const results = ['tooluse_d', 'tooluse_e'].map((tool_use_id) => ({
    type: 'tool_result',
    tool_use_id,
    content: 'off',
  }))
  const messages = [
    ...asked.messages,
    { role: 'assistant', content: first.content },
    { role: 'user', content: results },
  ]
  expect((await gateway.call('/messages', { ...asked, messages })).status).toBe(200)
  expect(seen[1]?.body).toMatchObject({
    inferenceConfig: { maxTokens: 4000 },
    additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
    messages: [
      {},
      {
        content: [
          { reasoningContent: { reasoningText: { text: 'One call.', signature: 'c2ln' } } },
          { toolUse: { toolUseId: 'tooluse_d' } },
          { toolUse: { toolUseId: 'tooluse_e' } },
        ],
      },
      { content: [{ toolResult: { toolUseId: 'tooluse_d' } }, { toolResult: { toolUseId: 'tooluse_e' } }] },
    ],
  })
})

test('a catalogue model with the key of the environment is called by the profile of its region', async () => {
  const profile = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
  answers.set(profile, [stream('text')])
  const only = { provider: { only: ['amazon-bedrock'] } }
  const reply = await assemble(
    await gateway.call('/chat/completions', ask('anthropic/claude-sonnet-4.5', { stream: true, ...only })),
  )
  expect(reply.message.content).toBe('Grüße aus der Werkstatt 🛠 und zurück')
  expect(seen[0]?.path).toBe(`/model/${encodeURIComponent(profile)}/converse-stream`)
  expect(seen[0]?.headers.get('authorization')).toBe('Bearer bedrock-key')
  // 12 tokens at 3.3 USD a million and 9 at 16.5: the price of Europe.
  expect(reply.last.usage.cost).toBe(0.0001881)
})

test('a schema is sent as a tool to models without schemas, whose input is the answer', async () => {
  answers.set('anthropic.claude-3-haiku-20240307-v1:0', [body('answer-tool')])
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const response_format = { type: 'json_schema', json_schema: { name: 'place', schema } }
  const { choices } = await (
    await gateway.call('/chat/completions', ask('answer', { response_format }))
  ).json()
  expect(seen[0]?.body).toMatchObject({ toolConfig: { toolChoice: { tool: { name: 'answer_in_json' } } } })
  expect(choices[0]).toMatchObject({ message: { content: '{"city":"Emden"}' }, finish_reason: 'stop' })
})

test('parameters that the provider does not know are named in the metadata', async () => {
  answers.set('plain', [body('cached')])
  const response = await gateway.call('/chat/completions', ask('plain', { seed: 7 }), {
    'x-service-metadata': 'enabled',
  })
  expect(JSON.stringify((await response.json()).service_metadata)).toContain('"seed"')
})

test('an exception within an answer never looks finished', async () => {
  answers.set('plain', [stream('throttled')])
  const lines = await dataLines(await gateway.call('/chat/completions', ask('plain', { stream: true })))
  expect(lines.at(-1)).not.toBe('[DONE]')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
    choices: [{ finish_reason: 'error' }],
    error: { code: 429 },
  })
  expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'error' })
})

test('an exception before any content keeps its own status', async () => {
  const events = [
    { messageStart: { role: 'assistant' } },
    { exception: 'validationException', message: 'Bad schema' },
  ]
  answers.set('plain', [() => new Response(Buffer.concat(events.map(frameOf)))])
  const response = await gateway.call('/chat/completions', ask('plain', { stream: true }))
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    error: { code: 400, message: 'Bad schema', metadata: { provider_code: 'validationException' } },
  })
})

test('a rejected credential is a 502 without the credential and the text of AWS', async () => {
  answers.set('plain', [
    () =>
      Response.json(
        { message: 'The security token included in the request is invalid.' },
        { status: 403, headers: { 'x-amzn-errortype': 'UnrecognizedClientException' } },
      ),
  ])
  const response = await gateway.call('/chat/completions', ask('plain'))
  expect(response.status).toBe(502)
  expect(await response.text()).not.toMatch(/security token|secret-of-lab|AKIALAB/)
  expect(JSON.stringify(seen.map(({ headers }) => [...headers]))).not.toContain('secret-of-lab')
})

test('an image URL of this machine is rejected before the call', async () => {
  const content = [{ type: 'image_url', image_url: { url: 'http://127.0.0.1/x.png' } }]
  const response = await gateway.call(
    '/chat/completions',
    ask('plain', { messages: [{ role: 'user', content }] }),
  )
  expect(response.status).toBe(400)
  expect(seen).toEqual([])
})
