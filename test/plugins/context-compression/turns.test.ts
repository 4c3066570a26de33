import { expect, test } from 'bun:test'
import { gatewayOfFile } from '../../file-setup.ts'
import { startUpstream } from '../../upstream.ts'
import { providersOf, REPLIES } from '../providers.ts'

/** What a provider gets of a conversation with calls and thoughts in its own dialect. */

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  { providers: providersOf(upstream.baseUrl, { context_length: 1_000 }) },
  upstream,
)

const LONG = 'lorem ipsum dolor '.repeat(60)
const SIGNATURE = 'EqQBCkYIBxgCKkDsignature'
const steps = Array.from({ length: 10 }, (_, i) => i)

async function sentTo(
  model: string,
  path: string,
  body: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  for (const name of [model, 'undefined']) upstream.on(name, REPLIES[model]!(['Hi'], false))
  const response = await gateway.call(path, body)
  expect(response.status).toBe(200)
  await response.text()
  return upstream.seen.at(-1)?.body ?? {}
}

const numbersIn = (value: unknown, pattern: RegExp): string[] =>
  [...JSON.stringify(value).matchAll(pattern)].map(([, number]) => number ?? '')

test('Messages: thoughts with their signatures, calls with their results', async () => {
  const messages = [
    { role: 'user', content: 'go' },
    ...steps.flatMap((i) => [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: `thought ${i}`, signature: `${SIGNATURE}${i}` },
          { type: 'tool_use', id: `toolu_${i}`, name: 'look', input: { at: i } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${i}`, content: LONG }] },
    ]),
  ]
  const tools = [{ name: 'look', input_schema: { type: 'object' } }]
  const thinking = { type: 'enabled', budget_tokens: 1_024 }
  const body = { model: 'messages', max_tokens: 2_000, messages, tools, thinking }
  const sent = await sentTo('messages', '/messages', body)
  const called = numbersIn(sent['messages'], /"id":"toolu_(\d)"/g)
  expect(called.length).toBeGreaterThan(0)
  expect(called.length).toBeLessThan(10)
  expect(called.at(-1)).toBe('9')
  expect(numbersIn(sent['messages'], /"tool_use_id":"toolu_(\d)"/g)).toEqual(called)
  expect(numbersIn(sent['messages'], /"thinking":"thought (\d)"/g)).toEqual(called)
  expect(numbersIn(sent['messages'], /signature(\d)"/g)).toEqual(called)
  expect(sent).toMatchObject({ thinking, tools })
})

test('chat: calls with their results', async () => {
  const messages = [
    { role: 'user', content: 'go' },
    ...steps.flatMap((i) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: `call_${i}`, type: 'function', function: { name: 'look', arguments: `{"at":${i}}` } },
        ],
      },
      { role: 'tool', tool_call_id: `call_${i}`, content: LONG },
    ]),
  ]
  const sent = await sentTo('chat', '/chat/completions', { model: 'chat', messages })
  const called = numbersIn(sent['messages'], /"id":"call_(\d)"/g)
  expect(called.at(-1)).toBe('9')
  expect(called.length).toBeLessThan(10)
  expect(numbersIn(sent['messages'], /"tool_call_id":"call_(\d)"/g)).toEqual(called)
})

test('Responses: items of reasoning, calls and outputs', async () => {
  const input = [
    { role: 'user', content: 'go' },
    ...steps.flatMap((i) => [
      { type: 'reasoning', id: `rs_${i}`, summary: [], encrypted_content: `sealed ${i}` },
      { type: 'function_call', call_id: `call_${i}`, name: 'look', arguments: `{"at":${i}}` },
      { type: 'function_call_output', call_id: `call_${i}`, output: LONG },
    ]),
  ]
  const sent = await sentTo('responses', '/responses', { model: 'responses', input })
  const called = numbersIn(sent['input'], /"function_call","call_id":"call_(\d)"/g)
  expect(called.at(-1)).toBe('9')
  expect(called.length).toBeLessThan(10)
  expect(numbersIn(sent['input'], /"function_call_output","call_id":"call_(\d)"/g)).toEqual(called)
  expect(numbersIn(sent['input'], /"sealed (\d)"/g)).toEqual(called)
})

test('Gemini: calls with their signatures and responses', async () => {
  const contents = [
    { role: 'user', parts: [{ text: 'go' }] },
    ...steps.flatMap((i) => [
      {
        role: 'model',
        parts: [{ functionCall: { name: 'look', args: { at: i } }, thoughtSignature: `c2ln${i}` }],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'look', response: { output: `${i} ${LONG}` } } }] },
    ]),
  ]
  const sent = await sentTo('gemini', '/models/gemini:generateContent', { contents })
  const called = numbersIn(sent['contents'], /"args":\{"at":(\d)\}/g)
  expect(called.at(-1)).toBe('9')
  expect(called.length).toBeLessThan(10)
  expect(numbersIn(sent['contents'], /"output":"(\d) lorem/g)).toEqual(called)
  expect(numbersIn(sent['contents'], /"c2ln(\d)"/g)).toEqual(called)
})
