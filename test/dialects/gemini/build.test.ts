import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import type { DialectCall } from '../../../src/dialects/dialect.ts'
import { geminiEgress } from '../../../src/dialects/gemini/index.ts'
import { attemptAt, type Endpoint } from './attempt.ts'

const HELLO = [{ role: 'user', content: 'Hello' }]
const SAID = [{ role: 'user', parts: [{ text: 'Hello' }] }]

function build(body: Record<string, unknown>, endpoint: Endpoint = {}): DialectCall {
  const request = chatIngress.parse({ model: 'm', messages: HELLO, ...body }, new Headers())
  const before = structuredClone(request)
  const call = geminiEgress.build(request, attemptAt(endpoint))
  expect(request).toEqual(before)
  return call
}

describe('the address', () => {
  test.each([
    ['gemini-2.5-pro', false, '/models/gemini-2.5-pro:generateContent'],
    ['gemini-2.5-pro', true, '/models/gemini-2.5-pro:streamGenerateContent?alt=sse'],
    ['models/gemini-2.5-pro', false, '/models/gemini-2.5-pro:generateContent'],
    ['tunedModels/mine', false, '/tunedModels/mine:generateContent'],
    ['odd?name#x', false, '/models/odd%3Fname%23x:generateContent'],
  ])('%s, stream %p', (upstreamId, stream, path) => {
    const call = build({ stream }, { upstreamId })
    expect(call).toEqual({ path, headers: {}, body: { contents: SAID }, dropped: [] })
  })
})

type Row = [what: string, body: Record<string, unknown>, expected: unknown, dropped?: string[], at?: Endpoint]

const config = (rows: Row[]): void => {
  test.each(rows.map((row) => [row[0], row] as const))('%s', (_, [, body, expected, dropped = [], at]) => {
    const call = build(body, at)
    expect(call.body['generationConfig']).toEqual(expected)
    expect(call.dropped.toSorted()).toEqual(dropped.toSorted())
  })
}

const NEW = { upstreamId: 'gemini-3.1-pro-preview' }
const schemaOf = (schema: unknown) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
})
const OBJECT = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
const JSON_TYPE = { responseMimeType: 'application/json' }

