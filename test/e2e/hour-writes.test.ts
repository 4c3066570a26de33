import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { assemble } from '../chat-stream.ts'
import { streamOf } from '../dialects/converse/frames.ts'
import { eventsOf } from '../dialects/messages/written.ts'
import { type Gateway, startGateway } from '../gateway.ts'

/** What is written to a provider's prompt cache for an hour costs its own price, in every dialect of callers and providers. */

/** Of the bodies that came. */
let asked: Record<string, unknown>[] = []
let answer: () => Response = () => new Response(null, { status: 500 })
let server: Bun.Server<undefined>
let gateway: Gateway

const minutesAlone = {
  prompt: '0.000001',
  completion: '0.000002',
  input_cache_read: '0.0000001',
  input_cache_write: '0.00000125',
}
const aws = { region: 'us-west-2', access_key_id: 'AKIALAB', secret_access_key: 'secret-of-lab' }

beforeAll(async () => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      asked.push(await request.json())
      return answer()
    },
  })
  const base = `http://127.0.0.1:${server.port}`
  gateway = await startGateway({
    environment: { ANTHROPIC_API_KEY: 'secret', ANTHROPIC_BASE_URL: `${base}/v1` },
    providers: [
      {
        slug: 'plain',
        dialect: 'messages',
        base_url: `${base}/v1`,
        models: [{ id: 'minutes-alone', pricing: minutesAlone }],
      },
      {
        slug: 'rock',
        dialect: 'converse',
        base_url: `${base}/rock`,
        aws,
        models: [
          {
            id: 'hour-alone',
            pricing: { prompt: '0.000001', completion: '0.000002', input_cache_write_1h: '0.000002' },
          },
          { id: 'signed', pricing: { ...minutesAlone, input_cache_write_1h: '0.000002' } },
        ],
      },
    ],
  })
})
afterAll(async () => {
  await gateway.stop()
  await server.stop(true)
})
beforeEach(() => {
  asked = []
})

/** 10 tokens of input, 500 from the cache, 1,000 into it for minutes and 2,000 for an hour, 20 of output. */
const WRITES = { ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 2_000 }
const START = {
  input_tokens: 10,
  cache_read_input_tokens: 500,
  cache_creation_input_tokens: 3_000,
  cache_creation: WRITES,
}
const CONTENT = [{ type: 'text', text: 'Hello.' }]
const MESSAGE = { id: 'msg_up', type: 'message', role: 'assistant', model: 'claude-up' }

/** As Anthropic streams it: both figures in `message_start`, in `message_delta` their sum alone. */
const claudeStream = (): Response => {
  const { cache_creation: _, ...end } = START
  const usage = { ...START, output_tokens: 1 }
  const message = { ...MESSAGE, content: [], stop_reason: null, stop_sequence: null, usage }
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { ...end, output_tokens: 20 } },
    { type: 'message_stop' },
  ]
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}
const claudeReply = (): Response =>
  Response.json({
    ...MESSAGE,
    content: CONTENT,
    stop_reason: 'end_turn',
    usage: { ...START, output_tokens: 20 },
  })

