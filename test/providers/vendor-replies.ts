import { streamOf } from '../dialects/converse/frames.ts'

/** Replies of vendors to a wrong credential, from their documentation and recordings. */
export const REFUSALS: Readonly<Record<string, { status: number; body: unknown; reason: string }>> = {
  mistral: { status: 401, body: { detail: 'Unauthorized' }, reason: 'Unauthorized' },
  xai: {
    status: 400,
    body: { code: 'Client specified an invalid argument', error: 'Incorrect API key provided' },
    reason: 'Incorrect API key',
  },
  cohere: { status: 401, body: { id: 'x', message: 'invalid api token' }, reason: 'invalid api token' },
  perplexity: {
    status: 401,
    body: { error: { message: 'Invalid API key', type: 'invalid_api_key', code: 401 } },
    reason: 'Invalid API key',
  },
  anthropic: {
    status: 401,
    body: {
      type: 'error',
      error: { type: 'authentication_error', message: 'invalid x-api-key' },
      request_id: 'r',
    },
    reason: 'invalid x-api-key',
  },
  'amazon-bedrock': {
    status: 403,
    body: { message: 'The security token included in the request is invalid.' },
    reason: 'security token',
  },
  google: {
    status: 400,
    body: [{ error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }],
    reason: 'API key not valid',
  },
}

export const USUAL_REFUSAL = {
  status: 401,
  body: {
    error: {
      message: 'Incorrect API key provided',
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_api_key',
    },
  },
  reason: 'Incorrect API key provided',
}

const sse = (...events: readonly string[]): string => events.map((data) => `data: ${data}\n\n`).join('')

export const PLAIN_STREAM = sse(
  '{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}',
  '{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}',
  '[DONE]',
)

const PLAIN_GEMINI_STREAM = sse(
  '{"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"},"index":0}]}',
  '{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}]}',
).replaceAll('\n', '\r\n')

const PLAIN_MESSAGES_STREAM = sse(
  '{"type":"message_start","message":{"id":"m1","type":"message","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}',
  '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}',
  '{"type":"message_stop"}',
)

const PLAIN_CONVERSE_STREAM = streamOf([
  { messageStart: { role: 'assistant' } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Hello' } } },
  { messageStop: { stopReason: 'end_turn' } },
])

const PLAIN_COHERE_STREAM = sse(
  '{"type":"message-start","id":"m1","delta":{"message":{"role":"assistant"}}}',
  '{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"Hello"}}}}',
  '{"type":"message-end","delta":{"finish_reason":"COMPLETE"}}',
)

/** Dialects other than chat: the path, the header of the credential, the body sent, and a stream that says Hello. */
export const FOREIGN: Readonly<
  Record<
    string,
    { path: string; header: string; body: unknown; plain: string | Uint8Array<ArrayBuffer>; api: string }
  >
> = {
  messages: {
    path: '/messages',
    header: 'x-api-key',
    body: {
      model: 'its-own-name',
      max_tokens: 11,
      system: 'Be brief.',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    },
    plain: PLAIN_MESSAGES_STREAM,
    api: 'anthropic-messages',
  },
  gemini: {
    path: '/models/its-own-name:streamGenerateContent',
    header: 'x-goog-api-key',
    body: {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { maxOutputTokens: 11 },
    },
    plain: PLAIN_GEMINI_STREAM,
    api: 'gemini',
  },
  cohere: {
    path: '/chat',
    header: 'authorization',
    body: {
      model: 'its-own-name',
      stream: true,
      max_tokens: 11,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    },
    plain: PLAIN_COHERE_STREAM,
    api: 'cohere-chat',
  },
  converse: {
    path: '/model/its-own-name/converse-stream',
    header: 'authorization',
    body: {
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      system: [{ text: 'Be brief.' }],
      inferenceConfig: { maxTokens: 11 },
    },
    plain: PLAIN_CONVERSE_STREAM,
    api: 'bedrock-converse',
  },
}