describe('generationConfig', () => {
  config([
    ['nothing', {}, undefined],
    [
      'what tunes',
      {
        temperature: 0.5,
        top_p: 0.9,
        top_k: 4,
        seed: 7,
        stop: ['END'],
        presence_penalty: 0.1,
        frequency_penalty: 0.2,
        logprobs: true,
        top_logprobs: 3,
        n: 2,
        max_tokens: 99,
      },
      {
        temperature: 0.5,
        topP: 0.9,
        topK: 4,
        seed: 7,
        stopSequences: ['END'],
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        responseLogprobs: true,
        logprobs: 3,
        candidateCount: 2,
        maxOutputTokens: 99,
      },
    ],
    [
      'what Gemini has no word for',
      {
        top_a: 0.5,
        min_p: 0.1,
        repetition_penalty: 1.1,
        logit_bias: { 5: 1 },
        user: 'u',
        metadata: { a: 'b' },
        verbosity: 'low',
        prediction: { type: 'content', content: 'x' },
      },
      undefined,
      ['top_a', 'min_p', 'repetition_penalty', 'logit_bias', 'user', 'metadata', 'verbosity', 'prediction'],
    ],
    [
      'what the endpoint does not take',
      { top_k: 4, seed: 1 },
      { seed: 1 },
      ['top_k'],
      { supportedParameters: ['seed'] },
    ],
    ['a bound that money sets', { max_tokens: 99 }, { maxOutputTokens: 50 }, [], { outputBound: 50 }],
    [
      'pictures',
      { modalities: ['text', 'image'], image_config: { aspect_ratio: '16:9', image_size: '2K' } },
      { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '16:9', imageSize: '2K' } },
    ],
    [
      'effort',
      { reasoning: { effort: 'medium' } },
      { thinkingConfig: { thinkingBudget: 8_192, includeThoughts: true } },
    ],
    [
      'effort, hidden',
      { reasoning: { effort: 'low', exclude: true } },
      { thinkingConfig: { thinkingBudget: 1_024, includeThoughts: false } },
    ],
    [
      'budget',
      { reasoning: { max_tokens: 5_000 } },
      { thinkingConfig: { thinkingBudget: 5_000, includeThoughts: true } },
    ],
    [
      'a budget beyond what Flash takes',
      { reasoning: { max_tokens: 31_999 } },
      { thinkingConfig: { thinkingBudget: 24_576, includeThoughts: true } },
      ['reasoning.max_tokens'],
    ],
    [
      'the same budget, 2.5 Pro',
      { reasoning: { max_tokens: 31_999 } },
      { thinkingConfig: { thinkingBudget: 31_999, includeThoughts: true } },
      [],
      { upstreamId: 'gemini-2.5-pro' },
    ],
    [
      'a budget below what Flash-Lite takes',
      { reasoning: { max_tokens: 100 } },
      { thinkingConfig: { thinkingBudget: 512, includeThoughts: true } },
      ['reasoning.max_tokens'],
      { upstreamId: 'gemini-2.5-flash-lite' },
    ],
    [
      'enabled',
      { reasoning: { enabled: true } },
      { thinkingConfig: { thinkingBudget: -1, includeThoughts: true } },
    ],
    ['off', { reasoning: { enabled: false } }, { thinkingConfig: { thinkingBudget: 0 } }],
    [
      'off, 2.5 Pro',
      { reasoning: { effort: 'none' } },
      { thinkingConfig: { thinkingBudget: 128 } },
      ['reasoning.effort'],
      { upstreamId: 'gemini-2.5-pro' },
    ],
    [
      'off, 3',
      { reasoning: { enabled: false } },
      { thinkingConfig: { thinkingLevel: 'minimal' } },
      ['reasoning.enabled'],
      { upstreamId: 'gemini-3-flash-preview' },
    ],
    [
      'level',
      { reasoning: { effort: 'xhigh' } },
      { thinkingConfig: { thinkingLevel: 'high', includeThoughts: true } },
      [],
      NEW,
    ],
    [
      'level, minimal of a Pro',
      { reasoning_effort: 'minimal' },
      { thinkingConfig: { thinkingLevel: 'low', includeThoughts: true } },
      [],
      NEW,
    ],
    [
      'the nearest level that is known',
      { reasoning: { effort: 'medium' } },
      { thinkingConfig: { thinkingLevel: 'high', includeThoughts: true } },
      [],
      { reasoning: { efforts: ['minimal', 'high'], takesBudget: false, mayBeOff: false } },
    ],
    [
      'off, known to be possible',
      { reasoning: { effort: 'none' } },
      { thinkingConfig: { thinkingBudget: 0 } },
      [],
      { upstreamId: 'gemini-flash-latest', reasoning: { efforts: null, takesBudget: true, mayBeOff: true } },
    ],
    [
      'known to take no bound',
      { reasoning: { effort: 'high' } },
      { thinkingConfig: { includeThoughts: true } },
      ['reasoning.effort'],
      { reasoning: { efforts: null, takesBudget: false, mayBeOff: false } },
    ],
    [
      'no reasoner',
      { reasoning: { effort: 'high' } },
      undefined,
      ['reasoning'],
      { supportedParameters: ['tools'] },
    ],
    ['any JSON', { response_format: { type: 'json_object' } }, JSON_TYPE],
    [
      'a schema',
      schemaOf({ ...OBJECT, additionalProperties: false, $schema: 'x' }),
      { ...JSON_TYPE, responseSchema: OBJECT },
    ],
    [
      'a schema in other words',
      schemaOf({
        $defs: { name: { type: 'string', enum: ['x', 'y'] } },
        type: 'object',
        properties: {
          ref: { $ref: '#/$defs/name' },
          maybe: { type: ['string', 'null'], format: 'email' },
          either: { oneOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
          only: { const: 'one' },
          both: {
            allOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'number' } } }],
          },
          above: { type: 'integer', exclusiveMinimum: 0 },
        },
      }),
      {
        ...JSON_TYPE,
        responseSchema: {
          type: 'object',
          properties: {
            ref: { type: 'string', enum: ['x', 'y'] },
            maybe: { type: 'string', nullable: true },
            either: {
              anyOf: [
                { type: 'string', nullable: true },
                { type: 'integer', nullable: true },
              ],
            },
            only: { type: 'string', enum: ['one'] },
            both: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } },
            above: { type: 'integer', minimum: 1 },
          },
        },
      },
    ],
    [
      'a union with a description: Vertex takes nothing beside it',
      schemaOf({
        type: 'object',
        properties: {
          of: {
            description: 'd',
            default: '',
            anyOf: [{ type: 'string' }, { type: 'array', items: OBJECT }],
          },
          types: { description: 'd', type: ['string', 'number', 'null'] },
        },
      }),
      {
        ...JSON_TYPE,
        responseSchema: {
          type: 'object',
          properties: {
            of: {
              anyOf: [
                { description: 'd', type: 'string' },
                { description: 'd', type: 'array', items: OBJECT },
              ],
            },
            types: {
              anyOf: [
                { description: 'd', type: 'string', nullable: true },
                { description: 'd', type: 'number', nullable: true },
              ],
            },
          },
        },
      },
    ],
    [
      'what is demanded and not described, and a name that is empty',
      schemaOf({
        type: 'object',
        properties: { a: { type: 'string', enum: ['', 'x'] }, b: { type: 'string' } },
        required: ['a', 'ref'],
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
      }),
      {
        ...JSON_TYPE,
        responseSchema: {
          type: 'object',
          properties: { a: { type: 'string', enum: ['x'] }, b: { type: 'string' } },
          required: ['a'],
        },
      },
      ['response_format.json_schema.schema.enum[""]', 'response_format.json_schema.schema.required'],
    ],
    [
      'a schema that needs JSON Schema',
      schemaOf({ type: 'object', additionalProperties: { type: 'number' } }),
      { ...JSON_TYPE, responseJsonSchema: { type: 'object', additionalProperties: { type: 'number' } } },
    ],
    [
      'a recursive schema',
      schemaOf({
        $ref: '#/$defs/n',
        $defs: { n: { type: 'object', properties: { n: { $ref: '#/$defs/n' } } } },
      }),
      {
        ...JSON_TYPE,
        responseJsonSchema: {
          $ref: '#/$defs/n',
          $defs: { n: { type: 'object', properties: { n: { $ref: '#/$defs/n' } } } },
        },
      },
    ],
    [
      'a schema that neither form can hold',
      schemaOf({ type: 'object', properties: { a: { type: 'integer', multipleOf: 3 } } }),
      { ...JSON_TYPE, responseSchema: { type: 'object', properties: { a: { type: 'integer' } } } },
      ['response_format.json_schema.schema.multipleOf'],
    ],
  ])
})

