import { describe, expect, test } from 'bun:test'
import type { Message } from '../../../src/core/request.ts'
import { buildChat } from '../../../src/dialects/chat/build.ts'
import { REQUEST } from '../request.ts'
import { assistant, call, fn, result, text, thinking, USER } from './turns.ts'
import { attemptAt, SOME_OF_OPENAI, table } from './vendor-attempt.ts'

const withParameters = {
  type: 'function',
  function: { name: 'tide', parameters: { type: 'object', properties: {} } },
}

/** Fields that Mistral has, and one that the gateway does not know. */
const PASSED = {
  safe_prompt: true,
  guardrails: [{ a: 1 }],
  prompt_cache_key: 'k',
  metadata: { a: 'b' },
  prediction: { type: 'content', content: 'x' },
  of_tomorrow: 1,
}

describe('Mistral', () => {
  const reasoning = (efforts: string[] | null) => ({
    supportedParameters: ['reasoning'],
    reasoning: { efforts, takesBudget: false, mayBeOff: efforts !== null },
  })
  table('MISTRAL_API_KEY', [
    {
      name: 'its field names',
      asked: { seed: 7, max_completion_tokens: 9, stream: true, stream_options: { include_usage: true } },
      sent: { random_seed: 7, max_tokens: 9, stream: true },
    },
    { name: 'a temperature within its range', asked: { temperature: 1.5 }, sent: { temperature: 1.5 } },
    {
      name: 'a temperature beyond its range',
      asked: { temperature: 1.9 },
      sent: { temperature: 1.5 },
      dropped: ['temperature'],
    },
    { name: 'its own field name wins', asked: { seed: 7, random_seed: 8 }, sent: { random_seed: 8 } },
    {
      name: 'fields that it rejects are dropped by name',
      asked: { ...SOME_OF_OPENAI, top_k: 3, web_search_options: { search_context_size: 'low' } },
      dropped: [...Object.keys(SOME_OF_OPENAI), 'top_k', 'web_search_options'],
    },
    { name: 'fields without effect are left out', asked: { logprobs: false, user: '', logit_bias: {} } },
    {
      name: 'known and unknown fields are sent',
      asked: PASSED,
      sent: PASSED,
    },
    {
      name: 'any tool',
      asked: { tools: [fn('tide')], tool_choice: 'required' },
      sent: { tools: [withParameters], tool_choice: 'any' },
    },
    {
      name: 'one tool',
      asked: { tools: [fn('tide')], tool_choice: fn('tide'), parallel_tool_calls: false },
      sent: { tools: [withParameters], tool_choice: fn('tide'), parallel_tool_calls: false },
    },
    {
      name: 'ids in its form stay; others are replaced, in call and result alike',
      asked: {
        messages: [
          USER,
          assistant({ content: '', tool_calls: [call('uNfcQGgtW'), call('call_0123456789')] }),
          result('uNfcQGgtW'),
          result('call_0123456789'),
        ],
      },
      sent: {
        messages: [
          USER,
          assistant({ content: '', tool_calls: [call('uNfcQGgtW'), call('vUiPKJIsq')] }),
          result('uNfcQGgtW'),
          result('vUiPKJIsq'),
        ],
      },
    },
    {
      name: 'fields of messages that it rejects, and cache_control markers',
      asked: {
        messages: [
          { ...USER, name: 'ann' },
          assistant({ content: 'A', refusal: null, annotations: [], audio: { id: 'x' } }),
          { role: 'user', content: [{ ...text('B'), cache_control: { type: 'ephemeral' } }] },
        ],
        tools: [{ ...fn('tide'), cache_control: { type: 'ephemeral' } }],
        cache_control: { type: 'ephemeral' },
      },
      sent: {
        messages: [USER, assistant({ content: 'A' }), { role: 'user', content: [text('B')] }],
        tools: [withParameters],
      },
      dropped: ['messages.name', 'messages.audio', 'cache_control'],
    },
    {
      name: 'thoughts are sent as parts',
      asked: {
        messages: [
          USER,
          assistant({
            content: '144',
            reasoning: 'Twelve dozens.',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Twelve ', format: 'unknown', index: 0 },
              { type: 'reasoning.text', text: 'dozens.', format: 'unknown', index: 0 },
            ],
          }),
          USER,
          assistant({ content: null, reasoning_content: 'Call.', tool_calls: [call('abcdefghi')] }),
          result('abcdefghi'),
        ],
      },
      sent: {
        messages: [
          USER,
          assistant({ content: [thinking('Twelve dozens.'), text('144')] }),
          USER,
          assistant({ content: [thinking('Call.')], tool_calls: [call('abcdefghi')] }),
          result('abcdefghi'),
        ],
      },
    },
    {
      name: 'thinking parts stay; signed thoughts of other providers are dropped',
      asked: {
        messages: [
          assistant({ content: [thinking('T'), text('A')], reasoning: 'T' }),
          USER,
          assistant({
            content: 'B',
            reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', format: 'openai-responses-v1' }],
          }),
          USER,
        ],
      },
      sent: {
        messages: [
          assistant({ content: [thinking('T'), text('A')] }),
          USER,
          assistant({ content: 'B' }),
          USER,
        ],
      },
      dropped: ['messages.reasoning_details'],
    },
    {
      name: 'a model that does not reason gets no thoughts',
      asked: { messages: [assistant({ content: 'A', reasoning: 'T' }), USER] },
      facts: { supportedParameters: [] },
      sent: { messages: [assistant({ content: 'A' }), USER] },
      dropped: ['messages.reasoning'],
    },
    {
      name: 'files and audio',
      asked: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'file', file: { file_data: 'https://x.example/a.pdf', filename: 'a.pdf' } },
              { type: 'file', file: { file_id: 'f1' } },
              { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
            ],
          },
        ],
      },
      sent: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'document_url', document_url: 'https://x.example/a.pdf', document_name: 'a.pdf' },
              { type: 'file', file_id: 'f1' },
              { type: 'input_audio', input_audio: 'UklGRg==' },
            ],
          },
        ],
      },
    },
    {
      name: 'a user message right after a tool result',
      asked: {
        messages: [
          USER,
          assistant({ content: '', tool_calls: [call('abcdefghi')] }),
          result('abcdefghi'),
          USER,
        ],
      },
      sent: {
        messages: [
          USER,
          assistant({ content: '', tool_calls: [call('abcdefghi')] }),
          result('abcdefghi'),
          assistant({ content: 'OK.' }),
          USER,
        ],
      },
      dropped: ['messages.role'],
    },
    {
      name: 'a prefilled answer is a prefix',
      asked: { messages: [USER, assistant({ content: 'Sure' })] },
      sent: { messages: [USER, assistant({ content: 'Sure', prefix: true })] },
    },
    ...(['minimal', 'low', 'medium', 'high', 'max'] as const).map((effort) => ({
      name: `effort ${effort}`,
      asked: { reasoning: { effort } },
      sent: { reasoning_effort: 'high' },
    })),
    { name: 'reasoning on', asked: { reasoning: { enabled: true } }, sent: { reasoning_effort: 'high' } },
    { name: 'reasoning off', asked: { reasoning: { enabled: false } }, sent: { reasoning_effort: 'none' } },
    {
      name: 'an effort that the model has',
      asked: { reasoning_effort: 'medium' },
      facts: reasoning(['none', 'low', 'medium', 'high']),
      sent: { reasoning_effort: 'medium' },
    },
    {
      name: 'a model that always reasons gets its prompt mode',
      asked: { reasoning: { effort: 'high', max_tokens: 9 } },
      facts: reasoning(null),
      sent: { prompt_mode: 'reasoning' },
      dropped: ['reasoning.effort', 'reasoning.max_tokens'],
    },
    {
      name: 'reasoning that cannot be turned off',
      asked: { reasoning: { enabled: false } },
      facts: reasoning(null),
      dropped: ['reasoning.enabled'],
    },
    {
      name: 'the prompt mode under its own name',
      asked: { prompt_mode: null, reasoning: { enabled: true } },
      facts: reasoning(null),
      sent: { prompt_mode: 'reasoning' },
    },
  ])

  test('thoughts from callers of other dialects are sent back too', () => {
    const messages: Message[] = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'A', reasoning: 'T' },
      { role: 'user', content: 'Hi' },
    ]
    const { body, dropped } = buildChat(
      { ...REQUEST, dialect: 'messages', messages },
      attemptAt('MISTRAL_API_KEY'),
    )
    expect(body.messages).toEqual([USER, assistant({ content: [thinking('T'), text('A')] }), USER])
    expect(dropped).toEqual([])
  })
})
