import { credential, limited, openai, type Row, router, unsuitable } from './upstream-errors-expected.ts'

/** Errors of vendors that speak the dialect of another one. */

export const VENDORS: readonly Row[] = [
  {
    name: 'Mistral: a key, in one sentence',
    dialect: 'chat',
    status: 401,
    body: { detail: 'Invalid API Key' },
    seen: credential,
  },
  {
    name: 'Mistral: the request, as an object',
    dialect: 'chat',
    status: 400,
    body: {
      object: 'error',
      message: 'Invalid model: tiny',
      type: 'invalid_model',
      param: null,
      code: '1500',
    },
    seen: unsuitable(404, 'not_found', 'invalid_model', 'Invalid model: tiny'),
  },
  {
    name: 'Mistral: an unknown field',
    dialect: 'chat',
    status: 422,
    body: {
      detail: [{ type: 'extra_forbidden', loc: ['body', 'top_k'], msg: 'Extra inputs are not permitted' }],
    },
    seen: unsuitable(422, 'unprocessable', null, 'body.top_k: Extra inputs are not permitted'),
  },
  {
    name: 'xAI: a key, with 400',
    dialect: 'responses',
    status: 400,
    body: { code: 'invalid-argument', error: 'Incorrect API key provided. You can obtain one.' },
    seen: credential,
  },
  {
    name: 'xAI: the request',
    dialect: 'responses',
    status: 400,
    body: { code: 'invalid-argument', error: 'Model grok-lab does not support parameter stop.' },
    seen: unsuitable(
      400,
      'invalid_request',
      'invalid-argument',
      'Model grok-lab does not support parameter stop.',
    ),
  },
  {
    name: 'Cohere: too long',
    dialect: 'cohere',
    status: 400,
    body: { id: 'x', message: 'too many tokens: size limit exceeded.', error_type: 'TOO_MANY_TOKENS' },
    seen: unsuitable(
      400,
      'context_length_exceeded',
      'TOO_MANY_TOKENS',
      'too many tokens: size limit exceeded.',
    ),
  },
  {
    name: 'Cohere: a key',
    dialect: 'cohere',
    status: 401,
    body: { id: 'x', message: 'Incorrect API key provided: ***.' },
    seen: credential,
  },
  {
    name: 'Perplexity: too long, with a code that is a number',
    dialect: 'chat',
    status: 400,
    body: { error: { message: 'The messages are too long.', type: 'too_many_prompt_tokens', code: 400 } },
    seen: unsuitable(400, 'context_length_exceeded', 'too_many_prompt_tokens', 'The messages are too long.'),
  },
  {
    name: 'OpenRouter: the words of its provider, as JSON',
    dialect: 'chat',
    status: 400,
    body: router(400, 'Provider returned error', {
      provider_name: 'Google',
      raw: '{"error":{"message":"max_tokens is too large"}}',
    }),
    seen: unsuitable(400, 'invalid_request', '400', 'max_tokens is too large'),
  },
  {
    name: 'OpenRouter: its provider’s rate',
    dialect: 'chat',
    status: 429,
    body: router(429, 'Provider returned error', { provider_name: 'Google', raw: 'temporarily limited' }),
    seen: limited('429'),
  },
  {
    name: 'OpenRouter: moderation',
    dialect: 'chat',
    status: 403,
    body: router(403, 'Input was flagged', { reasons: ['violence'], flagged_input: 'x' }),
    seen: unsuitable(403, 'content_policy_violation', '403', 'Input was flagged'),
  },
  {
    name: 'Voyage: the request, in one sentence',
    dialect: 'chat',
    status: 400,
    body: { detail: 'Model tiny is not supported.' },
    seen: unsuitable(400, 'invalid_request', null, 'Model tiny is not supported.'),
  },
  {
    name: 'DeepSeek: JSON of another content type',
    dialect: 'chat',
    status: 400,
    headers: { 'content-type': 'application/octet-stream' },
    body: openai("This model's maximum context length is 1000 tokens.", 'invalid_request_error', null),
    seen: unsuitable(
      400,
      'context_length_exceeded',
      'invalid_request_error',
      "This model's maximum context length is 1000 tokens.",
    ),
  },
]
