import { describe, expect, test } from 'bun:test'
import type { ErrorType, UpstreamFailure } from '../../../src/core/errors.ts'
import { errorInReply, isErrorBody, readErrorReply } from '../../../src/dialects/read-error.ts'

interface Row {
  name: string
  status: number
  body: unknown
  kind: UpstreamFailure
  reason: string
  code?: string | null
  errorType?: ErrorType
  retryAfterMs?: number
  headers?: Record<string, string>
}

const openai = (message: string, type: string | null, code: string | null = null) => ({
  error: { message, type, param: null, code },
})

const rows: Row[] = [
  // The shapes.
  {
    name: 'OpenAI',
    status: 400,
    body: openai('Bad field', 'invalid_request_error', 'unknown_parameter'),
    kind: 'caller',
    reason: 'Bad field',
    code: 'unknown_parameter',
    errorType: 'invalid_request',
  },
  {
    name: 'Azure',
    status: 401,
    body: { error: { code: '401', message: 'Denied' } },
    kind: 'credential',
    reason: 'Denied',
    code: '401',
  },
  {
    name: 'Anthropic',
    status: 529,
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Busy' }, request_id: 'r' },
    kind: 'overloaded',
    reason: 'Busy',
    code: 'overloaded_error',
  },
  {
    name: 'Google',
    status: 503,
    body: { error: { code: 503, message: 'The model is overloaded', status: 'UNAVAILABLE' } },
    kind: 'overloaded',
    reason: 'The model is overloaded',
    code: 'UNAVAILABLE',
  },
  {
    name: 'Google in a list, with a delay',
    status: 429,
    body: [
      {
        error: {
          code: 429,
          message: 'Quota',
          status: 'RESOURCE_EXHAUSTED',
          details: [{ violations: [] }, { retryDelay: '34.4s' }],
        },
      },
    ],
    kind: 'rate-limit',
    reason: 'Quota',
    code: 'RESOURCE_EXHAUSTED',
    retryAfterMs: 34_400,
  },
  {
    name: 'Bedrock',
    status: 400,
    body: { message: 'The identifier is invalid' },
    kind: 'caller',
    reason: 'The identifier is invalid',
    code: null,
    errorType: 'invalid_request',
  },
  {
    name: 'Azure, a model that is not deployed there',
    status: 404,
    body: {
      error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' },
    },
    kind: 'server',
    reason: 'The API deployment for this resource does not exist.',
    code: 'DeploymentNotFound',
  },
  {
    name: 'Vertex, a model that this project has not',
    status: 404,
    body: {
      error: { code: 404, message: 'Publisher Model `projects/lab/x` was not found.', status: 'NOT_FOUND' },
    },
    kind: 'server',
    reason: 'Publisher Model `projects/lab/x` was not found.',
    code: 'NOT_FOUND',
  },
  {
    name: 'Azure, filtered',
    status: 400,
    body: {
      error: {
        message: 'The response was filtered due to the prompt.',
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
        innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: { hate: {} } },
      },
    },
    kind: 'caller',
    reason: 'The response was filtered due to the prompt.',
    code: 'content_filter',
    errorType: 'content_policy_violation',
  },
  {
    name: 'Mistral, in words',
    status: 401,
    body: { detail: 'Invalid API Key' },
    kind: 'credential',
    reason: 'Invalid API Key',
    code: null,
  },
  {
    name: 'Mistral, as an object',
    status: 400,
    body: { object: 'error', message: 'Bad', type: 'invalid_model', code: '1500' },
    kind: 'caller',
    reason: 'Bad',
    code: 'invalid_model',
    errorType: 'invalid_request',
  },
  {
    name: 'FastAPI',
    status: 422,
    body: { detail: [{ loc: ['body', 'n'], msg: 'too big' }, { loc: ['body'], msg: 'odd' }, 7] },
    kind: 'caller',
    reason: 'body.n: too big; body: odd',
    code: null,
    errorType: 'unprocessable',
  },
  {
    name: 'xAI, a bad key',
    status: 400,
    body: { code: 'invalid-argument', error: 'Incorrect API key provided.' },
    kind: 'credential',
    reason: 'Incorrect API key provided.',
    code: 'invalid-argument',
  },
  {
    name: 'xAI, the caller',
    status: 400,
    body: { code: 'invalid-argument', error: 'temperature is too high' },
    kind: 'caller',
    reason: 'temperature is too high',
    code: 'invalid-argument',
    errorType: 'invalid_request',
  },
  {
    name: "a caller's tool that is named like a key",
    status: 400,
    body: openai(
      "Invalid 'tools[0].function.name': 'get api_key' is missing a pattern",
      null,
      'invalid_value',
    ),
    kind: 'caller',
    reason: "Invalid 'tools[0].function.name': 'get api_key' is missing a pattern",
    code: 'invalid_value',
    errorType: 'invalid_request',
  },
  {
    name: 'Google, a bad key',
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'API key not valid. Please pass a valid API key.',
        status: 'INVALID_ARGUMENT',
      },
    },
    kind: 'credential',
    reason: 'API key not valid. Please pass a valid API key.',
    code: 'INVALID_ARGUMENT',
  },
  {
    name: 'Cohere',
    status: 400,
    body: { id: 'x', message: 'too many tokens: size limit exceeded', error_type: 'TOO_MANY_TOKENS' },
    kind: 'caller',
    reason: 'too many tokens: size limit exceeded',
    code: 'TOO_MANY_TOKENS',
    errorType: 'context_length_exceeded',
  },
  {
    name: 'Perplexity',
    status: 400,
    body: { error: { message: 'Too long.', type: 'too_many_prompt_tokens', code: 400 } },
    kind: 'caller',
    reason: 'Too long.',
    code: 'too_many_prompt_tokens',
    errorType: 'context_length_exceeded',
  },
  {
    name: 'OpenRouter, wrapping text',
    status: 429,
    body: {
      error: {
        code: 429,
        message: 'Provider returned error',
        metadata: { raw: 'busy upstream', provider_name: 'P' },
      },
    },
    kind: 'rate-limit',
    reason: 'busy upstream',
    code: '429',
  },
  {
    name: 'OpenRouter, wrapping JSON',
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'Provider returned error',
        metadata: { raw: '{"error":{"message":"n is too big"}}' },
      },
    },
    kind: 'caller',
    reason: 'n is too big',
    code: '400',
    errorType: 'invalid_request',
  },
  {
    name: 'OpenRouter, moderation',
    status: 403,
    body: {
      error: { code: 403, message: 'Flagged', metadata: { reasons: ['violence'], flagged_input: 'x' } },
    },
    kind: 'caller',
    reason: 'Flagged',
    code: '403',
    errorType: 'content_policy_violation',
  },
  {
    name: 'Ollama',
    status: 404,
    body: { error: 'model "x" not found' },
    kind: 'caller',
    reason: 'model "x" not found',
    code: null,
    errorType: 'not_found',
  },
  {
    name: 'Azure, a filtered prompt',
    status: 400,
    body: {
      error: {
        message: 'Filtered',
        code: 'content_filter',
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      },
    },
    kind: 'caller',
    reason: 'Filtered',
    code: 'content_filter',
    errorType: 'content_policy_violation',
  },
  {
    name: 'a list of errors',
    status: 400,
    body: { errors: [{ message: 'First' }, { message: 'Second' }] },
    kind: 'caller',
    reason: 'First',
    code: null,
    errorType: 'invalid_request',
  },
  {
    name: 'JSON under another content type',
    status: 400,
    body: openai('Bad', null),
    headers: { 'content-type': 'application/octet-stream' },
    kind: 'caller',
    reason: 'Bad',
    code: null,
    errorType: 'invalid_request',
  },
  // The statuses.
  {
    name: 'a redirect',
    status: 302,
    body: '',
    kind: 'connect',
    reason: 'the provider answered 302',
    code: null,
  },
  {
    name: 'no money',
    status: 402,
    body: openai('Insufficient balance', null),
    kind: 'credential',
    reason: 'Insufficient balance',
    code: null,
  },
  {
    name: 'forbidden',
    status: 403,
    body: openai('No access', 'permission_error'),
    kind: 'credential',
    reason: 'No access',
    code: 'permission_error',
  },
  {
    name: 'no such model',
    status: 404,
    body: openai('No such model', null, 'model_not_found'),
    kind: 'caller',
    reason: 'No such model',
    code: 'model_not_found',
    errorType: 'not_found',
  },
  {
    name: 'no such path: the address is wrong, not the request',
    status: 404,
    body: '404 page not found\n',
    kind: 'server',
    reason: '404 page not found',
    code: null,
  },
  {
    name: 'wrong method',
    status: 405,
    body: '<html><title>405 Not Allowed</title></html>',
    kind: 'server',
    reason: '405 Not Allowed',
    code: null,
  },
  {
    name: 'a timeout',
    status: 408,
    body: '',
    kind: 'server',
    reason: 'the provider answered 408',
    code: null,
  },
  {
    name: 'a conflict',
    status: 409,
    body: openai('Again', null),
    kind: 'server',
    reason: 'Again',
    code: null,
  },
  {
    name: 'too large',
    status: 413,
    body: '<html><body>big</body></html>',
    kind: 'caller',
    reason: 'a page of HTML',
    code: null,
    errorType: 'payload_too_large',
  },
  {
    name: 'too large for the context',
    status: 400,
    body: openai(
      "This model's maximum context length is 9 tokens",
      'invalid_request_error',
      'context_length_exceeded',
    ),
    kind: 'caller',
    reason: "This model's maximum context length is 9 tokens",
    code: 'context_length_exceeded',
    errorType: 'context_length_exceeded',
  },
  {
    name: 'a rate, with a wait',
    status: 429,
    body: openai('Slow', 'requests'),
    headers: { 'retry-after': '7' },
    kind: 'rate-limit',
    reason: 'Slow',
    code: 'requests',
    retryAfterMs: 7_000,
  },
  {
    name: 'a rate, with an unreadable wait',
    status: 429,
    body: openai('Slow', 'requests'),
    headers: { 'retry-after': 'soon' },
    kind: 'rate-limit',
    reason: 'Slow',
    code: 'requests',
    retryAfterMs: 60_000,
  },
  {
    name: "Groq's capacity",
    status: 498,
    body: openai('Flex', null),
    kind: 'overloaded',
    reason: 'Flex',
    code: null,
  },
  {
    name: 'an error of theirs',
    status: 500,
    body: 'Internal Server Error',
    kind: 'server',
    reason: 'Internal Server Error',
    code: null,
  },
  {
    name: 'a proxy of theirs',
    status: 502,
    body: '<html><head><title>502 Bad Gateway</title></head></html>',
    kind: 'server',
    reason: '502 Bad Gateway',
    code: null,
  },
  {
    name: 'unavailable',
    status: 503,
    body: openai('Down', 'server_error'),
    kind: 'server',
    reason: 'Down',
    code: 'server_error',
  },
  {
    name: 'unavailable for load',
    status: 503,
    body: openai('Busy', null, 'engine_overloaded'),
    kind: 'overloaded',
    reason: 'Busy',
    code: 'engine_overloaded',
  },
  {
    name: 'Cloudflare',
    status: 524,
    body: 'error code: 524',
    kind: 'server',
    reason: 'error code: 524',
    code: null,
  },
  {
    name: 'nothing at all',
    status: 400,
    body: '',
    kind: 'caller',
    reason: 'the provider answered 400',
    code: null,
    errorType: 'invalid_request',
  },
]

