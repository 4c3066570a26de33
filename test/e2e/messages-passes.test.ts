import { expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { startUpstream } from '../upstream.ts'

/** Claude counts the passes that summarize a conversation apart from the answer; they are charged all the same. */

const upstream = startUpstream()
const pricing = { prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000001' }
const gateway = await gatewayOfFile(
  {
    providers: [
      {
        slug: 'lab',
        dialect: 'messages',
        base_url: upstream.baseUrl,
        models: [{ id: 'long', max_completion_tokens: 9000, pricing }],
      },
    ],
  },
  upstream,
)

const COUNTS = { input_tokens: 40, output_tokens: 5 }
const ITERATIONS = [
  { type: 'compaction', input_tokens: 3_000, cache_read_input_tokens: 1_000, output_tokens: 60 },
  { type: 'message', ...COUNTS },
]
const MESSAGE = { id: 'msg_up', type: 'message', role: 'assistant', model: 'long' }
const USAGE = { ...COUNTS, iterations: ITERATIONS }

const body = (): Response =>
  Response.json({
    ...MESSAGE,
    content: [
      { type: 'compaction', content: 'They spoke of tides.' },
      { type: 'text', text: 'Hi.' },
    ],
    stop_reason: 'end_turn',
    usage: USAGE,
  })

function stream(): Response {
  const events = [
    { type: 'message_start', message: { ...MESSAGE, content: [], usage: { ...COUNTS, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: USAGE },
    { type: 'message_stop' },
  ]
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

/** The answer, and the summary. */
const COST = 0.00004 + 0.00001 + (0.003 + 0.0001 + 0.00012)

test.each([body, stream])('%p', async (answer) => {
  upstream.inTurn('long', [answer])
  const reply = await gateway.call('/messages', {
    model: 'lab/long',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hi' }],
  })
  const { usage } = await reply.json()
  // The caller sees how long the conversation is, as with Anthropic itself.
  expect(usage).toMatchObject({ ...COUNTS, iterations: ITERATIONS })
  expect(usage.cost).toBeCloseTo(COST, 9)
})
