import { describe, expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { responsesEgress } from '../../../src/dialects/responses/index.ts'
import { attemptOf } from './attempt.ts'

/** Requests of other dialects: all that the neutral request can say, and what becomes of it. */

const HELLO = [{ role: 'user', content: 'Hello' }]
const REASONER: Attempt = attemptOf('gpt-5', {
  supportedParameters: ['reasoning', 'reasoning_effort', 'tools'],
  reasoning: { efforts: ['low', 'medium', 'high'], takesBudget: false, mayBeOff: false },
})
const SWITCHABLE: Attempt = attemptOf('gpt-5.2', {
  supportedParameters: ['reasoning', 'tools'],
  reasoning: { efforts: ['none', 'low', 'medium', 'high', 'xhigh'], takesBudget: false, mayBeOff: true },
})
const PLAIN: Attempt = attemptOf('gpt-4.1', { supportedParameters: ['temperature', 'tools'] })
const ENCRYPTED = { include: ['reasoning.encrypted_content'] }

const built = (fields: JsonObject, attempt: Attempt = attemptOf()) =>
  responsesEgress.build(
    chatIngress.parse({ model: 'lab/model', messages: HELLO, ...fields }, new Headers()),
    attempt,
  )

/** What a field of the request adds to the least body, and what is dropped for it. */
type Row = [what: string, fields: JsonObject, body: JsonObject, dropped?: string[], attempt?: Attempt]

function table(rows: Row[]): void {
  test.each(rows.map((row) => [row[0], row] as const))('%s', (_, [, fields, body, dropped, attempt]) => {
    const call = built(fields, attempt)
    const least = { model: attempt?.endpoint.upstreamId ?? 'tide-1', input: HELLO, store: false }
    expect(call.body).toEqual({ ...least, ...body })
    expect([...call.dropped].sort()).toEqual([...(dropped ?? [])].sort())
  })
}

test('the least call', () => {
  expect(built({})).toEqual({
    path: '/responses',
    headers: {},
    body: { model: 'tide-1', input: HELLO, store: false },
    dropped: [],
  })
})

test.each([
  ['gpt-5', true],
  ['gpt-5.2-codex', true],
  ['o3', true],
  ['o4-mini', true],
  ['openai/gpt-6', true],
  ['openai.gpt-5.6-luna', true],
  ['codex-mini-latest', true],
  ['gpt-5-chat-latest', false],
  ['gpt-4o', false],
  ['gpt-4.1', false],
  ['chatgpt-4o-latest', false],
  ['o3d', false],
  ['llama-o1', false],
] as const)('%s of an entry that says nothing of it reasons: %p', (name, reasons) => {
  expect(built({}, attemptOf(name)).body.include).toEqual(reasons ? ENCRYPTED.include : undefined)
})

describe('parameters', () => {
  table([
    ['stream', { stream: true }, { stream: true }],
    ['the bound', { max_tokens: 70 }, { max_output_tokens: 70 }],
    ['its newer name', { max_completion_tokens: 80 }, { max_output_tokens: 80 }],
    [
      'the bound of money',
      { max_tokens: 9000 },
      { max_output_tokens: 2000 },
      [],
      attemptOf(undefined, {}, { outputBound: 2000 }),
    ],
    ['sampling', { temperature: 0.2, top_p: 0.5 }, { temperature: 0.2, top_p: 0.5 }],
    ['sampling that the model does not take', { temperature: 0 }, ENCRYPTED, ['temperature'], REASONER],
    [
      'log probabilities',
      { logprobs: true, top_logprobs: 3 },
      { top_logprobs: 3, include: ['message.output_text.logprobs'] },
    ],
    [
      'log probabilities that the model does not give',
      { logprobs: true, top_logprobs: 3 },
      {},
      ['logprobs', 'top_logprobs'],
      PLAIN,
    ],
    ['verbosity', { verbosity: 'low' }, { text: { verbosity: 'low' } }],
    ['user and metadata', { user: 'u', metadata: { a: 'b' } }, { user: 'u', metadata: { a: 'b' } }],
    [
      'caching, and who asks',
      {
        prompt_cache_key: 'k',
        prompt_cache_retention: '24h',
        prompt_cache_options: { mode: 'explicit' },
        safety_identifier: 's',
      },
      {
        prompt_cache_key: 'k',
        prompt_cache_retention: '24h',
        prompt_cache_options: { mode: 'explicit' },
        safety_identifier: 's',
      },
    ],
    ['a service tier', { service_tier: 'flex' }, { service_tier: 'flex' }],
    ["the gateway's word for one", { service_tier: 'fast' }, { service_tier: 'priority' }],
    [
      'what has no word here',
      {
        top_k: 4,
        min_p: 0.1,
        top_a: 0.1,
        frequency_penalty: 1,
        presence_penalty: 1,
        repetition_penalty: 1.1,
        seed: 1,
        stop: 'x',
        logit_bias: { '1': 1 },
        n: 2,
        modalities: ['text', 'image'],
        prediction: { type: 'content', content: 'x' },
        audio: { voice: 'alloy', format: 'mp3' },
      },
      {},
      [
        'top_k',
        'min_p',
        'top_a',
        'frequency_penalty',
        'presence_penalty',
        'repetition_penalty',
        'seed',
        'stop',
        'logit_bias',
        'n',
        'modalities',
        'prediction',
        'audio',
      ],
    ],
    [
      'what says nothing',
      { n: 1, modalities: ['text'], frequency_penalty: 0, provider: {}, session_id: 's' },
      {},
    ],
  ])
})

describe('the form of the answer', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  table([
    ['text', { response_format: { type: 'text' } }, { text: { format: { type: 'text' } } }],
    [
      'JSON, tersely',
      { response_format: { type: 'json_object' }, verbosity: 'low' },
      { text: { format: { type: 'json_object' }, verbosity: 'low' } },
    ],
    [
      'a schema',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', schema, strict: true, description: 'd' },
        },
      },
      { text: { format: { type: 'json_schema', name: 'n', description: 'd', schema, strict: true } } },
    ],
    ['a grammar', { response_format: { type: 'grammar', grammar: 'root ::= "a"' } }, {}, ['response_format']],
  ])
})