describe('error replies', () => {
  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
    const text = typeof row.body === 'string' ? row.body : JSON.stringify(row.body)
    const error = readErrorReply(row.status, new Headers(row.headers), text)
    expect({
      kind: error.kind,
      status: error.status,
      reason: error.reason,
      code: error.code,
      errorType: error.errorType,
      retryAfterMs: error.retryAfterMs,
    }).toEqual({
      kind: row.kind,
      status: row.status,
      reason: row.reason,
      code: row.code ?? null,
      errorType: row.errorType,
      retryAfterMs: row.retryAfterMs ?? null,
    })
  })

  test('a reason is never longer than a thousand characters, nor a code than a hundred', () => {
    const error = readErrorReply(
      400,
      new Headers(),
      JSON.stringify(openai('x'.repeat(50_000), null, 'y'.repeat(500))),
    )
    expect(error.reason.length).toBe(1_000)
    expect(error.code).toBeNull()
  })

  test.each([
    '{',
    'null',
    '7',
    '"text"',
    '[]',
    '[7]',
    '{"error":null}',
    '{"error":[]}',
    '{"error":{"message":{"a":1},"code":{}}}',
    '{"error":{"metadata":{"raw":"{}"}}}',
  ])('says something for %s', (text) => {
    expect(readErrorReply(500, new Headers(), text).reason).not.toBe('')
  })
})

