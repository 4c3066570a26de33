import { responseWith } from './replies.ts'

/** Requests of each dialect with an email address in several places, and replies to every route. */

const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
export const answers: Record<string, (isStream: boolean) => Response> = {
  '/chat/completions': (isStream) =>
    isStream
      ? new Response(
          `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'Yes.' } }] })}\n\ndata: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })}\n\ndata: [DONE]\n\n`,
          { headers: { 'content-type': 'text/event-stream' } },
        )
      : Response.json({
          id: 'c',
          choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
          usage,
        }),
  '/messages': () =>
    Response.json({
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Yes.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 10, output_tokens: 2 },
    }),
  '/messages/count_tokens': () => Response.json({ input_tokens: 7 }),
  '/responses': () =>
    Response.json(
      responseWith('Write to old@site.example.', { input_tokens: 10, output_tokens: 2, total_tokens: 12 }),
    ),
  '/embeddings': () =>
    Response.json({ data: [{ index: 0, embedding: [0.5] }], usage: { prompt_tokens: 3, total_tokens: 3 } }),
  '/rerank': () => Response.json({ results: [{ index: 0, relevance_score: 0.5 }] }),
  '/images/generations': () => Response.json({ data: [{ b64_json: 'iVBORw0KGgo=' }] }),
  '/audio/speech': () => new Response(new Uint8Array(8), { headers: { 'content-type': 'audio/mpeg' } }),
  '/audio/transcriptions': () => Response.json({ text: 'Hm.' }),
}

export const redactEmail = { content_filter_builtins: [{ slug: 'email', action: 'redact' }] }
export const MARK = '[REDACTED:email]'
export const TEXT = 'Write to ann@site.example, please.'
export const CLEAN = `Write to ${MARK}, please.`

export const chatBody = {
  messages: [
    { role: 'system', content: TEXT },
    { role: 'user', content: [{ type: 'text', text: TEXT, extra_field: 1 }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'mail', arguments: '{"id":"ann@site.example","n":1}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: TEXT },
    { role: 'user', content: 'Go on.' },
  ],
  tools: [
    { type: 'function', function: { name: 'mail', description: TEXT, parameters: { type: 'object' } } },
  ],
}
export const messagesBody = {
  max_tokens: 50,
  system: [{ type: 'text', text: TEXT, cache_control: { type: 'ephemeral' } }],
  messages: [
    { role: 'user', content: TEXT },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'mail', input: { url: 'ann@site.example' } }],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: TEXT }] },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: TEXT } },
      ],
    },
  ],
}
export const responsesBody = {
  instructions: TEXT,
  input: [
    { role: 'user', content: [{ type: 'input_text', text: TEXT }] },
    { type: 'function_call', call_id: 'call_1', name: 'mail', arguments: '{"to":"ann@site.example"}' },
    { type: 'function_call_output', call_id: 'call_1', output: TEXT },
  ],
}
