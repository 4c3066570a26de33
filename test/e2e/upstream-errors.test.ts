/**
 * The eleven shapes in which providers say that something is wrong, through each API: one envelope (Anthropic's form for
 * its clients) with the useful reason, the kind, the provider's code, and the right class for another endpoint to try.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ErrorType } from '../../src/core/errors.ts'
import type { DialectName, JsonObject } from '../../src/core/events.ts'
import { streamOf } from '../dialects/converse/frames.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { FIXTURES } from '../recordings.ts'
import { unary } from '../upstream.ts'

interface Row {
  readonly name: string
  readonly dialect: DialectName
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body: unknown
  /** What callers see. */
  readonly seen: {
    readonly status: number
    readonly type: ErrorType
    /** The provider's code; null: it is not told, or there is none. */
    readonly code: string | null
    /** The whole sentence. */
    readonly says: string
    readonly retryAfter?: string
  }
}

/** The caller's own doing: told as it is, and no other endpoint is tried. */
const caller = (status: number, type: ErrorType, code: string | null, says: string) => ({
  status,
  type,
  code,
  says,
})
/** Ours or the provider's: its text is not told, and another endpoint is tried. */
const refused = { status: 502, type: 'provider_unavailable', code: null } as const
const says = {
  refused: "Lab rejected this gateway's credential",
  limit: "Lab's rate limit is reached",
  failed: 'Lab answered with an error of its own',
  busy: 'Lab is overloaded',
  empty: "This gateway's account at Lab has no balance left: add credits there",
}
const credential = { ...refused, says: says.refused }
const limited = (code: string | null, retryAfter?: string) => ({
  status: 429,
  type: 'rate_limit_exceeded' as const,
  code,
  says: says.limit,
  ...(retryAfter === undefined ? {} : { retryAfter }),
})
const failed = (code: string | null) => ({ ...refused, code, says: says.failed })
const busy = (code: string | null) => ({
  status: 529,
  type: 'provider_overloaded' as const,
  code,
  says: says.busy,
})

const openai = (message: string, type: string | null, code: string | null, param: string | null = null) => ({
  error: { message, type, param, code },
})
const google = (code: number, status: string, message: string, details: unknown[] = []) => ({
  error: { code, message, status, details },
})
const anthropic = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011Lab',
})
const router = (code: number, message: string, metadata: JsonObject) => ({
  error: { code, message, metadata },
  user_id: 'user_lab',
})

