import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { buildChat } from '../../../src/dialects/chat/build.ts'
import { parseMessages } from '../../../src/dialects/messages/parse.ts'
import { seal } from '../../../src/dialects/opaque.ts'
import { assistant, call, fn, result, text, thinking, USER } from './turns.ts'
import { attemptAt, SOME_OF_OPENAI, table } from './vendor-attempt.ts'

describe('Perplexity', () => {
  const schema = { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } }
  const research = {
    supportedParameters: ['reasoning'],
    reasoning: { efforts: ['minimal', 'low', 'medium', 'high'], takesBudget: false, mayBeOff: false },
  }
  const own = {
    search_mode: 'academic',
    search_domain_filter: ['-x.example'],
    web_search_options: { search_context_size: 'high' },
    return_images: true,
    return_related_questions: true,
  }
  table('PERPLEXITY_API_KEY', [
    { name: 'its own fields', asked: own, sent: own },
    {
      name: 'streams request usage',
      asked: { stream: true, top_k: 3, temperature: 0.2 },
      sent: { stream: true, stream_options: { include_usage: true }, top_k: 3, temperature: 0.2 },
    },
    {
      name: 'fields that it ignores are dropped by name',
      asked: { ...SOME_OF_OPENAI, stop: ['x'], seed: 7, n: 2, metadata: { a: 'b' } },
      dropped: [...Object.keys(SOME_OF_OPENAI), 'stop', 'seed', 'n', 'metadata'],
    },
    { name: 'one choice is what it gives', asked: { n: 1 } },
    {
      name: 'no tools',
      asked: { tools: [fn('tide')], tool_choice: 'required', parallel_tool_calls: false },
      dropped: ['tools', 'tool_choice'],
    },
    { name: 'a schema', asked: { response_format: schema }, sent: { response_format: schema } },
    {
      name: 'JSON without a schema',
      asked: { response_format: { type: 'json_object' } },
      dropped: ['response_format'],
    },
    { name: 'text', asked: { response_format: { type: 'text' } } },
    {
      name: 'an effort',
      asked: { reasoning: { effort: 'max' } },
      facts: research,
      sent: { reasoning_effort: 'high' },
    },
    {
      name: 'reasoning of the research model cannot be turned off',
      asked: { reasoning: { effort: 'none' } },
      facts: research,
      dropped: ['reasoning.effort'],
    },
    {
      name: 'roles alternate',
      asked: {
        messages: [
          { role: 'developer', content: 'D' },
          USER,
          { role: 'user', content: [text('Look'), { type: 'image_url', image_url: { url: 'https://x/a' } }] },
          assistant({ content: 'A' }),
          assistant({ content: 'B' }),
          { role: 'system', content: 'S' },
          USER,
        ],
      },
      sent: {
        messages: [
          { role: 'system', content: 'D' },
          { role: 'system', content: 'S' },
          {
            role: 'user',
            content: [text('Hi'), text('Look'), { type: 'image_url', image_url: { url: 'https://x/a' } }],
          },
          assistant({ content: 'A\n\nB' }),
          USER,
        ],
      },
      dropped: ['messages.role'],
    },
    {
      name: 'calls, results and thoughts of earlier turns',
      asked: {
        messages: [
          USER,
          assistant({ content: null, tool_calls: [call('a')] }),
          result('a'),
          assistant({ content: 'At 14:20.', reasoning: 'So.', tool_calls: [] }),
          USER,
        ],
      },
      sent: {
        messages: [{ role: 'user', content: 'Hi\n\n14:20' }, assistant({ content: 'At 14:20.' }), USER],
      },
      dropped: ['messages.tool_calls', 'messages.role', 'messages.reasoning'],
    },
  ])
})

describe('OpenAI', () => {
  const metadata = { run: '7' }
  table('OPENAI_API_KEY', [
    { name: 'metadata of a reply that is not stored', asked: { metadata }, dropped: ['metadata'] },
    { name: 'metadata of a stored reply', asked: { metadata, store: true }, sent: { metadata, store: true } },
    { name: 'no metadata', asked: { metadata: {} } },
  ])
})

