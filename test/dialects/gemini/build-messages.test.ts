import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import { build, HELLO, NEW, type Row, user } from './built.ts'

const PNG = 'iVBORw0KGgo='

const CALL = { id: 'call_a', type: 'function', function: { name: 'tide', arguments: '{"port":"Brest"}' } }

const turn = (parts: unknown[]) => ({ role: 'user', parts })

const ASKED = turn([{ text: 'Hello' }])

const RESULT = { role: 'tool', tool_call_id: 'call_a', content: 'high' }

const ANSWERED = turn([{ functionResponse: { id: 'call_a', name: 'tide', response: { output: 'high' } } }])

const called = (more: Record<string, unknown> = {}) => ({
  functionCall: { id: 'call_a', name: 'tide', args: { port: 'Brest' } },
  ...more,
})

const signed = (data: string, id?: string) => ({
  type: 'reasoning.encrypted',
  data,
  format: 'google-gemini-v1',
  index: 0,
  ...(id ? { id } : {}),
})

describe('messages', () => {
  const rows: Row[] = [
    [
      'an image',
      {
        messages: [
          user(
            { type: 'text', text: 'See' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
          ),
        ],
      },
      [turn([{ text: 'See' }, { inlineData: { mimeType: 'image/png', data: PNG } }])],
    ],
    [
      'an image by URL',
      {
        messages: [
          user({ type: 'image_url', image_url: { url: 'https://pics.example/a.jpg?x=1', detail: 'high' } }),
        ],
      },
      [turn([{ fileData: { mimeType: 'image/jpeg', fileUri: 'https://pics.example/a.jpg?x=1' } }])],
      ['messages.content.image_url.detail'],
    ],
    [
      'a PDF',
      {
        messages: [
          user({
            type: 'file',
            file: { file_data: 'data:application/pdf;base64,JVBERg==', filename: 'a.pdf' },
          }),
        ],
      },
      [turn([{ inlineData: { mimeType: 'application/pdf', data: 'JVBERg==' } }])],
      ['messages.content.file.filename'],
    ],
    [
      'a file of Google',
      {
        messages: [
          user(
            { type: 'file', file: { file_id: 'files/abc' } },
            { type: 'file', file: { file_id: 'file-1' } },
          ),
        ],
      },
      [turn([{ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } }])],
      ['messages.content.file.file_id'],
    ],
    [
      'sound',
      { messages: [user({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } })] },
      [turn([{ inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }])],
    ],
    [
      'a video',
      { messages: [user({ type: 'video_url', video_url: { url: 'https://youtu.be/x' } })] },
      [turn([{ fileData: { fileUri: 'https://youtu.be/x' } }])],
    ],
    [
      'a cache_control marker',
      { messages: [user({ type: 'text', text: 'Long', cache_control: { type: 'ephemeral' } })] },
      [turn([{ text: 'Long' }])],
      ['cache_control'],
    ],
    [
      'an earlier refusal',
      { messages: [...HELLO, { role: 'assistant', content: null, refusal: 'No.' }, ...HELLO] },
      [ASKED, { role: 'model', parts: [{ text: 'No.' }] }, ASKED],
    ],
    ['only a system message', { messages: [{ role: 'system', content: 'Be' }] }, [turn([{ text: 'Be' }])]],
    [
      'a call and its result',
      { messages: [...HELLO, { role: 'assistant', content: null, tool_calls: [CALL] }, RESULT] },
      [ASKED, { role: 'model', parts: [called()] }, ANSWERED],
    ],
    [
      'a call of another model, 3',
      { messages: [...HELLO, { role: 'assistant', content: null, tool_calls: [CALL] }, RESULT] },
      [
        ASKED,
        { role: 'model', parts: [called({ thoughtSignature: 'skip_thought_signature_validator' })] },
        ANSWERED,
      ],
      [],
      NEW,
    ],
    [
      'thoughts and signatures',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'Let me see.',
            reasoning: 'Hm',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Hm', format: 'google-gemini-v1', index: 0 },
              signed('dGV4dA=='),
              signed('Y2FsbA==', 'call_a'),
            ],
            tool_calls: [CALL],
          },
          RESULT,
        ],
      },
      [
        ASKED,
        {
          role: 'model',
          parts: [
            { text: 'Hm', thought: true },
            { text: 'Let me see.', thoughtSignature: 'dGV4dA==' },
            called({ thoughtSignature: 'Y2FsbA==' }),
          ],
        },
        ANSWERED,
      ],
    ],
    [
      'a signature without text',
      {
        messages: [
          ...HELLO,
          { role: 'assistant', content: '', reasoning_details: [signed('ZW5k')] },
          ...HELLO,
        ],
      },
      [ASKED, { role: 'model', parts: [{ text: '', thoughtSignature: 'ZW5k' }] }, ASKED],
    ],
    [
      'a signature on the call',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ ...CALL, extra_content: { google: { thought_signature: 'b24=' } } }],
          },
          RESULT,
        ],
      },
      [ASKED, { role: 'model', parts: [called({ thoughtSignature: 'b24=' })] }, ANSWERED],
      [],
      NEW,
    ],
    [
      'thoughts of another provider',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'Hi',
            reasoning: 'Hm',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Hm', signature: 's', format: 'anthropic-claude-v1' },
            ],
          },
          ...HELLO,
        ],
      },
      [ASKED, { role: 'model', parts: [{ text: 'Hi' }] }, ASKED],
      ['messages.reasoning_details', 'messages.reasoning'],
    ],
    [
      'parallel results, one with an image',
      {
        messages: [
          ...HELLO,
          { role: 'assistant', content: null, tool_calls: [CALL, { ...CALL, id: 'call_b' }] },
          {
            role: 'tool',
            tool_call_id: 'call_b',
            content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }],
          },
          { ...RESULT, content: '{"metres":8}' },
        ],
      },
      [
        ASKED,
        {
          role: 'model',
          parts: [called(), { functionCall: { id: 'call_b', name: 'tide', args: { port: 'Brest' } } }],
        },
        turn([
          { functionResponse: { id: 'call_b', name: 'tide', response: { output: '' } } },
          { functionResponse: { id: 'call_a', name: 'tide', response: { metres: 8 } } },
          { inlineData: { mimeType: 'image/png', data: PNG } },
        ]),
      ],
    ],
    [
      'a result that is an error',
      {
        messages: [
          ...HELLO,
          { role: 'assistant', content: null, tool_calls: [CALL] },
          { ...RESULT, content: '{"reason":"fog"}', is_error: true },
        ],
      },
      [
        ASKED,
        { role: 'model', parts: [called()] },
        turn([{ functionResponse: { id: 'call_a', name: 'tide', response: { error: '{"reason":"fog"}' } } }]),
      ],
    ],
    [
      'truncated arguments',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ ...CALL, function: { name: 'tide', arguments: '{"po' } }],
          },
          RESULT,
        ],
      },
      [
        ASKED,
        { role: 'model', parts: [{ functionCall: { id: 'call_a', name: 'tide', args: {} } }] },
        ANSWERED,
      ],
      ['messages.tool_calls.arguments'],
    ],
  ]
  test.each(rows.map((row) => [row[0], row] as const))('%s', (_, [, body, expected, dropped = [], at]) => {
    const call = build(body, at)
    expect<unknown>(call.body['contents']).toEqual(expected)
    expect(call.dropped).toEqual(dropped)
  })

  test('system messages are one instruction; a later one is named', () => {
    const call = build({
      messages: [{ role: 'system', content: 'One' }, ...HELLO, { role: 'developer', content: 'Two' }],
    })
    expect(call.body).toEqual({
      systemInstruction: { parts: [{ text: 'One' }, { text: 'Two' }] },
      contents: [ASKED],
    })
    expect(call.dropped).toEqual(['messages.role'])
  })

  test('a generated id is not sent', () => {
    const id = `call_${'0'.repeat(32)}`
    const call = build({
      messages: [
        ...HELLO,
        { role: 'assistant', content: null, tool_calls: [{ ...CALL, id }] },
        { ...RESULT, tool_call_id: id },
      ],
    })
    expect(JSON.stringify(call.body)).not.toContain(id)
  })

  test('a result without a call is rejected with its path', () => {
    const orphan = () => build({ messages: [...HELLO, RESULT] })
    expect(orphan).toThrow(GatewayError)
    expect(orphan).toThrow('messages[1].tool_call_id')
  })
})
