import { describe, expect, test } from 'bun:test'
import { build, HELLO, JSON_TYPE, NEW, OBJECT, type Row } from './built.ts'

const HELLO_TURN = [{ role: 'user', parts: [{ text: 'Hello' }] }]

const FUNCTION = { type: 'function', function: { name: 'tide', description: 'Tides', parameters: OBJECT } }

const DECLARED = { name: 'tide', description: 'Tides', parameters: OBJECT }

describe('the address', () => {
  test.each([
    ['gemini-2.5-pro', false, '/models/gemini-2.5-pro:generateContent'],
    ['gemini-2.5-pro', true, '/models/gemini-2.5-pro:streamGenerateContent?alt=sse'],
    ['models/gemini-2.5-pro', false, '/models/gemini-2.5-pro:generateContent'],
    ['tunedModels/mine', false, '/tunedModels/mine:generateContent'],
    ['odd?name#x', false, '/models/odd%3Fname%23x:generateContent'],
  ])('%s, stream %p', (upstreamId, stream, path) => {
    const call = build({ stream }, { upstreamId })
    expect(call).toEqual({ path, headers: {}, body: { contents: HELLO_TURN }, dropped: [] })
  })
})

describe('tools', () => {
  const rows: Row[] = [
    ['none', {}, {}],
    ['a function', { tools: [FUNCTION] }, { tools: [{ functionDeclarations: [DECLARED] }] }],
    [
      'without arguments',
      {
        tools: [
          { type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } },
        ],
      },
      { tools: [{ functionDeclarations: [{ name: 'now' }] }] },
    ],
    [
      'auto',
      { tools: [FUNCTION], tool_choice: 'auto' },
      {
        tools: [{ functionDeclarations: [DECLARED] }],
        toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
      },
    ],
    [
      'none wanted',
      { tools: [FUNCTION], tool_choice: 'none' },
      {
        tools: [{ functionDeclarations: [DECLARED] }],
        toolConfig: { functionCallingConfig: { mode: 'NONE' } },
      },
    ],
    [
      'required',
      { tools: [FUNCTION], tool_choice: 'required' },
      {
        tools: [{ functionDeclarations: [DECLARED] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      },
    ],
    [
      'one',
      { tools: [FUNCTION], tool_choice: { type: 'function', function: { name: 'tide' } } },
      {
        tools: [{ functionDeclarations: [DECLARED] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['tide'] } },
      },
    ],
    [
      'one at a time',
      { tools: [FUNCTION], parallel_tool_calls: false },
      { tools: [{ functionDeclarations: [DECLARED] }] },
      ['parallel_tool_calls'],
    ],
    [
      'JSON beside functions',
      { tools: [FUNCTION], response_format: { type: 'json_object' } },
      { tools: [{ functionDeclarations: [DECLARED] }] },
      ['response_format'],
    ],
    [
      'JSON beside functions, 3',
      { tools: [FUNCTION], response_format: { type: 'json_object' } },
      { tools: [{ functionDeclarations: [DECLARED] }], generationConfig: JSON_TYPE },
      [],
      NEW,
    ],
    ['search', { web_search_options: {} }, { tools: [{ googleSearch: {} }] }],
    [
      'search beside functions',
      { tools: [FUNCTION], web_search_options: {} },
      { tools: [{ functionDeclarations: [DECLARED] }] },
      ['web_search_options'],
    ],
    ['service tier', { service_tier: 'flex' }, { serviceTier: 'flex' }],
  ]
  test.each(rows.map((row) => [row[0], row] as const))('%s', (_, [, body, expected, dropped = [], at]) => {
    const call = build(body, at)
    const { contents, ...rest } = call.body
    expect(contents).toEqual(HELLO_TURN)
    expect<unknown>(rest).toEqual(expected)
    expect(call.dropped).toEqual(dropped)
  })
})

test('consecutive turns of the model are one, those of the user are not', () => {
  const call = { id: 'c', type: 'function', function: { name: 'tide', arguments: '{}' } }
  const { contents } = build({
    messages: [
      ...HELLO,
      ...HELLO,
      { role: 'assistant', content: 'I shall look.' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'high' },
      ...HELLO,
    ],
  }).body
  expect(contents).toEqual([
    ...HELLO_TURN,
    ...HELLO_TURN,
    {
      role: 'model',
      parts: [{ text: 'I shall look.' }, { functionCall: { id: 'c', name: 'tide', args: {} } }],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { id: 'c', name: 'tide', response: { output: 'high' } } }],
    },
    ...HELLO_TURN,
  ])
})
