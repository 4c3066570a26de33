/** Requests with every parameter of each API before a provider of each dialect. */
import { type Case, QUESTIONS } from './cases.ts'
import { answer, SPOKEN, stream } from './replies.ts'

const IMAGE = `data:image/png;base64,${Buffer.alloc(64, 7).toString('base64')}`

const CHAT: readonly Record<string, unknown>[] = [
  { temperature: 0.3, top_p: 0.9, seed: 7, stop: ['END'], max_tokens: 64 },
  { max_completion_tokens: 64, presence_penalty: 0.1, frequency_penalty: -0.1, logit_bias: { '12': 1 } },
  { reasoning: { effort: 'low' } },
  { reasoning: { max_tokens: 2000, exclude: true } },
  { reasoning_effort: 'high', verbosity: 'low' },
  { response_format: { type: 'json_object' } },
  {
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'city',
        schema: { type: 'object', properties: { a: { type: 'string' } } },
        strict: true,
      },
    },
  },
  { tool_choice: 'required', parallel_tool_calls: false },
  { tool_choice: { type: 'function', function: { name: 'weather' } } },
  { logprobs: true, top_logprobs: 2, n: 1, user: 'user-7', metadata: { team: 'a' } },
  { unknown_field: { kept: [1, null, 'x'] }, service_tier: 'flex' },
  { provider: { require_parameters: true }, transforms: ['middle-out'] },
  {
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image_url', image_url: { url: IMAGE } },
        ],
      },
    ],
  },
  {
    messages: [
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '24 °C' },
    ],
  },
  { messages: [] },
  { messages: [{ role: 'user', content: '' }] },
  { max_tokens: 0 },
  { temperature: 9 },
  { stream_options: { include_usage: false } },
  { user: 'u'.repeat(300) },
]

const RESPONSES: readonly Record<string, unknown>[] = [
  { instructions: 'Be brief.', max_output_tokens: 64, temperature: 0.2, top_p: 0.5 },
  { reasoning: { effort: 'medium', summary: 'auto' }, include: ['reasoning.encrypted_content'] },
  { text: { format: { type: 'json_object' }, verbosity: 'low' } },
  { tool_choice: 'required', parallel_tool_calls: false, max_tool_calls: 2 },
  { metadata: { a: 'b' }, user: 'user-7', truncation: 'auto', store: false },
  {
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What?' },
          { type: 'input_image', image_url: IMAGE, detail: 'auto' },
        ],
      },
    ],
  },
  {
    input: [
      { role: 'user', content: 'Weather?' },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: '24 °C' },
    ],
  },
  {
    input: [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'thinking' }] },
      { role: 'user', content: 'Go on' },
    ],
  },
  { tools: [{ type: 'custom', name: 'shell', description: 'runs' }] },
  { input: [] },
  { previous_response_id: 'resp_unknown' },
  { unknown_field: 1 },
]

const MESSAGES: readonly Record<string, unknown>[] = [
  { system: 'Be brief.', temperature: 0.2, top_p: 0.5, top_k: 5, stop_sequences: ['END'] },
  { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] },
  { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2048 },
  { tool_choice: { type: 'any', disable_parallel_tool_use: true } },
  { tool_choice: { type: 'tool', name: 'weather' } },
  { metadata: { user_id: 'user-7' }, service_tier: 'auto' },
  {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        ],
      },
    ],
  },
  {
    messages: [
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '24 °C' }] },
    ],
  },
  { max_tokens: 0 },
  { messages: [] },
  { unknown_field: 1 },
]

const ROWS = [
  ['/chat/completions', CHAT],
  ['/responses', RESPONSES],
  ['/messages', MESSAGES],
] as const

export const parameters = (): Case[] =>
  ROWS.flatMap(([path, rows]) =>
    rows.flatMap((row, index) =>
      SPOKEN.flatMap((dialect) =>
        [false, true].map((isStream) => ({
          name: `${path} row ${index} before ${dialect}, stream=${isStream}`,
          dialect,
          path,
          headers: { 'x-service-metadata': 'enabled' },
          body: { ...QUESTIONS[path], ...row, stream: isStream },
          replies: [isStream ? stream(dialect) : answer(dialect)],
        })),
      ),
    ),
  )