describe('DeepSeek, and vendors that want thoughts back as `reasoning_content`', () => {
  const calls = [call('call_1')]
  const asked = (...turns: JsonObject[]) => ({ messages: [USER, ...turns, result('call_1')] })
  table('DEEPSEEK_API_KEY', [
    {
      name: 'a replay in the format of this API',
      asked: asked(assistant({ content: null, reasoning: 'Look.', tool_calls: calls })),
      sent: asked(assistant({ content: null, reasoning_content: 'Look.', tool_calls: calls })),
    },
    {
      name: 'its reasoning details',
      asked: asked(
        assistant({
          content: 'A',
          reasoning_details: [{ type: 'reasoning.text', text: 'Look.', format: 'unknown', index: 0 }],
          tool_calls: calls,
        }),
      ),
      sent: asked(assistant({ content: 'A', reasoning_content: 'Look.', tool_calls: calls })),
    },
    {
      name: 'a thinking part that the caller wrote',
      asked: asked(assistant({ content: 'A', reasoning: 'x', reasoning_content: 'Own.', tool_calls: calls })),
      sent: asked(assistant({ content: 'A', reasoning_content: 'Own.', tool_calls: calls })),
    },
    {
      name: 'a turn of another model: the field is required nevertheless',
      asked: asked(
        assistant({ content: 'Hi' }),
        USER,
        assistant({
          content: null,
          reasoning_details: [
            { type: 'reasoning.text', text: 'T', signature: 's', format: 'anthropic-claude-v1' },
          ],
          tool_calls: calls,
        }),
      ),
      sent: asked(
        assistant({ content: 'Hi' }),
        USER,
        assistant({ content: null, reasoning_content: '', tool_calls: calls }),
      ),
      facts: { supportedParameters: ['tools', 'reasoning'] },
      dropped: ['messages.reasoning_details'],
    },
    {
      name: 'nothing is known of the model: only the fields present',
      asked: asked(assistant({ content: null, tool_calls: calls })),
      sent: asked(assistant({ content: null, tool_calls: calls })),
    },
    {
      name: 'a model that does not reason gets the effort none',
      asked: asked(assistant({ content: null, reasoning: 'Look.', tool_calls: calls })),
      facts: { supportedParameters: ['tools'] },
      sent: asked(assistant({ content: null, tool_calls: calls })),
      dropped: ['messages.reasoning'],
    },
  ])
})

describe('a conversation in another dialect', () => {
  const picture = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB' }
  const body = {
    model: 'm',
    max_tokens: 99,
    messages: [
      USER,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'First.', signature: seal({}) },
          { type: 'tool_use', id: 'abcdefghi', name: 'tide', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'abcdefghi', content: [{ type: 'image', source: picture }] },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Second.', signature: seal({}) },
          { type: 'text', text: 'High.' },
        ],
      },
      USER,
    ],
  }
  const turnsAt = (key: string): unknown[] => {
    const { messages } = buildChat(parseMessages(body, new Headers()), attemptAt(key)).body
    return Array.isArray(messages) ? messages.filter(({ role }) => role === 'assistant') : []
  }

  test('thoughts stay with their turns, even if an image of a tool adds a message', () => {
    expect(turnsAt('MISTRAL_API_KEY')).toEqual([
      assistant({ content: [thinking('First.')], tool_calls: [call('abcdefghi')] }),
      // The message that Mistral requires between a tool result and the user.
      assistant({ content: 'OK.' }),
      assistant({ content: [thinking('Second.'), text('High.')] }),
    ])
    expect(turnsAt('MOONSHOT_API_KEY')).toEqual([
      assistant({ content: null, reasoning_content: 'First.', tool_calls: [call('abcdefghi')] }),
      assistant({ content: 'High.', reasoning_content: 'Second.' }),
    ])
  })
})
