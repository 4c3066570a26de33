import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../gateway.ts'
import { unary } from '../upstream.ts'

/**
 * What an endpoint refuses another one may serve: the caller sees an error only if none can, and then the most useful one.
 * Providers `one` and `two` have the model `shared`; `large` is another model, of `two` alone.
 */

type Answer = () => Response
const refused =
  (status: number, error: unknown, headers: Record<string, string> = {}) =>
  (): Response =>
    Response.json({ error }, { status, headers })
const plain = (message: string, code: string | null = null) => ({
  message,
  type: 'invalid_request_error',
  code,
})

let answers: Partial<Record<string, Answer>> = {}
/** `provider/model`, in the order of the calls. */
let called: string[] = []
let gateway: Gateway

const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const [, slug = ''] = new URL(request.url).pathname.split('/')
    const { model } = await request.clone().json()
    called.push(`${slug}/${model}`)
    const answer = answers[`${slug}/${model}`] ?? answers[slug]
    return answer?.() ?? unary('Hello')({ path: '', headers: request.headers, body: {} }, request)
  },
})

const entry = (slug: string, models: string[]) => ({
  slug,
  name: slug,
  dialect: 'chat',
  base_url: `http://127.0.0.1:${upstream.port}/${slug}/v1`,
  api_key: `secret-of-${slug}`,
  models: models.map((id) => ({ id, pricing: { prompt: '0.000001', completion: '0.000002' } })),
})

beforeAll(async () => {
  gateway = await startGateway({ providers: [entry('one', ['shared']), entry('two', ['shared', 'large'])] })
  gateway.deps.run.wait = async () => undefined
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})
beforeEach(() => {
  answers = {}
  called = []
  gateway.deps.run.health.forgetUnknown()
})

const ask = (more: Record<string, unknown> = {}, at = gateway) =>
  at.call('/chat/completions', {
    model: 'shared',
    provider: { order: ['one', 'two'] },
    messages: [{ role: 'user', content: 'Hello' }],
    ...more,
  })

const UNKNOWN_MODEL: [what: string, answer: Answer][] = [
  ['404 model_not_found', refused(404, plain('The model `shared` does not exist', 'model_not_found'))],
  ['404 with a sentence', refused(404, plain('Deployment shared not found'))],
  ["404 in Anthropic's words", refused(404, { type: 'not_found_error', message: 'model: shared' })],
  ['410', refused(410, { message: 'Gone' })],
]
const ENDPOINTS: [what: string, answer: Answer][] = [
  ['404 of something else', refused(404, plain('No such File object'))],
  ['405', refused(405, { message: 'Method Not Allowed' })],
  ['400 with the words of a 404', refused(400, plain("Invalid value: 'the model was not found'"))],
  ['413', refused(413, { message: 'Too large', type: 'request_too_large' })],
  ['422', refused(422, { message: 'Unprocessable' })],
  ['451', refused(451, { message: 'Unavailable For Legal Reasons' })],
  ['400 context length', refused(400, plain("This model's maximum context length is 10 tokens"))],
  [
    '400 unsupported parameter',
    refused(400, plain("Unsupported parameter: 'temperature'", 'unsupported_parameter')),
  ],
  ['400 no image input', refused(400, plain('tiny is not a multimodal model'))],
  ['400 moderation', refused(400, plain('No', 'content_filter'))],
  ['400 output bound', refused(400, plain('max_tokens must be less than or equal to 16'))],
  ['403 region', refused(403, plain('Not here', 'unsupported_country_region_territory'))],
  ['429 no flex capacity', refused(429, plain('Resource unavailable', 'resource_unavailable'))],
  ['498 no flex capacity', refused(498, plain('Flex tier capacity exceeded'))],
]

describe('another endpoint answers', () => {
  test.each(ENDPOINTS)('after %s, each time: it is no failure of the first one', async (_, answer) => {
    answers['one'] = answer
    for (let request = 0; request < 12; request++) {
      called = []
      const reply = await ask()
      expect([reply.status, called]).toEqual([200, ['one/shared', 'two/shared']])
      await reply.body?.cancel()
    }
  })

  test.each(UNKNOWN_MODEL)('after %s, and the first one rests', async (_, answer) => {
    answers['one'] = answer
    for (let request = 0; request < 3; request++) await (await ask()).body?.cancel()
    expect(called).toEqual(['one/shared', 'two/shared', 'two/shared', 'two/shared'])
  })

  test('20 of 20 requests without preferences, though one of two endpoints has no such model', async () => {
    answers['one'] = refused(404, plain('No such model', 'model_not_found'))
    for (let request = 0; request < 20; request++) {
      const reply = await ask({ provider: {} })
      expect(reply.status).toBe(200)
      await reply.body?.cancel()
    }
    expect(called.filter((place) => place === 'two/shared')).toHaveLength(20)
  })

  test('of the next model, after the context length or the moderation of every endpoint of the first', async () => {
    for (const error of [
      plain('prompt is too long: 9 tokens > 8 maximum'),
      plain('Flagged', 'content_filter'),
    ]) {
      called = []
      answers = { 'one/shared': refused(400, error), 'two/shared': refused(400, error) }
      const reply = await ask({ models: ['shared', 'large'], model: undefined })
      expect([reply.status, called]).toEqual([200, ['one/shared', 'two/shared', 'two/large']])
      expect((await reply.json()).model).toBe('large')
    }
  })
})