const ROWS: readonly Row[] = [
  {
    name: 'OpenAI: a value that the model does not take',
    dialect: 'chat',
    status: 400,
    body: openai(
      "Unsupported value: 'temperature'",
      'invalid_request_error',
      'unsupported_value',
      'temperature',
    ),
    seen: caller(400, 'invalid_request', 'unsupported_value', "Unsupported value: 'temperature'"),
  },
  {
    name: 'OpenAI: too long',
    dialect: 'responses',
    status: 400,
    body: openai(
      'Your input exceeds the context window.',
      'invalid_request_error',
      'context_length_exceeded',
      'input',
    ),
    seen: caller(
      400,
      'context_length_exceeded',
      'context_length_exceeded',
      'Your input exceeds the context window.',
    ),
  },
  {
    name: 'OpenAI: a key that it does not know',
    dialect: 'responses',
    status: 401,
    body: openai('Incorrect API key provided: sk-lab-1.', 'invalid_request_error', 'invalid_api_key'),
    seen: credential,
  },
  {
    name: 'OpenAI: no quota',
    dialect: 'chat',
    status: 429,
    headers: { 'retry-after': '20' },
    body: openai('You exceeded your current quota.', 'insufficient_quota', 'insufficient_quota'),
    // No waiting helps, whatever the header says.
    seen: { ...limited('insufficient_quota', '20'), says: says.empty },
  },
  {
    name: 'DeepSeek: no balance',
    dialect: 'chat',
    status: 402,
    body: openai('Insufficient Balance', 'unknown_error', 'invalid_request_error'),
    seen: { ...refused, says: says.empty },
  },
  {
    name: 'Anthropic: no balance',
    dialect: 'messages',
    status: 402,
    body: anthropic('billing_error', 'Your account has no credits.'),
    seen: { ...refused, says: says.empty },
  },
  {
    name: 'OpenAI: its servers',
    dialect: 'chat',
    status: 500,
    body: openai('The server had an error.', 'server_error', null),
    seen: failed('server_error'),
  },
  {
    name: 'Azure: a key, and a code of digits in a string',
    dialect: 'chat',
    status: 401,
    body: { error: { code: '401', message: 'Access denied due to invalid subscription key.' } },
    seen: credential,
  },
  {
    name: 'Azure: its rate',
    dialect: 'chat',
    status: 429,
    body: { error: { code: 'RateLimitReached', message: 'Your requests have exceeded.', details: 'Yes.' } },
    seen: limited('RateLimitReached'),
  },
  {
    name: 'Azure: a filtered prompt',
    dialect: 'chat',
    status: 400,
    body: {
      error: {
        message: 'The prompt was filtered.',
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
        innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: {} },
      },
    },
    seen: caller(400, 'content_policy_violation', 'content_filter', 'The prompt was filtered.'),
  },
  {
    name: 'Anthropic: too long',
    dialect: 'messages',
    status: 400,
    body: anthropic('invalid_request_error', 'prompt is too long: 300000 tokens > 200000 maximum'),
    seen: caller(
      400,
      'context_length_exceeded',
      'invalid_request_error',
      'prompt is too long: 300000 tokens > 200000 maximum',
    ),
  },
  {
    name: 'Anthropic: no such model',
    dialect: 'messages',
    status: 404,
    body: anthropic('not_found_error', 'model: claude-lab'),
    seen: caller(404, 'not_found', 'not_found_error', 'model: claude-lab'),
  },
  {
    name: 'Anthropic: overloaded',
    dialect: 'messages',
    status: 529,
    body: anthropic('overloaded_error', 'Overloaded'),
    seen: busy('overloaded_error'),
  },
  {
    name: 'Anthropic: its servers',
    dialect: 'messages',
    status: 500,
    body: anthropic('api_error', 'Internal server error'),
    seen: failed('api_error'),
  },
  {
    name: 'Google: a key, with 400',
    dialect: 'gemini',
    status: 400,
    headers: { 'content-type': 'text/event-stream' },
    body: google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
    ]),
    seen: credential,
  },
  {
    name: 'Google: its rate, with the wait in the details',
    dialect: 'gemini',
    status: 429,
    body: google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' },
    ]),
    seen: limited('RESOURCE_EXHAUSTED', '35'),
  },
  {
    name: 'Google: in a list of one',
    dialect: 'gemini',
    status: 400,
    body: [google(400, 'INVALID_ARGUMENT', 'Please use a valid role: user, model.')],
    seen: caller(400, 'invalid_request', 'INVALID_ARGUMENT', 'Please use a valid role: user, model.'),
  },
  {
    name: 'Google: overloaded',
    dialect: 'gemini',
    status: 503,
    body: google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
    seen: busy('UNAVAILABLE'),
  },
  {
    name: 'Bedrock: the request, with its type in a header',
    dialect: 'converse',
    status: 400,
    headers: {
      'x-amzn-errortype': 'ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/',
    },
    body: { message: 'The provided model identifier is invalid.' },
    seen: caller(400, 'invalid_request', 'ValidationException', 'The provided model identifier is invalid.'),
  },
  {
    name: 'Bedrock: a signature',
    dialect: 'converse',
    status: 403,
    headers: { 'x-amzn-errortype': 'UnrecognizedClientException' },
    body: { message: 'The security token included in the request is invalid.' },
    seen: credential,
  },
  {
    name: 'Bedrock: its rate',
    dialect: 'converse',
    status: 429,
    headers: { 'x-amzn-errortype': 'ThrottlingException' },
    body: { message: 'Too many tokens, please wait before trying again.' },
    seen: limited('ThrottlingException'),
  },
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
    seen: caller(400, 'invalid_request', 'invalid_model', 'Invalid model: tiny'),
  },
  {
    name: 'Mistral: a field that it does not know',
    dialect: 'chat',
    status: 422,
    body: {
      detail: [{ type: 'extra_forbidden', loc: ['body', 'top_k'], msg: 'Extra inputs are not permitted' }],
    },
    seen: caller(422, 'unprocessable', null, 'body.top_k: Extra inputs are not permitted'),
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
    seen: caller(
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
    seen: caller(400, 'context_length_exceeded', 'TOO_MANY_TOKENS', 'too many tokens: size limit exceeded.'),
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
    seen: caller(400, 'context_length_exceeded', 'too_many_prompt_tokens', 'The messages are too long.'),
  },
  {
    name: 'OpenRouter: what its provider said, as JSON',
    dialect: 'chat',
    status: 400,
    body: router(400, 'Provider returned error', {
      provider_name: 'Google',
      raw: '{"error":{"message":"max_tokens is too large"}}',
    }),
    seen: caller(400, 'invalid_request', '400', 'max_tokens is too large'),
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
    seen: caller(403, 'content_policy_violation', '403', 'Input was flagged'),
  },
  {
    name: 'Voyage: the request, in one sentence',
    dialect: 'chat',
    status: 400,
    body: { detail: 'Model tiny is not supported.' },
    seen: caller(400, 'invalid_request', null, 'Model tiny is not supported.'),
  },
  {
    name: 'DeepSeek: JSON that says it is none',
    dialect: 'chat',
    status: 400,
    headers: { 'content-type': 'application/octet-stream' },
    body: openai("This model's maximum context length is 1000 tokens.", 'invalid_request_error', null),
    seen: caller(
      400,
      'context_length_exceeded',
      'invalid_request_error',
      "This model's maximum context length is 1000 tokens.",
    ),
  },
]

