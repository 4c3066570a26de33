/** What clients send back of the gateway's tools is the model's own conversation again. */
import { expect, test } from 'bun:test'
import { isObject, objectsIn } from '../../../src/core/json.ts'
import { ask, calls, says, startTools } from './setup.ts'

const { upstream, gateway, sent } = await startTools()

const sum = { name: 'calculator', args: { expression: '6 * 7' } }
const script = () => upstream.inTurn('tiny', [calls([sum], 'Let me see.'), says('It is 42.')])
const RESULT = /42$/

async function complete(path: string, body: Record<string, unknown>) {
  const response = await gateway.call(path, body)
  expect(response.status).toBe(200)
  return response.json()
}

/** Roles, texts and calls of what the provider was sent last. */
const conversation = () =>
  sent(upstream.seen.length - 1).map(({ role, content, tool_calls }) => [
    role,
    content,
    ...objectsIn(tool_calls).map((call) => isObject(call['function']) && call['function']['name']),
  ])

const expected = [
  ['user', 'What is 6 * 7?'],
  ['assistant', 'Let me see.', 'calculator'],
  ['tool', expect.stringMatching(RESULT)],
  ['assistant', 'It is 42.'],
  ['user', 'Again?'],
]

test('items of Responses', async () => {
  script()
  const asked = { model: 'tiny', tools: [{ type: 'openrouter:calculator' }] }
  const first = { role: 'user', content: 'What is 6 * 7?' }
  const { output } = await complete('/responses', { ...asked, input: [first] })
  upstream.inTurn('tiny', [says('Still.')])
  await complete('/responses', { ...asked, input: [first, ...output, { role: 'user', content: 'Again?' }] })
  expect(conversation()).toEqual(expected)
})

test('items of stored responses', async () => {
  script()
  const asked = { model: 'tiny', tools: [{ type: 'openrouter:calculator' }] }
  const { id } = await complete('/responses', { ...asked, input: 'What is 6 * 7?', store: true })
  upstream.inTurn('tiny', [says('Still.')])
  await complete('/responses', { ...asked, input: 'Again?', previous_response_id: id })
  expect(conversation()).toEqual(expected)
})

test('blocks of Messages', async () => {
  script()
  const asked = { model: 'tiny', max_tokens: 99, tools: [{ type: 'openrouter:calculator' }] }
  const first = { role: 'user', content: 'What is 6 * 7?' }
  const { content } = await complete('/messages', { ...asked, messages: [first] })
  upstream.inTurn('tiny', [says('Still.')])
  const messages = [first, { role: 'assistant', content }, { role: 'user', content: 'Again?' }]
  await complete('/messages', { ...asked, messages })
  expect(conversation()).toEqual(expected)
})

test.each([false, true])(
  'a turn of chat that calls both kinds goes on with both results, streamed: %p',
  async (stream) => {
    const mine = { type: 'function', function: { name: 'mine' } }
    const tools = [{ type: 'openrouter:calculator' }, mine]
    upstream.inTurn('tiny', [
      calls([
        { ...sum, id: 'a' },
        { name: 'mine', args: {}, id: 'b' },
      ]),
    ])
    const body = ask({ tools, stream })
    let details: unknown
    if (stream) {
      const text = await (await gateway.call('/chat/completions', body)).text()
      details = JSON.parse(`[${/"reasoning_details":\[(.*?\})\]/.exec(text)?.[1]}]`)
    } else details = (await complete('/chat/completions', body)).choices[0].message.reasoning_details
    expect(details).toMatchObject([{ type: 'reasoning.server_tool_call', tool_name: 'calculator' }])
    upstream.inTurn('tiny', [says('Done.')])
    const turn = {
      role: 'assistant',
      content: null,
      reasoning_details: details,
      tool_calls: [{ id: 'b', type: 'function', function: { name: 'mine', arguments: '{}' } }],
    }
    const messages = [...body.messages, turn, { role: 'tool', tool_call_id: 'b', content: 'yours' }]
    await complete('/chat/completions', ask({ tools, messages }))
    expect(conversation()).toEqual([
      ['user', 'What is 6 * 7?'],
      ['assistant', null, 'calculator', 'mine'],
      ['tool', expect.stringMatching(RESULT)],
      ['tool', 'yours'],
    ])
  },
)