test('a mistake of the caller is sent once, whatever else could be called', async () => {
  answers['one'] = refused(400, plain("Invalid value: 'loud'", 'invalid_value'))
  const reply = await ask({ models: ['shared', 'large'], model: undefined })
  expect([reply.status, called]).toEqual([400, ['one/shared']])
  expect(reply.headers.get('x-should-retry')).toBe('false')
  expect((await reply.json()).error).toEqual({
    code: 400,
    message: "Invalid value: 'loud'",
    metadata: { error_type: 'invalid_request', provider_name: 'one', provider_code: 'invalid_value' },
  })
})

describe('if no endpoint is left, the caller gets the most useful refusal', () => {
  const long = refused(400, plain('prompt is too long: 9 tokens > 8 maximum'))
  const limited = refused(429, plain('Slow down'), { 'retry-after': '17' })
  const later = refused(429, plain('Slow down'), { 'retry-after': '60' })
  const unlimited = refused(429, plain('Slow down'))
  const busy = refused(529, plain('Overloaded'))
  const down = refused(500, plain('Oh'))
  const unknown = refused(404, plain('No such model', 'model_not_found'))
  const key = refused(401, plain('Bad key'))
  const rows: [what: string, answers: [Answer, Answer], status: number, provider: string, type: string][] = [
    ['about the request, before a server error', [long, down], 400, 'one', 'context_length_exceeded'],
    ['about the request, before a rate limit', [limited, long], 400, 'two', 'context_length_exceeded'],
    [
      'a rate limit with its end, before one without',
      [limited, unlimited],
      429,
      'one',
      'rate_limit_exceeded',
    ],
    ['the rate limit that ends first', [limited, later], 429, 'one', 'rate_limit_exceeded'],
    ['an overload, before a server error', [busy, down], 529, 'one', 'provider_overloaded'],
    ['a server error, before an unknown model', [down, unknown], 502, 'one', 'provider_unavailable'],
    ['an unknown model, before a rejected credential', [unknown, key], 404, 'one', 'not_found'],
    ['the last of two that are alike', [long, long], 400, 'two', 'context_length_exceeded'],
  ]
  test.each(rows)('%s', async (_, [first, second], status, provider, type) => {
    // A gateway of its own: credentials and cooldowns of the other rows do not count.
    const own = await startGateway({ providers: [entry('one', ['shared']), entry('two', ['shared'])] })
    own.deps.run.wait = async () => undefined
    answers = { one: first, two: second }
    const reply = await ask({}, own)
    const { error } = await reply.json()
    expect([reply.status, error.metadata.provider_name, error.metadata.error_type]).toEqual([
      status,
      provider,
      type,
    ])
    const others: { provider: string }[] = error.metadata.previous_errors
    expect(new Set(others.map((other) => other.provider))).toContain(provider === 'one' ? 'two' : 'one')
    expect(others).toHaveLength(called.length - 1)
    await own.stop()
  })

  test('a region or a route that is missing keeps the statuses that clients know', async () => {
    for (const [answer, status] of [
      [refused(451, { message: 'Not here' }), 403],
      [refused(405, { message: 'Not so' }), 404],
      [refused(429, plain('Request too large for tiny on tokens per min')), 413],
    ] as const) {
      answers = { one: answer, two: answer }
      const reply = await ask()
      expect([reply.status, reply.headers.get('x-should-retry')]).toEqual([status, 'false'])
      await reply.body?.cancel()
    }
  })
})

test('an empty account is not called again, for any of its models, and the log says why', async () => {
  const lines: string[] = []
  const own = await startGateway({
    providers: [entry('one', ['shared', 'other']), entry('two', ['shared', 'other'])],
    log: (line) => lines.push(line),
  })
  answers['one'] = refused(429, plain('You exceeded your current quota', 'insufficient_quota'))
  for (const model of ['shared', 'other']) {
    const reply = await ask({ model }, own)
    expect(reply.status).toBe(200)
    await reply.body?.cancel()
  }
  expect(called).toEqual(['one/shared', 'two/shared', 'two/other'])
  expect(lines.filter((line) => line.includes('Add credits at the provider'))).toHaveLength(1)
  await own.stop()
})

test('the caller does not see the accounts of the operator', async () => {
  const text =
    'No access to model x for org_01jp8byqwpfx9sp1, proj_AbCdEfGhIj, team 16f2151a-40f4-4a80-8ad0-cae00c27e8dd, ' +
    'projects/secret-lab/locations/eu, arn:aws:bedrock:eu-west-1:123456789012:profile/x'
  answers = { one: refused(404, plain(text)), two: refused(404, plain(text)) }
  const { error } = await (await ask()).json()
  expect(error.message).toBe(
    'No access to model x for …, …, team …, projects/…/locations/eu, arn:aws:bedrock:eu-west-1:…:profile/x',
  )
})