describe('error objects inside a 200', () => {
  const inside: [name: string, body: unknown, kind: UpstreamFailure, status: number][] = [
    ['a status of its own', { error: { message: 'm', status_code: 400 } }, 'caller', 400],
    ['a code that is a status', { error: { message: 'm', code: 502 } }, 'server', 502],
    ['a code that is a status in words', { error: { message: 'm', code: '429' } }, 'rate-limit', 429],
    ['an overload', { type: 'error', error: { type: 'overloaded_error', message: 'm' } }, 'overloaded', 529],
    ['a rate', { error: { message: 'm', type: 'rate_limit_exceeded' } }, 'rate-limit', 429],
    ['a quota', openai('m', 'insufficient_quota', 'insufficient_quota'), 'rate-limit', 429],
    ['a bad key', openai('m', 'authentication_error'), 'credential', 401],
    ['a bad request', openai('m', 'invalid_request_error'), 'caller', 400],
    ['a filter', { error: { message: 'm', code: 'content_filter' } }, 'caller', 400],
    ['a moderation', { error: { message: 'm', metadata: { reasons: ['x'] } } }, 'caller', 200],
    ['an error of theirs', { error: { message: 'm', type: 'server_error' } }, 'server', 500],
    ['a word that nobody knows', { error: { message: 'm', type: 'sunk' } }, 'server', 200],
    ['text', { error: 'm' }, 'server', 200],
  ]
  test.each(inside)('%s', (_, body, kind, status) => {
    expect(isErrorBody(body)).toBe(true)
    const error = errorInReply(body, 200)
    expect([error.kind, error.status, error.reason]).toEqual([kind, status, 'm'])
  })

  test.each([
    [null],
    [{}],
    [{ error: null }],
    [{ error: {} }],
    [{ error: '' }],
    [{ error: false }],
    [{ choices: [], message: 'm' }],
    ['text'],
    [[]],
  ])('%p is none', (body) => {
    expect(isErrorBody(body)).toBe(false)
  })
})
