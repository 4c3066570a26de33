/** What a provider's own tools did in a step of the loop: the caller of its dialect sees it, and it is sent back with the next step, in its order. */
import { beforeEach, expect, test } from 'bun:test'
import { asList, fieldsOf, type JsonObject, objectsIn } from '../../../src/core/json.ts'
import { joinedParts } from '../../../src/dialects/gemini/chunks.ts'
import { createCollector } from '../../../src/dialects/messages/write-native.ts'
import { gatewayOfFile } from '../../file-setup.ts'
import { CALLERS, jsonIn } from '../../plugins/callers.ts'
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

/** What the caller of the provider's dialect sees of the turn: blocks, items or parts, and the text of the next step. */
const SHOWN = {
  messages: [
    ...blocks.slice(0, 5),
    { type: 'server_tool_use', name: 'calculator' },
    { type: 'calculator_tool_result' },
    { type: 'text', text: ANSWER },
  ],
  responses: [
    { type: 'reasoning' },
    items[1],
    { type: 'reasoning' },
    { type: 'message', content: [{ text: 'High at six.' }] },
    { type: 'openrouter:calculator' },
    { type: 'message', content: [{ text: ANSWER }] },
  ],
  gemini: [...parts.slice(0, 2), { text: `High at six.\n\n${ANSWER}` }],
} as const

/** The content of a complete reply, or what the events of its stream make. */
function shownIn(provider: keyof typeof SHOWN, json: readonly JsonObject[]): unknown[] {
  if (provider === 'responses')
    return objectsIn(json).flatMap(({ output, response }) => asList(output ?? fieldsOf(response)['output']))
  if (provider === 'gemini') return joinedParts(json.flatMap(partsIn))
  const [complete] = json
  if (Array.isArray(complete?.['content'])) return complete['content']
  const collector = createCollector()
  for (const { type, index, content_block, delta } of json) {
    if (type === 'content_block_start') collector.start(Number(index), { ...fieldsOf(content_block) })
    if (type === 'content_block_delta') collector.delta(Number(index), { ...fieldsOf(delta) })
    if (type === 'content_block_stop') collector.stop(Number(index))
  }
  return collector.content
}

const partsIn = ({ candidates }: JsonObject) =>
  objectsIn(candidates).flatMap(({ content }) => objectsIn(fieldsOf(content)['parts']))

test.each(rows.filter(({ caller, provider }) => caller.dialect === provider))(
  'a caller of $as sees them in their order, streamed: $stream',
  async ({ caller, row, stream }) => {
    const provider = dialectOf(caller.dialect)
    upstream.inTurn(`up-${provider}`, [...row.answers])
    upstream.inTurn('undefined', [...row.answers])
    const { path, body } = caller.ask(provider, 'When is high tide, times seven?', stream)
    const response = await gateway.call(path, { ...body, tools: [{ type: 'openrouter:calculator' }] })
    const json = objectsIn(jsonIn(await response.text()))
    const shown = shownIn(provider, json.slice(provider === 'responses' ? -1 : 0))
    expect(shown).toMatchObject([...SHOWN[provider]])
    expect(shown).toHaveLength(SHOWN[provider].length)
  },
)

const dialectOf = (name: string): keyof typeof SHOWN =>
  name === 'messages' || name === 'responses' ? name : 'gemini'

test('a stream of Responses has the events of a search', async () => {
  upstream.inTurn('up-responses', [...ROWS.responses.answers])
  const response = await gateway.call('/responses', {
    model: 'responses',
    input: 'When?',
    stream: true,
    tools: [{ type: 'openrouter:calculator' }],
  })
  const types = objectsIn(jsonIn(await response.text())).map(({ type }) => String(type))
  const steps = ['in_progress', 'searching', 'completed'].map((step) => `response.web_search_call.${step}`)
  expect(types.filter((type) => type.includes('web_search_call'))).toEqual(steps)
})

test.each([false, true])('a Responses caller sends its items back, streamed: %p', async (stream) => {
  upstream.inTurn('up-responses', [...ROWS.responses.answers, ROWS.responses.answers[1]])
  const asked = { model: 'responses', stream, tools: [{ type: 'openrouter:calculator' }] }
  const first = await gateway.call('/responses', { ...asked, input: 'When?' })
  const output = shownIn('responses', objectsIn(jsonIn(await first.text())).slice(-1))
  const input = [{ role: 'user', content: 'When?' }, ...output, { role: 'user', content: 'Sure?' }]
  const next = await gateway.call('/responses', { ...asked, input })
  expect(next.status, await next.text()).toBe(200)
  const sent = asList(upstream.seen[2]?.body['input'])
  // The thoughts of a turn come first.
  expect(sent.slice(1, 4)).toMatchObject([items[0], items[2], items[1]])
})

test.each([false, true])('a Gemini caller sends its parts back, streamed: %p', async (stream) => {
  for (const name of ['up-gemini', 'undefined'])
    upstream.inTurn(name, [...ROWS.gemini.answers, ROWS.gemini.answers[1]])
  const path = `/models/gemini:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
  const ask = (contents: readonly object[]) =>
    gateway.call(path, { contents, tools: [{ type: 'openrouter:calculator' }] })
  const question = { role: 'user', parts: [{ text: 'When?' }] }
  const shown = shownIn('gemini', objectsIn(jsonIn(await (await ask([question])).text())))
  const next = await ask([question, { role: 'model', parts: shown }, question])
  expect(next.status, await next.text()).toBe(200)
  const [, turn] = objectsIn(upstream.seen[2]?.body['contents'])
  expect(asList(turn?.['parts']).slice(0, 2)).toEqual(parts.slice(0, 2))
})

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

/** `tides` is in the query of the provider's own search. */
test.each(
  rows.filter(({ caller, provider }) => provider !== 'gemini' && [provider, 'chat'].includes(caller.dialect)),
)('content filters read them: a caller of $as, a provider of $provider, streamed: $stream', async (each) => {
  const { caller, provider, row, stream } = each
  const { key } = await gateway.makeGuardedKey({
    content_filters: [{ pattern: 'tides', action: 'redact', apply_to: 'output' }],
  })
  upstream.inTurn(`up-${provider}`, [...row.answers])
  const { path, body } = caller.ask(provider, 'When is it high, times seven?', stream)
  const response = await gateway.call(
    path,
    { ...body, tools: [{ type: 'openrouter:calculator' }] },
    { authorization: `Bearer ${key}` },
  )
  const raw = await response.text()
  expect(response.status, raw).toBe(200)
  expect(raw).toContain(ANSWER)
  expect(raw).not.toContain('tides')
  expect(raw.includes('REDACTED')).toBe(caller.dialect !== 'chat')
  const sent = JSON.stringify(upstream.seen[1]?.body)
  expect(sent).not.toContain('tides')
  expect(sent).toContain('REDACTED')
})