/** Replies with 200 that break off with an error after some words, as each provider says it. */
interface Broken {
  readonly file: string
  readonly dialect: DialectName
  readonly seen: Row['seen']
}
const BROKEN: readonly Broken[] = [
  {
    file: 'chat/groq-error-event.sse',
    dialect: 'chat',
    seen: caller(400, 'invalid_request', 'tool_use_failed', 'The model was told to ring a bell and did not'),
  },
  {
    file: 'chat/openrouter-late-error.sse',
    dialect: 'chat',
    seen: caller(400, 'invalid_request', '400', 'The bell broke'),
  },
  { file: 'messages/overloaded.sse', dialect: 'messages', seen: busy('overloaded_error') },
  { file: 'responses/failed.sse', dialect: 'responses', seen: limited('rate_limit_exceeded') },
  { file: 'responses/error-event.sse', dialect: 'responses', seen: failed('server_error') },
  { file: 'gemini/bare-error.sse', dialect: 'gemini', seen: failed('CANCELLED') },
  { file: 'converse/throttled.chunks.txt', dialect: 'converse', seen: limited('throttlingException') },
  { file: 'cohere/error-event.sse', dialect: 'cohere', seen: failed(null) },
]

function brokenReply({ file, dialect }: Broken): Response {
  const text = readFileSync(join(FIXTURES, file), 'utf8')
  if (dialect !== 'converse') return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const events = text.trim().split('\n')
  return new Response(streamOf(events.map((line) => JSON.parse(line))), {
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  })
}

const HI = [{ role: 'user', content: 'Hello' }]
const APIS = [
  { path: '/chat/completions', body: { messages: HI } },
  { path: '/responses', body: { input: 'Hello' } },
  { path: '/messages', body: { messages: HI, max_tokens: 100 } },
] as const

/** Anthropic's word for each kind. */
const WORDS: Partial<Record<ErrorType, string>> = {
  invalid_request: 'invalid_request_error',
  context_length_exceeded: 'invalid_request_error',
  content_policy_violation: 'invalid_request_error',
  unprocessable: 'invalid_request_error',
  not_found: 'not_found_error',
  rate_limit_exceeded: 'rate_limit_error',
  provider_unavailable: 'api_error',
  provider_overloaded: 'overloaded_error',
}

const cases = ROWS.flatMap((row, i) =>
  APIS.map((api, j) => ({ row, api, slug: `lab-${i}-${j}`, title: `${row.name}, by ${api.path}` })),
)
const isCallers = ({ seen: { type } }: Row): boolean => !/^provider_|^rate_/.test(type)

let gateway: Gateway
/** Which entries were asked, in order. */
let asked: string[] = []
const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const [, slug = ''] = new URL(request.url).pathname.split('/')
    asked.push(slug)
    const { row } = cases.find((each) => slug.startsWith(`${each.slug}-`)) ?? {}
    const broken = BROKEN[Number(/^broken-(\d+)$/.exec(slug)?.[1])]
    if (broken) return brokenReply(broken)
    if (row) return Response.json(row.body, { status: row.status, headers: row.headers ?? {} })
    return unary('Hello from elsewhere')({ path: '', headers: request.headers, body: {} }, request)
  },
})