const FUNCTION = { type: 'function', function: { name: 'tide', description: 'Tides', parameters: OBJECT } }
const DECLARED = { name: 'tide', description: 'Tides', parameters: OBJECT }

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
    expect(contents).toEqual(SAID)
    expect<unknown>(rest).toEqual(expected)
    expect(call.dropped).toEqual(dropped)
  })
})

const PNG = 'iVBORw0KGgo='
const user = (...content: unknown[]) => ({ role: 'user', content })
const CALL = { id: 'call_a', type: 'function', function: { name: 'tide', arguments: '{"port":"Brest"}' } }
const said = (parts: unknown[]) => ({ role: 'user', parts })
const ASKED = said([{ text: 'Hello' }])
const RESULT = { role: 'tool', tool_call_id: 'call_a', content: 'high' }
const ANSWERED = said([{ functionResponse: { id: 'call_a', name: 'tide', response: { output: 'high' } } }])
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
      [said([{ text: 'See' }, { inlineData: { mimeType: 'image/png', data: PNG } }])],
    ],
    [
      'an image by address',
      {
        messages: [
          user({ type: 'image_url', image_url: { url: 'https://pics.example/a.jpg?x=1', detail: 'high' } }),
        ],
      },
      [said([{ fileData: { mimeType: 'image/jpeg', fileUri: 'https://pics.example/a.jpg?x=1' } }])],
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
      [said([{ inlineData: { mimeType: 'application/pdf', data: 'JVBERg==' } }])],
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
      [said([{ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } }])],
      ['messages.content.file.file_id'],
    ],
    [
      'sound',
      { messages: [user({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } })] },
      [said([{ inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }])],
    ],
    [
      'a film',
      { messages: [user({ type: 'video_url', video_url: { url: 'https://youtu.be/x' } })] },
      [said([{ fileData: { fileUri: 'https://youtu.be/x' } }])],
    ],
    [
      'a mark for a cache',
      { messages: [user({ type: 'text', text: 'Long', cache_control: { type: 'ephemeral' } })] },
      [said([{ text: 'Long' }])],
      ['cache_control'],
    ],
    [
      'a refusal of before',
      { messages: [...HELLO, { role: 'assistant', content: null, refusal: 'No.' }, ...HELLO] },
      [ASKED, { role: 'model', parts: [{ text: 'No.' }] }, ASKED],
    ],
    ['system alone', { messages: [{ role: 'system', content: 'Be' }] }, [said([{ text: 'Be' }])]],
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
        said([
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
        said([{ functionResponse: { id: 'call_a', name: 'tide', response: { error: '{"reason":"fog"}' } } }]),
      ],
    ],
    [
      'arguments that were cut short',
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

  test('system messages are one instruction; one that came late is named', () => {
    const call = build({
      messages: [{ role: 'system', content: 'One' }, ...HELLO, { role: 'developer', content: 'Two' }],
    })
    expect(call.body).toEqual({
      systemInstruction: { parts: [{ text: 'One' }, { text: 'Two' }] },
      contents: [ASKED],
    })
    expect(call.dropped).toEqual(['messages.role'])
  })

  test('an id that we made is not sent', () => {
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

  test('a result without a call is refused by its path', () => {
    const orphan = () => build({ messages: [...HELLO, RESULT] })
    expect(orphan).toThrow(GatewayError)
    expect(orphan).toThrow('messages[1].tool_call_id')
  })
})

test('turns of the model that follow each other are one, those of the user are not', () => {
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
    ...SAID,
    ...SAID,
    {
      role: 'model',
      parts: [{ text: 'I shall look.' }, { functionCall: { id: 'c', name: 'tide', args: {} } }],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { id: 'c', name: 'tide', response: { output: 'high' } } }],
    },
    ...SAID,
  ])
})
