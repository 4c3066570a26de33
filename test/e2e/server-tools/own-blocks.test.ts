/** What a provider's own tools did in a step of the loop is sent back to it with the next one, in its order. */
import { beforeEach, expect, test } from 'bun:test'
import { asList } from '../../../src/core/json.ts'
import { gatewayOfFile } from '../../file-setup.ts'
import { CALLERS } from '../../plugins/callers.ts'
import { startUpstream } from '../../upstream.ts'
import { ANSWER, geminiReply, messagesReply, responsesReply } from './provider-turns.ts'

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    providers: ['messages', 'responses', 'gemini'].map((dialect) => ({
      slug: `lab-${dialect}`,
      dialect,
      base_url: upstream.baseUrl,
      api_key: 'secret',
      models: [
        {
          id: dialect,
          upstream_id: `up-${dialect}`,
          pricing: { prompt: '0.000001', completion: '0.000002' },
        },
      ],
    })),
  },
  upstream,
)
beforeEach(() => {
  upstream.seen.length = 0
})

const thought = (signature: string) => ({ type: 'thinking', thinking: 'Hm.', signature })
const blocks = [
  thought('b25l'),
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'tides' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      { type: 'web_search_result', url: 'https://a.example/', title: 'A', encrypted_content: 'ZQ==' },
    ],
  },
  thought('dHdv'),
  { type: 'text', text: 'High at six.' },
  { type: 'tool_use', id: 'toolu_1', name: 'calculator', input: { expression: '6 * 7' } },
]
const reasoning = (id: string) => ({ type: 'reasoning', id, summary: [], encrypted_content: `enc-${id}` })
const items = [
  reasoning('rs_1'),
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'tides' } },
  reasoning('rs_2'),
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'High at six.', annotations: [] }],
  },
  {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'calculator',
    arguments: '{"expression":"6 * 7"}',
    status: 'completed',
  },
]
const parts = [
  { executableCode: { language: 'PYTHON', code: 'print(6)' } },
  { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '6' } },
  { text: 'High at six.' },
  { functionCall: { name: 'calculator', args: { expression: '6 * 7' } } },
]

/** By the provider's dialect: its replies, the field of the conversation, and the model's turn as it is sent back. */
const ROWS = {
  messages: {
    answers: [messagesReply(blocks, 'tool_use'), messagesReply([{ type: 'text', text: ANSWER }], 'end_turn')],
    field: 'messages',
    turn: [{ role: 'assistant', content: blocks }],
  },
  responses: {
    answers: [
      responsesReply(items),
      responsesReply([{ ...items[3], content: [{ type: 'output_text', text: ANSWER, annotations: [] }] }]),
    ],
    field: 'input',
    turn: [
      items[0],
      items[1],
      items[2],
      { role: 'assistant', content: 'High at six.' },
      { type: 'function_call', call_id: 'call_1', name: 'calculator', arguments: '{"expression":"6 * 7"}' },
    ],
  },
  gemini: {
    answers: [geminiReply(parts), geminiReply([{ text: ANSWER }])],
    field: 'contents',
    turn: [{ role: 'model', parts }],
  },
} as const

const rows = Object.entries(ROWS).flatMap(([provider, row]) =>
  CALLERS.flatMap((caller) =>
    [false, true].map((stream) => ({ caller, provider, row, stream, as: caller.dialect })),
  ),
)

test.each(rows)(
  'a caller of $as, a provider of $provider, streamed: $stream',
  async ({ caller, provider, row, stream }) => {
    for (const name of [`up-${provider}`, 'undefined']) upstream.inTurn(name, [...row.answers])
    const { path, body } = caller.ask(provider, 'When is high tide, times seven?', stream)
    const response = await gateway.call(path, { ...body, tools: [{ type: 'openrouter:calculator' }] })
    const raw = await response.text()
    expect(response.status, raw).toBe(200)
    expect(raw).toContain(ANSWER)
    const [before, after] = upstream.seen.map((seen) => asList(seen.body[row.field]))
    expect(after?.slice(before?.length, (before?.length ?? 0) + row.turn.length)).toEqual([...row.turn])
  },
)

test('a Messages caller sends them back in its next turn, beside a tool of the gateway', async () => {
  upstream.inTurn('up-messages', [messagesReply([{ type: 'text', text: ANSWER }], 'end_turn')])
  const past = blocks.slice(0, 5)
  const response = await gateway.call('/messages', {
    model: 'messages',
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'When?' },
      { role: 'assistant', content: past },
      { role: 'user', content: 'Sure?' },
    ],
    tools: [{ type: 'openrouter:calculator' }],
  })
  expect(response.status).toBe(200)
  const sent = JSON.stringify(upstream.seen[0]?.body)
  expect(sent).toContain('"srvtoolu_1"')
  expect(sent).toContain('web_search_tool_result')
})