const COUNTED = {
  inputTokens: 10,
  outputTokens: 20,
  totalTokens: 3_530,
  cacheReadInputTokens: 500,
  cacheWriteInputTokens: 3_000,
  cacheDetails: [
    { ttl: '1h', inputTokens: 2_000 },
    { ttl: '5m', inputTokens: 1_000 },
  ],
}
const bedrockStream = (): Response =>
  new Response(
    streamOf([
      { messageStart: { role: 'assistant' } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Hello.' } } },
      { contentBlockStop: { contentBlockIndex: 0 } },
      { messageStop: { stopReason: 'end_turn' } },
      { metadata: { usage: COUNTED } },
    ]),
    { headers: { 'content-type': 'application/vnd.amazon.eventstream' } },
  )
const bedrockReply = (): Response =>
  Response.json({
    output: { message: { role: 'assistant', content: [{ text: 'Hello.' }] } },
    stopReason: 'end_turn',
    usage: COUNTED,
  })

/** Of claude-sonnet-4.5 in the catalogue: 3 and 15 USD a million, reads 0.3, writes 3.75, for an hour 6. */
const CLAUDE_NANO_USD = 10 * 3_000 + 500 * 300 + 1_000 * 3_750 + 2_000 * 6_000 + 20 * 15_000
const SIGNED_NANO_USD = 10 * 1_000 + 500 * 100 + 1_000 * 1_250 + 2_000 * 2_000 + 20 * 2_000
const MINUTES_NANO_USD = 10 * 1_000 + 500 * 100 + 3_000 * 1_250 + 20 * 2_000

const rows: [model: string, streamed: () => Response, whole: () => Response, nanoUsd: number][] = [
  ['anthropic/claude-sonnet-4.5', claudeStream, claudeReply, CLAUDE_NANO_USD],
  ['signed', bedrockStream, bedrockReply, SIGNED_NANO_USD],
  ['minutes-alone', claudeStream, claudeReply, MINUTES_NANO_USD],
]

const cached = { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral', ttl: '1h' } }
const ask = (model: string, stream: boolean) => ({
  model,
  stream,
  max_tokens: 100,
  messages: [{ role: 'user', content: [cached] }],
})

/** The last usage that a caller of POST /messages gets; a stream also begins with what is known then. */
async function usageOf(response: Response, isStream: boolean): Promise<Record<string, unknown>> {
  if (!isStream) return (await response.json()).usage
  const events = eventsOf(await response.text())
  return Object(events.find(({ type }) => type === 'message_delta'))['usage']
}

for (const [model, streamed, whole, nanoUsd] of rows) {
  for (const isStream of [true, false]) {
    const how = isStream ? 'streamed' : 'whole'

    test(`${model} by /messages, ${how}: charged to the nano-dollar, both figures reported`, async () => {
      answer = isStream ? streamed : whole
      const { key, hash } = await gateway.makeKey({})
      const headers = { authorization: `Bearer ${key}` }
      const usage = await usageOf(await gateway.call('/messages', ask(model, isStream), headers), isStream)
      expect(usage).toMatchObject({
        input_tokens: 10,
        cache_read_input_tokens: 500,
        cache_creation_input_tokens: 3_000,
        cache_creation: WRITES,
        output_tokens: 20,
        cost: nanoUsd / 1e9,
      })
      expect(gateway.generations().at(-1)).toMatchObject({
        streamed: Number(isStream),
        cost_nano_usd: nanoUsd,
        native_tokens_prompt: 3_510,
        native_tokens_cache_write: 3_000,
        usage_source: 'provider',
      })
      const { data } = await (await gateway.manage('GET', `/keys/${hash}`)).json()
      expect(data.usage).toBe(nanoUsd / 1e9)
    })

    test(`${model} by /chat/completions, ${how}: the same charge`, async () => {
      answer = isStream ? streamed : whole
      const response = await gateway.call('/chat/completions', ask(model, isStream))
      const { usage } = isStream ? (await assemble(response)).last : await response.json()
      expect(usage).toMatchObject({
        prompt_tokens: 3_510,
        prompt_tokens_details: { cached_tokens: 500, cache_write_tokens: 3_000 },
        cost: nanoUsd / 1e9,
      })
      expect(gateway.generations().at(-1)).toMatchObject({ cost_nano_usd: nanoUsd })
    })
  }
}

test('the start of a stream has both figures, and the hour was requested', async () => {
  answer = claudeStream
  const response = await gateway.call('/messages', ask('anthropic/claude-sonnet-4.5', true))
  expect(eventsOf(await response.text())[0]).toMatchObject({
    type: 'message_start',
    message: { usage: { cache_creation_input_tokens: 3_000, cache_creation: WRITES } },
  })
  expect(asked).toMatchObject([{ messages: [{ content: [cached] }] }])
})

test.each<[what: string, mark: object | null, limit: number, status: number, model: string]>([
  // Some 2,700 tokens by our estimate, at 0.000001, 0.00000125 or 0.000002.
  ['without a mark', null, 0.0029, 200, 'signed'],
  ['marked for minutes', {}, 0.0029, 402, 'signed'],
  ['marked for minutes', {}, 0.0036, 200, 'signed'],
  ['marked for an hour', { ttl: '1h' }, 0.0036, 402, 'signed'],
  ['marked for an hour', { ttl: '1h' }, 0.0056, 200, 'signed'],
  ['marked for an hour, which alone has a price,', { ttl: '1h' }, 0.0036, 402, 'hour-alone'],
])(
  'a prompt %s is reserved at what writing it costs: %p, a limit of %p: %p',
  async (_, mark, limit, status, model) => {
    const { key } = await gateway.makeKey({ limit })
    const part = {
      type: 'text',
      text: 'x'.repeat(8_000),
      ...(mark ? { cache_control: { type: 'ephemeral', ...mark } } : {}),
    }
    const body = { model: `rock/${model}`, max_tokens: 10, messages: [{ role: 'user', content: [part] }] }
    answer = () =>
      Response.json({
        output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      })
    const response = await gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })
    expect(response.status).toBe(status)
    expect(asked).toHaveLength(status === 200 ? 1 : 0)
  },
)

test('a mark on a call of a tool counts among them', async () => {
  answer = () =>
    Response.json({
      output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    })
  const statusOf = async (mark: object) => {
    const { key } = await gateway.makeKey({ limit: 0.0036 })
    const messages = [
      { role: 'user', content: 'x'.repeat(8_000) },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'tide', input: {}, ...mark }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'high' }] },
    ]
    const body = { model: 'rock/signed', max_tokens: 10, messages }
    return (await gateway.call('/messages', body, { authorization: `Bearer ${key}` })).status
  }
  expect(await statusOf({})).toBe(200)
  expect(await statusOf({ cache_control: { type: 'ephemeral', ttl: '1h' } })).toBe(402)
})