beforeAll(async () => {
  const pricing = { prompt: '0.000001', completion: '0.000002' }
  const entry = (slug: string, dialect: DialectName, ids: string[]) => ({
    slug,
    name: slug === 'spare' ? 'Spare' : 'Lab',
    dialect,
    base_url: `http://127.0.0.1:${upstream.port}/${slug}/v1`,
    ...(dialect === 'converse'
      ? { aws: { region: 'us-west-2', access_key_id: 'AKIALAB', secret_access_key: 'secret-of-lab' } }
      : { api_key: `secret-of-${slug}` }),
    models: ids.map((id) => ({ id, pricing, max_completion_tokens: 1000 })),
  })
  gateway = await startGateway({
    providers: [
      // Each has an entry for itself: one that was refused is left alone for a while.
      ...cases.flatMap(({ row, slug }) =>
        ['whole', 'streamed', 'shared'].map((way) =>
          entry(`${slug}-${way}`, row.dialect, [`${slug}-${way}-model`]),
        ),
      ),
      ...BROKEN.map(({ dialect }, i) => entry(`broken-${i}`, dialect, [`broken-${i}-model`])),
      entry(
        'spare',
        'chat',
        cases.map(({ slug }) => `${slug}-shared-model`),
      ),
    ],
  })
  gateway.deps.run.wait = async () => undefined
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

function expectTold({ seen }: Row, path: string, told: JsonObject): void {
  const metadata = {
    error_type: seen.type,
    provider_name: 'Lab',
    ...(seen.code === null ? {} : { provider_code: seen.code }),
    // A failure of its own is given a second try.
    ...(seen.says === says.failed
      ? { previous_errors: [{ provider: 'Lab', code: seen.code, status: 500 }] }
      : {}),
  }
  if (path !== '/messages') {
    expect(told).toEqual({ error: { code: seen.status, message: seen.says, metadata } })
    return
  }
  expect(told).toEqual({
    type: 'error',
    error: { type: WORDS[seen.type], message: seen.says, error_type: seen.type, metadata },
    request_id: expect.stringMatching(/^req-/),
  })
}

/** The caller's own doing, a credential that is refused, an account without a balance. */
const isPermanent = ({ seen }: Row): boolean =>
  (seen.status < 500 && seen.status !== 429) || seen.says === says.refused || seen.says === says.empty

describe('one endpoint', () => {
  const ways = cases.flatMap((each) => [false, true].map((stream) => ({ ...each, stream })))
  test.each(ways.map((each) => [`${each.title}${each.stream ? ', streamed' : ''}`, each] as const))(
    '%s',
    async (_, { row, api, slug, stream }) => {
      const model = `${slug}-${stream ? 'streamed' : 'whole'}-model`
      const response = await gateway.call(api.path, { ...api.body, model, stream })
      expect(response.status).toBe(row.seen.status)
      expect(response.headers.get('retry-after')).toBe(row.seen.retryAfter ?? null)
      // SDKs obey it before their own rule, which sends a 502 again, and agents wait for minutes.
      expect(response.headers.get('x-should-retry')).toBe(isPermanent(row) ? 'false' : null)
      expectTold(row, api.path, await response.json())
      expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'error', cost_nano_usd: 0 })
    },
  )
})

describe('and another one', () => {
  test.each(cases.map((each) => [each.title, each] as const))('%s', async (_, { row, api, slug }) => {
    asked = []
    const response = await gateway.call(api.path, {
      ...api.body,
      model: `${slug}-shared-model`,
      provider: { order: [`${slug}-shared`, 'spare'] },
    })
    const text = await response.text()
    expect(asked[0]).toBe(`${slug}-shared`)
    expect(asked.includes('spare')).toBe(!isCallers(row))
    if (isCallers(row)) expectTold(row, api.path, JSON.parse(text))
    else expect([response.status, text]).toEqual([200, expect.stringContaining('Hello from elsewhere')])
  })
})

describe('in the midst of an answer', () => {
  const rows = BROKEN.flatMap((broken, i) =>
    APIS.map((api) => [broken.file, api.path, broken, api, i] as const),
  )
  test.each(rows)('%s, by %s', async (_, __, { seen }, api, i) => {
    const model = `broken-${i}-model`
    const response = await gateway.call(api.path, { ...api.body, model, stream: true })
    expect(response.status).toBe(200)
    const events = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
    const metadata = {
      error_type: seen.type,
      provider_name: 'Lab',
      ...(seen.code === null ? {} : { provider_code: seen.code }),
    }
    const last = (at: number): JsonObject => JSON.parse(events.at(at)?.slice('data: '.length) ?? '')
    if (api.path === '/chat/completions') {
      // Never a clean end after an error.
      expect(last(-1)).toMatchObject({
        error: { code: seen.status, message: seen.says, metadata },
        choices: [{ finish_reason: 'error' }],
      })
    } else if (api.path === '/responses') {
      expect(events.at(-1)).toBe('data: [DONE]')
      expect(last(-2)).toMatchObject({
        type: 'response.failed',
        response: { status: 'failed', error: { message: seen.says } },
      })
    } else {
      expect(last(-1)).toMatchObject({
        type: 'error',
        error: { type: WORDS[seen.type], message: seen.says, error_type: seen.type, metadata },
      })
    }
    expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'error', cancelled: 0 })
  })
})
