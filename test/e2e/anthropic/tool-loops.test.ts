import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type Anthropic from '@anthropic-ai/sdk'
import { FIXTURES } from '../../recordings.ts'
import { chunk, DONE, usageChunk } from '../../upstream.ts'
import { events, fixturesOf } from '../replies.ts'
import { ask, HI, MESSAGE, startForAnthropic, TOOLS } from './setup.ts'

/** Two turns with tools and thoughts by Anthropic’s own client, in front of each dialect. */

const { upstream, gateway, client } = await startForAnthropic()
const messages = fixturesOf('messages')
const responses = fixturesOf('responses')

const THINKING = { type: 'enabled', budget_tokens: 2000 } as const

/** Two turns: the first one calls tools, the second one answers with their results and everything before. */
async function toolLoop(model: string, isStream: boolean) {
  const first = await turn(model, HI, isStream)
  const results = first.content.flatMap((block): Anthropic.ToolResultBlockParam[] =>
    block.type === 'tool_use'
      ? [{ type: 'tool_result', tool_use_id: block.id, content: `done ${block.name}` }]
      : [],
  )
  const history: Anthropic.MessageParam[] = [
    ...HI,
    { role: 'assistant', content: first.content },
    { role: 'user', content: results },
  ]
  return { first, second: await turn(model, history, isStream) }
}

const turn = (
  model: string,
  history: Anthropic.MessageParam[],
  isStream: boolean,
): Promise<Anthropic.Message> => {
  const params = ask({ model, messages: history, tools: TOOLS, thinking: THINKING })
  return isStream ? client.messages.stream(params).finalMessage() : client.messages.create(params)
}

