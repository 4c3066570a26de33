/** Reasoning of a provider that signs nothing, carried by clients of Responses that replay only what is encrypted. */
import { beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/core/events.ts'
import { addWorkspace } from '../admin/fixtures.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { chunk, DONE, sse, startUpstream, USAGE, usageChunk } from '../upstream.ts'

const THOUGHT = 'The tide turns at noon.'
const MODEL = 'deepseek/deepseek-v4-flash'
const CALL = { id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{}' } }

let foreignKey: string

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    environment: { DEEPSEEK_API_KEY: 'secret-of-lab', DEEPSEEK_BASE_URL: upstream.baseUrl },
    providers: [
      {
        slug: 'strict',
        dialect: 'responses',
        base_url: upstream.baseUrl,
        models: [{ id: 'gpt-5.4-strict', pricing: { prompt: '0', completion: '0' } }],
      },
    ],
  },
  upstream,
)
foreignKey = (await addWorkspace(gateway)).key
upstream.on('deepseek-v4-flash', ({ body }) =>
  body['stream'] === true
    ? sse([
        chunk({ role: 'assistant', reasoning_content: THOUGHT.slice(0, 9) }),
        chunk({ reasoning_content: THOUGHT.slice(9) }),
        chunk({ tool_calls: [{ index: 0, ...CALL }] }),
        chunk({}, 'tool_calls'),
        usageChunk(),
        DONE,
      ])
    : Response.json({
        id: 'chatcmpl-up',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: null, reasoning_content: THOUGHT, tool_calls: [CALL] },
            finish_reason: 'tool_calls',
          },
        ],
        usage: USAGE,
      }),
)
beforeEach(() => {
  upstream.seen.length = 0
})

const asked = (input: unknown[], more: object = {}) => ({
  model: MODEL,
  store: false,
  include: ['reasoning.encrypted_content'],
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'When?' }] }, ...input],
  tools: [{ type: 'function', name: 'tide', strict: false, parameters: { type: 'object', properties: {} } }],
  ...more,
})

async function outputOf(response: Response): Promise<JsonObject[]> {
  const text = await response.text()
  expect(response.status).toBe(200)
  if (!text.startsWith('event:')) return JSON.parse(text).output
  const last = text.split('\n').findLast((line) => line.startsWith('data: {'))
  return JSON.parse(last?.slice(6) ?? '').response.output
}

/** What Codex keeps of the items: no `format`, no status, no text of reasoning. */
const byCodex = (items: JsonObject[]): JsonObject[] => [
  ...items.map(({ type, id, summary, encrypted_content, call_id, name, arguments: json }) =>
    type === 'reasoning'
      ? { type, id, summary, encrypted_content }
      : { type, id, call_id, name, arguments: json },
  ),
  { type: 'function_call_output', call_id: 'call_1', output: '12:00' },
]

const replayed = () => {
  const { messages } = upstream.seen.at(-1)?.body ?? {}
  return Array.isArray(messages) ? messages.find(({ role }) => role === 'assistant')?.reasoning_content : null
}
const droppedOf = async (response: Response): Promise<unknown> =>
  (await response.json()).service_metadata.params.dropped_parameters
const ENABLED = { 'x-service-metadata': 'enabled' }

test.each([true, false])('a thought comes back to who thought it; streamed: %p', async (stream) => {
  const items = await outputOf(await gateway.call('/responses', asked([], { stream })))
  expect(items[0]).toMatchObject({ type: 'reasoning', content: [{ type: 'reasoning_text', text: THOUGHT }] })
  expect(JSON.stringify(items[0]?.['encrypted_content'])).toStartWith('"sluice.v2.')
  await outputOf(await gateway.call('/responses', asked(byCodex(items), { stream })))
  expect(replayed()).toBe(THOUGHT)
})

test('it is encrypted, and sent only if the request includes it', async () => {
  const [thought] = await outputOf(await gateway.call('/responses', asked([])))
  const sealed = String(thought?.['encrypted_content'])
  expect(Buffer.from(sealed.slice('sluice.v2.'.length), 'base64url').includes('tide')).toBe(false)
  const [plain] = await outputOf(await gateway.call('/responses', asked([], { include: [] })))
  expect(plain?.['encrypted_content']).toBeUndefined()
})

test('plain text without anything beside it comes back as text', async () => {
  const items = await outputOf(await gateway.call('/responses', asked([])))
  const [, ...rest] = byCodex(items)
  const plain = {
    type: 'reasoning',
    id: 'rs_x',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'I thought.' }],
  }
  await outputOf(await gateway.call('/responses', asked([plain, ...rest])))
  expect(replayed()).toBe('I thought.')
})

const forged = `sluice.v1.${Buffer.from(JSON.stringify({ details: [{ type: 'reasoning.text', text: 'forged' }] })).toString('base64url')}`
const changes: [what: string, of: (sealed: string) => string, key: () => string | undefined][] = [
  ['of another workspace', (sealed) => sealed, () => foreignKey],
  ['that was changed', (sealed) => `${sealed.slice(0, -8)}AAAAAAAA`, () => undefined],
  ['that was cut', (sealed) => sealed.slice(0, 30), () => undefined],
  ['that a client made up', () => forged, () => undefined],
]
test.each(changes)('a thought %s is left out, and named', async (_, change, keyOf) => {
  const items = byCodex(await outputOf(await gateway.call('/responses', asked([]))))
  const [thought, ...rest] = items
  const broken = { ...thought, encrypted_content: change(String(thought?.['encrypted_content'])) }
  const key = keyOf()
  const response = await gateway.call('/responses', asked([broken, ...rest]), {
    ...ENABLED,
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  })
  expect(response.status).toBe(200)
  expect(await droppedOf(response)).toContain('input.reasoning')
  // DeepSeek wants the field of a turn that called tools.
  expect(replayed() ?? '').toBe('')
})

test('another provider is not sent it, and it is named', async () => {
  const items = byCodex(await outputOf(await gateway.call('/responses', asked([]))))
  upstream.on('gpt-5.4-strict', () =>
    Response.json({
      id: 'resp_up',
      object: 'response',
      status: 'completed',
      model: 'x',
      output: [],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    }),
  )
  const response = await gateway.call('/responses', asked(items, { model: 'gpt-5.4-strict' }), ENABLED)
  expect(response.status).toBe(200)
  expect(JSON.stringify(upstream.seen.at(-1)?.body)).not.toMatch(/sluice\.v|tide turns/)
  expect(await droppedOf(response)).toContain('input.reasoning')
})

test('Messages: what a thought carries is sealed too, and one of another workspace is its text alone', async () => {
  const body = { model: MODEL, max_tokens: 99, messages: [{ role: 'user', content: 'When?' }] }
  const { content } = await (await gateway.call('/messages', body)).json()
  expect(content[0]).toMatchObject({ type: 'thinking', thinking: THOUGHT })
  expect(content[0].signature).toStartWith('sluice.v2.')
  const messages = [
    ...body.messages,
    { role: 'assistant', content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '12:00' }] },
  ]
  const response = await gateway.call(
    '/messages',
    { ...body, messages },
    {
      ...ENABLED,
      authorization: `Bearer ${foreignKey}`,
    },
  )
  expect(await droppedOf(response)).toContain('messages.content.thinking')
  expect(replayed()).toBe(THOUGHT)
})