describe('reasoning', () => {
  const lowest = (attempt: Attempt, reasoning: JsonObject): JsonObject => ({
    ...(attempt === PLAIN ? {} : ENCRYPTED),
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
  })
  table([
    ['nobody asks', {}, ENCRYPTED, [], REASONER],
    ['of a model that does not', { reasoning: { effort: 'high' } }, {}, ['reasoning'], PLAIN],
    ['to be off, of a model that does not', { reasoning: { enabled: false } }, {}, [], PLAIN],
    ['an effort alone', { reasoning_effort: 'low' }, lowest(REASONER, { effort: 'low' }), [], REASONER],
    [
      'an effort, to be seen',
      { reasoning: { effort: 'low' } },
      lowest(REASONER, { effort: 'low', summary: 'auto' }),
      [],
      REASONER,
    ],
    [
      'an effort, not to be seen',
      { reasoning: { effort: 'low', exclude: true } },
      lowest(REASONER, { effort: 'low' }),
      [],
      REASONER,
    ],
    [
      'a summary of one kind',
      { reasoning: { summary: 'detailed' } },
      lowest(REASONER, { summary: 'detailed' }),
      [],
      REASONER,
    ],
    ['to be seen', { include_reasoning: true }, lowest(REASONER, { summary: 'auto' }), [], REASONER],
    [
      'an effort that is too strong',
      { reasoning_effort: 'xhigh' },
      lowest(REASONER, { effort: 'high' }),
      ['reasoning.effort'],
      REASONER,
    ],
    [
      'an effort that is too weak',
      { reasoning_effort: 'minimal' },
      lowest(REASONER, { effort: 'low' }),
      ['reasoning.effort'],
      REASONER,
    ],
    [
      'off, of a model that always does',
      { reasoning: { enabled: false } },
      lowest(REASONER, { effort: 'low' }),
      ['reasoning.effort'],
      REASONER,
    ],
    ['off', { reasoning: { enabled: false } }, lowest(SWITCHABLE, { effort: 'none' }), [], SWITCHABLE],
    [
      'on',
      { reasoning: { enabled: true } },
      lowest(SWITCHABLE, { effort: 'medium', summary: 'auto' }),
      [],
      SWITCHABLE,
    ],
    [
      'on, of a model that always does',
      { reasoning: { enabled: true } },
      lowest(REASONER, { summary: 'auto' }),
      [],
      REASONER,
    ],
    ...(
      [
        [1_024, 'low'],
        [8_192, 'medium'],
        [8_193, 'high'],
      ] as const
    ).map(
      ([tokens, effort]): Row => [
        `a budget of ${tokens}`,
        { reasoning: { max_tokens: tokens } },
        lowest(REASONER, { effort, summary: 'auto' }),
        ['reasoning.max_tokens'],
        REASONER,
      ],
    ),
    ['asked of a model that nobody knows', { reasoning_effort: 'low' }, lowest(REASONER, { effort: 'low' })],
    [
      'newer and unknown fields',
      { reasoning: { effort: 'low', context: 'all_turns', mood: 'calm' } },
      lowest(REASONER, { context: 'all_turns', effort: 'low', summary: 'auto' }),
      ['reasoning.mood'],
      REASONER,
    ],
    [
      'of a gateway, which takes all words',
      { reasoning: { max_tokens: 2000, exclude: true } },
      lowest(REASONER, { max_tokens: 2000, exclude: true }),
      [],
      attemptOf('gpt-5', { supportedParameters: ['reasoning'] }, { quirks: { reasoningField: 'reasoning' } }),
    ],
  ])
})

