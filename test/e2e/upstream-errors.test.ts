import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ErrorType } from '../../src/core/errors.ts'
import type { DialectName, JsonObject } from '../../src/core/events.ts'
import { streamOf } from '../dialects/converse/frames.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { FIXTURES } from '../recordings.ts'
import { unary } from '../upstream.ts'

import { busy, caller, failed, limited, type Row, says } from './upstream-errors-expected.ts'
import { OWN_DIALECTS } from './upstream-errors-rows.ts'
import { VENDORS } from './upstream-errors-vendors.ts'

/** Errors of providers through each API: one envelope (Anthropic’s form for its clients) with the useful reason, the kind and the
 * provider’s code, and another endpoint is tried if that can help. */

const ROWS = [...OWN_DIALECTS, ...VENDORS]

/** Replies with 200 that break off with an error after some words, in the form of each provider. */
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

/** Anthropic's name of each kind. */
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
const isCallers = ({ seen }: Row): boolean => seen.isCallers === true

let gateway: Gateway
/** The entries that were called, in order. */
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
      // Each has an entry of its own: an entry that failed has a cooldown.
      ...cases.flatMap(({ row, slug }) =>
        ['complete', 'streamed', 'shared'].map((way) =>
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

function expectError({ seen }: Row, path: string, body: JsonObject): void {
  const metadata = {
    error_type: seen.type,
    provider_name: 'Lab',
    ...(seen.code === null ? {} : { provider_code: seen.code }),
    // A server error of the provider has a second attempt.
    ...(seen.says === says.failed
      ? { previous_errors: [{ provider: 'Lab', code: seen.code, status: 500 }] }
      : {}),
  }
  if (path !== '/messages') {
    expect(body).toEqual({ error: { code: seen.status, message: seen.says, metadata } })
    return
  }
  expect(body).toEqual({
    type: 'error',
    error: { type: WORDS[seen.type], message: seen.says, error_type: seen.type, metadata },
    request_id: expect.stringMatching(/^req-/),
  })
}

/** An error of the caller, a rejected credential or an account without a balance. */
const isPermanent = ({ seen }: Row): boolean =>
  (seen.status < 500 && seen.status !== 429) || seen.says === says.refused || seen.says === says.empty

describe('an error of the only endpoint reaches the caller', () => {
  const ways = cases.flatMap((each) => [false, true].map((stream) => ({ ...each, stream })))
  test.each(ways.map((each) => [`${each.title}${each.stream ? ', streamed' : ''}`, each] as const))(
    '%s',
    async (_, { row, api, slug, stream }) => {
      const model = `${slug}-${stream ? 'streamed' : 'complete'}-model`
      const response = await gateway.call(api.path, { ...api.body, model, stream })
      expect(response.status).toBe(row.seen.status)
      expect(response.headers.get('retry-after')).toBe(row.seen.retryAfter ?? null)
      // SDKs follow it instead of their own rule, which retries a 502, while agents wait for minutes.
      expect(response.headers.get('x-should-retry')).toBe(isPermanent(row) ? 'false' : null)
      expectError(row, api.path, await response.json())
      expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'error', cost_nano_usd: 0 })
    },
  )
})

describe('an error of the first of two endpoints leads to the second one, unless the caller made it', () => {
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
    if (isCallers(row)) expectError(row, api.path, JSON.parse(text))
    else expect([response.status, text]).toEqual([200, expect.stringContaining('Hello from elsewhere')])
  })
})

describe('an error within an answer ends the stream', () => {
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
