import { expect } from 'bun:test'
import type OpenAI from 'openai'
import { chunk, DONE, sse, usageChunk } from '../../upstream.ts'
import { namedEvents } from '../replies.ts'
import type { DIALECTS } from './setup.ts'

// The parts of the turn of the Responses API.
const shared = {
  id: 'resp_up',
  object: 'response',
  created_at: 1,
  model: 'lamps',
  error: null,
  incomplete_details: null,
}
const reasoning = {
  type: 'reasoning',
  id: 'rs_up',
  summary: [{ type: 'summary_text', text: 'Two lamps.' }],
  encrypted_content: 'gAAA',
}
const message = {
  type: 'message',
  id: 'msg_up',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'I switch.', annotations: [] }],
}
const call = {
  type: 'function_call',
  id: 'fc_up',
  call_id: 'call_a',
  name: 'set_lamp',
  arguments: '{"on":true}',
  status: 'completed',
}
const usage = {
  input_tokens: 10,
  output_tokens: 5,
  total_tokens: 15,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 2 },
}

/** A streamed turn of each dialect that thinks, answers and calls a tool, and the check of the request that continues it. */
export const TURNS: Record<
  (typeof DIALECTS)[number],
  { stream: () => Response; replayed: (body: Record<string, unknown>) => void }
> = {
  chat: {
    stream: () =>
      sse([
        chunk({ role: 'assistant', content: '' }),
        chunk({ reasoning: 'Two lamps.' }),
        chunk({ content: 'I switch.' }),
        chunk({
          tool_calls: [
            { index: 0, id: 'call_a', type: 'function', function: { name: 'set_lamp', arguments: '' } },
          ],
        }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"on":true}' } }] }),
        chunk({}, 'tool_calls'),
        usageChunk(),
        DONE,
      ]),
    replayed: ({ messages }) =>
      expect(messages).toEqual([
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Light!' },
        {
          role: 'assistant',
          content: 'I switch.',
          tool_calls: [
            { id: 'call_a', type: 'function', function: { name: 'set_lamp', arguments: '{"on":true}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_a', content: 'done' },
      ]),
  },
  messages: {
    stream: namedEvents(
      {
        type: 'message_start',
        message: {
          id: 'msg_up',
          type: 'message',
          role: 'assistant',
          model: 'lamps',
          content: [],
          stop_reason: null,
          usage: { input_tokens: 10, output_tokens: 1 },
        },
      },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Two ' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'lamps.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2lnbmVk' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'cmVk' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'I switch.' } },
      { type: 'content_block_stop', index: 2 },
      {
        type: 'content_block_start',
        index: 3,
        content_block: { type: 'tool_use', id: 'call_a', name: 'set_lamp', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 3,
        delta: { type: 'input_json_delta', partial_json: '{"on":true}' },
      },
      { type: 'content_block_stop', index: 3 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { output_tokens: 5 },
      },
      { type: 'message_stop' },
    ),
    replayed: ({ messages, system, thinking }) => {
      expect([system, thinking]).toMatchObject(['Be brief.', { type: 'enabled' }])
      expect(messages).toEqual([
        { role: 'user', content: 'Light!' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Two lamps.', signature: 'c2lnbmVk' },
            { type: 'redacted_thinking', data: 'cmVk' },
            { type: 'text', text: 'I switch.' },
            { type: 'tool_use', id: 'call_a', name: 'set_lamp', input: { on: true } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_a', content: 'done' }] },
      ])
    },
  },
  gemini: {
    stream: () =>
      sse(
        [
          {
            candidates: [
              { content: { role: 'model', parts: [{ text: 'Two lamps.', thought: true }] }, index: 0 },
            ],
          },
          { candidates: [{ content: { role: 'model', parts: [{ text: 'I switch.' }] }, index: 0 }] },
          {
            candidates: [
              {
                content: {
                  role: 'model',
                  parts: [
                    { functionCall: { name: 'set_lamp', args: { on: true } }, thoughtSignature: 'c2lnbmVk' },
                  ],
                },
                index: 0,
                finishReason: 'STOP',
              },
            ],
            usageMetadata: {
              promptTokenCount: 10,
              candidatesTokenCount: 3,
              thoughtsTokenCount: 2,
              totalTokenCount: 15,
            },
          },
        ].map((each) => `data: ${JSON.stringify({ ...each, responseId: 'r', modelVersion: 'v' })}\r\n\r\n`),
      ),
    replayed: ({ contents, systemInstruction }) => {
      expect(systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }] })
      expect(contents).toEqual([
        { role: 'user', parts: [{ text: 'Light!' }] },
        {
          role: 'model',
          parts: [
            { text: 'Two lamps.', thought: true },
            { text: 'I switch.' },
            { functionCall: { name: 'set_lamp', args: { on: true } }, thoughtSignature: 'c2lnbmVk' },
          ],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'set_lamp', response: { output: 'done' } } }] },
      ])
    },
  },
  responses: {
    stream: namedEvents(
      {
        type: 'response.created',
        sequence_number: 0,
        response: { ...shared, status: 'in_progress', output: [] },
      },
      {
        type: 'response.output_item.added',
        sequence_number: 1,
        output_index: 0,
        item: { ...reasoning, summary: [], encrypted_content: '' },
      },
      {
        type: 'response.reasoning_summary_text.delta',
        sequence_number: 2,
        item_id: 'rs_up',
        output_index: 0,
        summary_index: 0,
        delta: 'Two lamps.',
      },
      { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item: reasoning },
      {
        type: 'response.output_item.added',
        sequence_number: 4,
        output_index: 1,
        item: { ...message, content: [], status: 'in_progress' },
      },
      {
        type: 'response.output_text.delta',
        sequence_number: 5,
        item_id: 'msg_up',
        output_index: 1,
        content_index: 0,
        delta: 'I switch.',
      },
      { type: 'response.output_item.done', sequence_number: 6, output_index: 1, item: message },
      {
        type: 'response.output_item.added',
        sequence_number: 7,
        output_index: 2,
        item: { ...call, arguments: '', status: 'in_progress' },
      },
      {
        type: 'response.function_call_arguments.delta',
        sequence_number: 8,
        item_id: 'fc_up',
        output_index: 2,
        delta: '{"on":true}',
      },
      { type: 'response.output_item.done', sequence_number: 9, output_index: 2, item: call },
      {
        type: 'response.completed',
        sequence_number: 10,
        response: { ...shared, status: 'completed', output: [reasoning, message, call], usage },
      },
    ),
    replayed: ({ input, instructions, store }) => {
      expect([instructions, store]).toEqual(['Be brief.', false])
      expect(input).toMatchObject([
        { role: 'user', content: 'Light!' },
        { type: 'reasoning', id: 'rs_up', summary: [{ text: 'Two lamps.' }], encrypted_content: 'gAAA' },
        { type: 'message', id: 'msg_up', content: [{ text: 'I switch.' }] },
        { type: 'function_call', id: 'fc_up', call_id: 'call_a', name: 'set_lamp', arguments: '{"on":true}' },
        { type: 'function_call_output', call_id: 'call_a', output: 'done' },
      ])
    },
  },
}

export const TOOLS: OpenAI.Responses.FunctionTool[] = [
  {
    type: 'function',
    name: 'set_lamp',
    parameters: { type: 'object', properties: { on: { type: 'boolean' } } },
    strict: false,
  },
]