describe('tools', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const weather = { type: 'function', function: { name: 'weather', description: 'd', parameters } }
  const written = { type: 'function', name: 'weather', description: 'd', parameters, strict: false }
  const withWeather = (choice: unknown): JsonObject => ({ tools: [weather], tool_choice: choice })
  const grammar = { syntax: 'lark', definition: 'start: "a"' }
  table([
    ['a function', { tools: [weather] }, { tools: [written] }],
    [
      'a strict one',
      { tools: [{ type: 'function', function: { ...weather.function, strict: true } }] },
      { tools: [{ ...written, strict: true }] },
    ],
    [
      'one without parameters',
      { tools: [{ type: 'function', function: { name: 'now' } }] },
      {
        tools: [
          { type: 'function', name: 'now', parameters: { type: 'object', properties: {} }, strict: false },
        ],
      },
    ],
    [
      'a custom tool',
      { tools: [{ type: 'custom', custom: { name: 'sql', format: { type: 'grammar', grammar } } }] },
      { tools: [{ type: 'custom', name: 'sql', format: { type: 'grammar', ...grammar } }] },
    ],
    [
      'built-in tools',
      { tools: [{ type: 'web_search', search_context_size: 'low' }, { type: 'x_search' }] },
      { tools: [{ type: 'web_search', search_context_size: 'low' }, { type: 'x_search' }] },
    ],
    ['tools of nobody', { tools: [{ type: 'teleport' }] }, {}, ['tools.teleport']],
    [
      'searching, as chat asks for it',
      {
        web_search_options: {
          search_context_size: 'high',
          user_location: { type: 'approximate', approximate: { country: 'DE' } },
        },
      },
      {
        tools: [
          {
            type: 'web_search',
            search_context_size: 'high',
            user_location: { type: 'approximate', country: 'DE' },
          },
        ],
      },
    ],
    ...['auto', 'none', 'required'].map(
      (choice): Row => [`choice: ${choice}`, withWeather(choice), { tools: [written], tool_choice: choice }],
    ),
    [
      'choice: one function',
      withWeather({ type: 'function', function: { name: 'weather' } }),
      { tools: [written], tool_choice: { type: 'function', name: 'weather' } },
    ],
    [
      'choice: one custom tool',
      withWeather({ type: 'custom', custom: { name: 'sql' } }),
      { tools: [written], tool_choice: { type: 'custom', name: 'sql' } },
    ],
    [
      'choice: some',
      withWeather({
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'weather' } }] },
      }),
      {
        tools: [written],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'weather' }] },
      },
    ],
    ['choice without tools', { tool_choice: 'auto', parallel_tool_calls: true }, {}],
    [
      'one call at a time',
      { tools: [weather], parallel_tool_calls: false },
      { tools: [written], parallel_tool_calls: false },
    ],
  ])
})

