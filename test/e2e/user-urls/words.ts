/** Where a request holds words that only look like addresses. */
import { answers, chat, claude } from './places.ts'

export const PRIVATE = 'http://127.0.0.1:3000/'
const tool = {
  type: 'function',
  function: {
    name: 'open',
    description: PRIVATE,
    parameters: {
      type: 'object',
      $schema: PRIVATE,
      properties: { url: { type: 'string', default: PRIVATE } },
    },
  },
}
export const WORDS: [name: string, path: string, body: Record<string, unknown>][] = [
  ['text', 'chat/completions', chat(PRIVATE)],
  ['a text part', 'chat/completions', chat([{ type: 'text', text: PRIVATE }])],
  [
    'what a tool was called with',
    'chat/completions',
    {
      model: 'talk',
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'open', arguments: PRIVATE } }],
        },
        { role: 'tool', tool_call_id: 'a', content: PRIVATE },
      ],
    },
  ],
  ['a tool', 'chat/completions', chat('x', { tools: [tool] })],
  ['labels', 'chat/completions', chat('x', { metadata: { page: PRIVATE }, user: PRIVATE, stop: [PRIVATE] })],
  [
    'a schema',
    'chat/completions',
    chat('x', {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema: { type: 'object', $id: PRIVATE } },
      },
    }),
  ],
  [
    'a recording that begins with slashes',
    'chat/completions',
    chat([{ type: 'audio_url', audio_url: { url: `//uQxAAA${'A'.repeat(200)}` } }]),
  ],
  [
    'a public address',
    'chat/completions',
    chat([{ type: 'audio_url', audio_url: { url: 'https://example.com/a.wav' } }]),
  ],
  [
    'content in the URL',
    'chat/completions',
    chat([{ type: 'audio_url', audio_url: { url: ' data:audio/wav;base64,AAAA' } }]),
  ],
  [
    'a call of a browser',
    'responses',
    answers([
      { role: 'user', content: 'x' },
      { type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'open_page', url: PRIVATE } },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: PRIVATE },
      { type: 'function_call_output', call_id: 'c', output: PRIVATE },
    ]),
  ],
  [
    'what was cited',
    'responses',
    answers([
      {
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'x',
            annotations: [{ type: 'url_citation', url: PRIVATE, title: 'a', start_index: 0, end_index: 1 }],
          },
        ],
      },
      { role: 'user', content: 'x' },
    ]),
  ],
  [
    'a tool_use and its result',
    'messages',
    {
      model: 'claude',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 't', name: 'f', input: { url: PRIVATE, deep: [{ href: PRIVATE }] } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: PRIVATE }] },
      ],
    },
  ],
  [
    'a plain document and a search result',
    'messages',
    claude([
      { type: 'document', title: PRIVATE, source: { type: 'text', media_type: 'text/plain', data: PRIVATE } },
      { type: 'search_result', source: PRIVATE, title: PRIVATE, content: [{ type: 'text', text: PRIVATE }] },
    ]),
  ],
  ['texts to embed', 'embeddings', { model: 'vectors', input: [PRIVATE, 'x'] }],
  [
    "Google's calls and what came of them",
    'models/talk:generateContent',
    {
      contents: [
        { role: 'user', parts: [{ text: PRIVATE }] },
        { role: 'model', parts: [{ functionCall: { name: 'open', args: { url: PRIVATE } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'open', response: { url: PRIVATE } } }] },
      ],
      tools: [
        { functionDeclarations: [{ name: 'open', parameters: { type: 'OBJECT', description: PRIVATE } }] },
      ],
    },
  ],
]