describe.each([true, false])(
  'a conversation with tools and thoughts continues, streamed: %p,',
  (isStream) => {
    test('at a provider of Anthropic’s API', async () => {
      upstream.answers = isStream
        ? [messages('thinking-tools.sse'), messages('text.sse')]
        : [messages('thinking-tools.json'), () => Response.json(MESSAGE)]
      const { first } = await toolLoop('lamps', isStream)
      expect(first.stop_reason).toBe('tool_use')
      const [thought] = first.content
      if (thought?.type !== 'thinking') throw new Error('no thought')
      expect(upstream.seen[1]?.body['thinking']).toEqual(THINKING)
      const { content } = replayed()
      expect(content).toEqual(first.content)
      expect(content[0]).toEqual({
        type: 'thinking',
        thinking: isStream ? 'Two lamps, so two calls.' : 'One call.',
        signature: isStream ? 'c2lnLWxhbXBz' : 'c2ln',
      })
    })

    test('at a provider of Gemini’s API', async () => {
      const whole = {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [
                { text: 'I ask the tool.', thought: true },
                { functionCall: { name: 'tide', args: { port: 'Brest' } }, thoughtSignature: 'c2lnLWNhbGw=' },
                { functionCall: { name: 'now', args: {} } },
              ],
            },
            finishReason: 'STOP',
            index: 0,
          },
        ],
        usageMetadata: {
          promptTokenCount: 9,
          candidatesTokenCount: 5,
          thoughtsTokenCount: 7,
          totalTokenCount: 21,
        },
      }
      const end = {
        candidates: [
          { content: { role: 'model', parts: [{ text: 'High.' }] }, finishReason: 'STOP', index: 0 },
        ],
      }
      upstream.answers = isStream
        ? [events(whole), events(end)]
        : [() => Response.json(whole), () => Response.json(end)]
      const { first, second } = await toolLoop('tides', isStream)
      expect(first.content.map(({ type }) => type)).toEqual([
        'thinking',
        'redacted_thinking',
        'tool_use',
        'tool_use',
      ])
      expect(first.usage).toMatchObject({ input_tokens: 9, output_tokens: 12 })
      expect(second.content).toMatchObject([{ type: 'text', text: 'High.' }])
      expect(upstream.seen[1]?.body['contents']).toEqual([
        { role: 'user', parts: [{ text: 'Hi' }] },
        {
          role: 'model',
          parts: [
            { text: 'I ask the tool.', thought: true },
            { functionCall: { name: 'tide', args: { port: 'Brest' } }, thoughtSignature: 'c2lnLWNhbGw=' },
            { functionCall: { name: 'now', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: ['tide', 'now'].map((name) => ({
            functionResponse: { name, response: { output: `done ${name}` } },
          })),
        },
      ])
    })

    test('at a provider of the Responses API', async () => {
      const file = `thinking-tools.${isStream ? 'sse' : 'json'}`
      upstream.answers = [responses(file), responses(isStream ? 'text.sse' : 'searches.json')]
      const { first } = await toolLoop('tide-1', isStream)
      expect(first.stop_reason).toBe('tool_use')
      const asked = JSON.stringify(upstream.seen[1]?.body['input'])
      const sent = await Bun.file(join(FIXTURES, 'responses', file)).text()
      const [, encrypted] = /"encrypted_content": ?"([^"]+)"/.exec(sent) ?? []
      expect(encrypted).toBeString()
      expect(asked).toContain(`"encrypted_content":"${encrypted}"`)
      expect(asked).not.toContain('sluice.v1')
    })

    test('at a provider of chat completions with reasoning details', async () => {
      const details = [
        { type: 'reasoning.summary', summary: 'Short.', format: 'openai-responses-v1', id: 'rs_1', index: 0 },
        {
          type: 'reasoning.encrypted',
          data: 'ZW5jcnlwdGVk',
          format: 'openai-responses-v1',
          id: 'rs_1',
          index: 1,
        },
        { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'anthropic-claude-v1', index: 2 },
      ]
      const calls = [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{}' } },
      ]
      const message = { content: null, reasoning: 'Short.Hm.', reasoning_details: details, tool_calls: calls }
      const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'tool_calls' }]
      upstream.answers = isStream
        ? [
            events(chunk(message, 'tool_calls'), usageChunk(), DONE),
            events(chunk({ content: 'High.' }, 'stop'), DONE),
          ]
        : [
            () => Response.json({ id: 'c', choices, usage: { prompt_tokens: 9, completion_tokens: 3 } }),
            () =>
              Response.json({
                choices: [{ index: 0, message: { content: 'High.' }, finish_reason: 'stop' }],
              }),
          ]
      const { first } = await toolLoop('openai/gpt-oss-120b', isStream)
      expect(first.content.map(({ type }) => type)).toEqual([
        'thinking',
        'redacted_thinking',
        'thinking',
        'tool_use',
      ])
      expect(upstream.seen[1]?.body['messages']).toMatchObject([
        { role: 'user', content: 'Hi' },
        { role: 'assistant', reasoning: 'Short.Hm.', reasoning_details: details.map(withoutIndexOfClaude) },
        { role: 'tool', tool_call_id: 'call_1', content: 'done tide' },
      ])
    })

    test('at another provider without the thoughts of the first one', async () => {
      const call = { functionCall: { name: 'tide', args: {} }, thoughtSignature: 'c2ln' }
      const thought = { text: 'I ask.', thought: true }
      const parts = { candidates: [{ content: { parts: [thought, call] }, finishReason: 'STOP', index: 0 }] }
      upstream.answers = [isStream ? events(parts) : () => Response.json(parts)]
      const first = await turn('tides', HI, isStream)
      upstream.answers = [() => Response.json(MESSAGE)]
      const [id = ''] = first.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
      const response = await gateway.call(
        '/messages',
        {
          ...ask({ thinking: THINKING, tools: TOOLS }),
          messages: [
            ...HI,
            { role: 'assistant', content: first.content },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'high' }] },
          ],
        },
        { 'x-service-metadata': 'enabled' },
      )
      expect(replayed().content).toEqual([{ type: 'tool_use', id, name: 'tide', input: {} }])
      expect(upstream.seen[1]?.body['thinking']).toBeUndefined()
      const { service_metadata } = await response.json()
      expect(service_metadata.params.dropped_parameters).toEqual(['messages.content.thinking', 'thinking'])
    })
  },
)

/** Claude's own thoughts are numbered again by their place. */
const withoutIndexOfClaude = ({ index, ...detail }: Record<string, unknown>) =>
  detail['format'] === 'anthropic-claude-v1' ? detail : { ...detail, index }

/** The assistant's turn as it was sent to the provider. */
function replayed(): { content: unknown[] } {
  const sent = upstream.seen[1]?.body['messages']
  if (!Array.isArray(sent)) throw new Error('no messages were sent')
  return sent[1]
}