describe('messages', () => {
  const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
  const asked = (content: unknown) => ({ input: [{ role: 'user', content }] })
  const PDF = 'data:application/pdf;base64,JVBERi0='
  const breakpoint = { prompt_cache_breakpoint: { mode: 'explicit' } }
  const call = (id: string, json: string, more: JsonObject = {}) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: json },
    ...more,
  })
  const details = [
    { type: 'reasoning.summary', summary: 'Two ', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
    { type: 'reasoning.summary', summary: 'calls.', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
    { type: 'reasoning.encrypted', data: 'c2VhbGVk', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
  ]
  const thought = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Two calls.' }],
    encrypted_content: 'c2VhbGVk',
  }
  table([
    [
      'instructions, where they stand',
      {
        messages: [
          { role: 'developer', content: [{ type: 'text', text: 'One.' }] },
          ...HELLO,
          { role: 'system', content: 'Two.' },
        ],
      },
      {
        input: [
          { role: 'developer', content: [{ type: 'input_text', text: 'One.' }] },
          ...HELLO,
          { role: 'system', content: 'Two.' },
        ],
      },
    ],
    [
      'instructions of a provider without developers',
      { messages: [{ role: 'developer', content: 'One.' }, ...HELLO] },
      { input: [{ role: 'system', content: 'One.' }, ...HELLO] },
      [],
      attemptOf(undefined, {}, { quirks: { developerRole: false } }),
    ],
    [
      'text and a picture',
      user([
        { type: 'text', text: 'What?', ...breakpoint },
        { type: 'image_url', image_url: { url: 'https://x.example/a.png' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
      ]),
      asked([
        { type: 'input_text', text: 'What?', ...breakpoint },
        { type: 'input_image', image_url: 'https://x.example/a.png', detail: 'auto' },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' },
      ]),
    ],
    [
      'files',
      user([
        { type: 'file', file: { file_data: PDF } },
        { type: 'file', file: { file_data: PDF, filename: 'a.pdf' } },
        { type: 'file', file: { file_data: 'https://x.example/a.pdf', filename: 'a.pdf' } },
        { type: 'file', file: { file_id: 'file-1' } },
      ]),
      asked([
        { type: 'input_file', file_data: PDF, filename: 'file.pdf' },
        { type: 'input_file', file_data: PDF, filename: 'a.pdf' },
        { type: 'input_file', file_url: 'https://x.example/a.pdf' },
        { type: 'input_file', file_id: 'file-1' },
      ]),
    ],
    [
      'sound and video',
      user([
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'video_url', video_url: { url: 'https://x.example/a.mp4' } },
      ]),
      asked([
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'input_video', video_url: 'https://x.example/a.mp4' },
      ]),
    ],
    ['a name', { messages: [{ role: 'user', name: 'ann', content: 'Hello' }] }, {}, ['messages.name']],
    [
      'a turn of tools with its reasoning',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'I look.',
            reasoning_details: details,
            tool_calls: [call('a', '{"x":1}'), call('b', '')],
          },
          { role: 'tool', tool_call_id: 'a', content: 'one' },
          {
            role: 'tool',
            tool_call_id: 'b',
            content: [
              { type: 'text', text: 'two' },
              { type: 'image_url', image_url: { url: 'https://x.example/b.png' } },
            ],
          },
        ],
      },
      {
        input: [
          ...HELLO,
          thought,
          { role: 'assistant', content: 'I look.' },
          { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' },
          { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'a', output: 'one' },
          {
            type: 'function_call_output',
            call_id: 'b',
            output: [
              { type: 'input_text', text: 'two' },
              { type: 'input_image', image_url: 'https://x.example/b.png', detail: 'auto' },
            ],
          },
        ],
      },
    ],
    [
      'a call of a custom tool',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: '1' }] },
        ],
      },
      {
        input: [
          ...HELLO,
          { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'SELECT 1' },
          { type: 'custom_tool_call_output', call_id: 'c', output: '1' },
        ],
      },
    ],
    [
      'former answers',
      {
        messages: [
          ...HELLO,
          { role: 'assistant', content: [{ type: 'text', text: 'One.' }], phase: 'commentary' },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
          { role: 'assistant', content: null, refusal: 'No.' },
          { role: 'assistant', content: '' },
        ],
      },
      {
        input: [
          ...HELLO,
          { role: 'assistant', content: 'One.', phase: 'commentary' },
          {
            type: 'message',
            role: 'assistant',
            content: [
              { type: 'output_text', text: 'a' },
              { type: 'output_text', text: 'b' },
            ],
          },
          { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        ],
      },
    ],
    [
      'raw thoughts of an open model',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'A.',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Hm.', id: 'r', format: 'openai-responses-v1', index: 0 },
            ],
          },
        ],
      },
      {
        input: [
          ...HELLO,
          {
            type: 'reasoning',
            id: 'r',
            summary: [],
            content: [{ type: 'reasoning_text', text: 'Hm.' }],
          },
          { role: 'assistant', content: 'A.' },
        ],
      },
    ],
    ...(
      [
        [
          'thoughts that others signed',
          {
            reasoning_details: [
              { type: 'reasoning.text', text: 'x', signature: 's', format: 'anthropic-claude-v1', index: 0 },
            ],
          },
          'messages.reasoning_details',
        ],
        [
          'thoughts of Claude at Bedrock, whose pieces are not marked',
          {
            reasoning_details: [
              { type: 'reasoning.text', text: 'x', index: 0 },
              { type: 'reasoning.text', signature: 's', format: 'anthropic-claude-v1', index: 0 },
            ],
          },
          'messages.reasoning_details',
        ],
        ['a summary that nobody sealed', { reasoning_details: [details[0]] }, 'messages.reasoning_details'],
        ['thoughts as bare text', { reasoning: 'Hm.' }, 'messages.reasoning'],
      ] as const
    ).map(
      ([what, thoughts, dropped]): Row => [
        what,
        { messages: [...HELLO, { role: 'assistant', content: 'A.', ...thoughts }] },
        { input: [...HELLO, { role: 'assistant', content: 'A.' }] },
        [dropped],
      ],
    ),
    [
      'thoughts of others, to a gateway',
      {
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: 'A.',
            reasoning_details: [
              { type: 'reasoning.text', text: 'x', signature: 's', format: 'anthropic-claude-v1', index: 0 },
            ],
          },
        ],
      },
      {
        input: [
          ...HELLO,
          {
            type: 'reasoning',
            summary: [],
            content: [{ type: 'reasoning_text', text: 'x' }],
            format: 'anthropic-claude-v1',
            signature: 's',
          },
          { role: 'assistant', content: 'A.' },
        ],
      },
      [],
      attemptOf(undefined, {}, { quirks: { reasoningField: 'reasoning' } }),
    ],
  ])
})
