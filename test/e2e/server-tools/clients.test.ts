/** The official clients run a loop. */
import { expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { OpenRouter } from '@openrouter/sdk'
import { openaiOf } from '../../file-setup.ts'
import { API_KEY } from '../../gateway.ts'
import { calls, says, startTools } from './setup.ts'

const { upstream, gateway } = await startTools({}, true)

const QUESTION = 'What is 6 * 7?'
const sum = { name: 'calculator', args: { expression: '6 * 7' } }
const script = () => upstream.inTurn('tiny', [calls([sum], 'Let me see.'), says('It is 42.')])
const ANSWER = 'Let me see.\n\nIt is 42.'

/** The clients' own types know only the tools of their vendor. */
const withTools = <Body extends object>(body: Body): Body =>
  Object.assign(body, { tools: [{ type: 'openrouter:calculator' }] })

test('openai: chat completions', async () => {
  const { chat } = openaiOf(gateway)
  const asked = { model: 'tiny', messages: [{ role: 'user' as const, content: QUESTION }] }
  script()
  const complete = await chat.completions.create(withTools(asked))
  expect(complete.choices[0]?.message.content).toBe(ANSWER)
  expect(complete.usage?.total_tokens).toBe(30)
  script()
  const final = await chat.completions.stream(withTools({ ...asked })).finalChatCompletion()
  expect(final.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: ANSWER } })
})

test('openai: responses', async () => {
  const { responses } = openaiOf(gateway)
  const asked = { model: 'tiny', input: QUESTION }
  script()
  const complete = await responses.create(withTools(asked))
  expect(complete.output_text).toBe('Let me see.It is 42.')
  script()
  const stream = responses.stream(withTools({ ...asked }))
  const final = await stream.finalResponse()
  expect(final.output.map(({ type }) => String(type))).toEqual([
    'message',
    'openrouter:calculator',
    'message',
  ])
})

test('@anthropic-ai/sdk: messages', async () => {
  const client = new Anthropic({ apiKey: API_KEY, baseURL: `${gateway.url}/api`, maxRetries: 0 })
  const asked = { model: 'tiny', max_tokens: 100, messages: [{ role: 'user' as const, content: QUESTION }] }
  script()
  const complete = await client.messages.create(withTools(asked))
  const types = ['text', 'server_tool_use', 'calculator_tool_result', 'text']
  expect(complete.content.map(({ type }) => String(type))).toEqual(types)
  script()
  const final = await client.messages.stream(withTools({ ...asked })).finalMessage()
  expect(final.content.map(({ type }) => String(type))).toEqual(types)
  expect(final.content[1]).toMatchObject({ input: { expression: '6 * 7' } })
  expect(final.stop_reason).toBe('end_turn')
})

test('@openrouter/sdk: chat and responses, with its own type of the tool', async () => {
  const client = new OpenRouter({
    apiKey: API_KEY,
    serverURL: `${gateway.url}/api/v1`,
    retryConfig: { strategy: 'none' },
  })
  const datetime = { type: 'openrouter:datetime' as const, parameters: { timezone: 'UTC' } }
  const steps = () => upstream.inTurn('tiny', [calls([{ name: 'datetime', args: {} }]), says('Now.')])
  const messages = [{ role: 'user' as const, content: 'When?' }]
  steps()
  const complete = await client.chat.send({
    chatRequest: { model: 'tiny', messages, tools: [datetime], stream: false },
  })
  expect(complete).toMatchObject({ choices: [{ message: { content: 'Now.' } }] })
  steps()
  const response = await client.responses.send({
    responsesRequest: { model: 'tiny', input: 'When?', tools: [datetime], stream: false },
  })
  expect(response).toMatchObject({
    output: [{ type: 'openrouter:datetime', status: 'completed', timezone: 'UTC' }, { type: 'message' }],
  })
  steps()
  const streamed = await client.responses.send({
    responsesRequest: {
      model: 'tiny',
      input: 'When?',
      tools: [datetime],
      stream: true,
      stopServerToolsWhen: [{ type: 'step_count_is', stepCount: 1 }],
    },
  })
  if (!(streamed instanceof ReadableStream)) throw new Error('the reply is not a stream')
  const events: string[] = []
  for await (const event of streamed) events.push(event.type)
  expect(events).not.toContain('UNKNOWN')
  expect(events.at(-1)).toBe('response.completed')
})
