import { beforeAll, expect, test } from 'bun:test'
import { METRIC_NAMES } from '../../src/metrics/store.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { MANAGEMENT_KEY } from '../gateway.ts'
import { type Family, readExposition, sampleText } from '../metrics/exposition.ts'
import { chunk, frames, sse, startUpstream, unary } from '../upstream.ts'
import { ask } from './replies.ts'

/** One session that touches everything, and what each metric shows of it afterwards. */

const PRICED = { pricing: { prompt: '0.000001', completion: '0.000002' } }
const upstream = startUpstream()
const modelsOf = (...ids: string[]) => ids.map((id) => ({ id, ...PRICED }))
const lines: string[] = []
const gateway = await gatewayOfFile(
  {
    listens: true,
    log: (line) => lines.push(line),
    environment: { SLUICE_METRICS_KEYS: 'on' },
    providers: [
      { slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models: modelsOf('good', 'cut', 'both') },
      { slug: 'spare', dialect: 'chat', base_url: `${upstream.baseUrl}/spare`, models: modelsOf('both') },
      { slug: 'broken', dialect: 'chat', base_url: 'http://127.0.0.1:1/v1', models: modelsOf('dead') },
    ],
  },
  upstream,
)

const scrape = async (accept: string): Promise<string> => {
  const headers = { authorization: `Bearer ${MANAGEMENT_KEY}`, accept }
  const response = await fetch(`${gateway.url}/metrics`, { headers })
  expect(response.status).toBe(200)
  return response.text()
}

const call = async (body: object, key?: string, more: Record<string, string> = {}): Promise<number> => {
  const headers = { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...more }
  const response = await gateway.call('/chat/completions', body, headers)
  await response.text()
  return response.status
}

let found: Map<string, Family>

beforeAll(async () => {
  upstream.on('good', ({ body }) =>
    body['stream'] === true ? sse(frames(['a', 'b'])) : unary('Hello')(...none),
  )
  upstream.on('cut', () => sse([chunk({ content: 'half' })]))
  upstream.on('both', ({ path }) =>
    path.includes('spare') ? unary('Hello')(...none) : new Response('{}', { status: 500 }),
  )
  const limited = await gateway.makeKey({ name: 'Poor', limit: 0.00000001, limit_reset: 'daily' })
  const guarded = await gateway.makeGuardedKey({ name: 'Strict', ignored_models: ['both'] })
  const filtered = await gateway.makeGuardedKey({
    content_filters: [{ pattern: 'forbidden', action: 'block', label: 'no-such-word' }],
  })
  const slow = await gateway.makeKey({
    name: 'Slow',
    rate_limits: { requests_per_minute: 1, tokens_per_minute: null, concurrent_requests: null, models: [] },
  })
  expect(await call(ask('good'))).toBe(200)
  expect(await call(ask('good', { stream: true }))).toBe(200)
  expect(await call(ask('cut', { stream: true }))).toBe(200)
  expect(await call(ask('both', { provider: { order: ['lab'] } }))).toBe(200)
  expect(await call(ask('dead'))).toBe(502)
  for (const _ of [1, 2]) expect(await call(ask('good', { seed: 1 }), undefined, CACHED)).toBe(200)
  expect(await call(ask('unheard-of'))).toBe(404)
  expect(await call(ask('good'), limited.key)).toBe(402)
  expect(await call(ask('both'), guarded.key)).toBe(403)
  expect(
    await call({ ...ask('good'), messages: [{ role: 'user', content: 'forbidden' }] }, filtered.key),
  ).toBe(403)
  expect([await call(ask('good'), slow.key), await call(ask('good'), slow.key)]).toEqual([200, 429])
  expect(await call(ask('good'), `sk-sl-v1-${'x'.repeat(49)}`)).toBe(401)
  found = readExposition(await scrape('text/plain'), 'prometheus')
})

const none: Parameters<ReturnType<typeof unary>> = [
  { path: '', headers: new Headers(), body: {} },
  new Request('http://x'),
]
const CACHED = { 'x-openrouter-cache': 'true' }
const GOOD = { workspace: 'default', model: 'good', provider: 'lab' }
const CHAT_GOOD = {
  gen_ai_operation_name: 'chat',
  gen_ai_provider_name: 'lab',
  gen_ai_request_model: 'good',
}

test('every metric is there, in both formats', async () => {
  expect([...found.keys()]).toEqual([...METRIC_NAMES])
  const open = readExposition(await scrape('application/openmetrics-text'), 'openmetrics')
  expect(open.size).toBe(METRIC_NAMES.length)
})

test.each<[name: string, labels: Record<string, string>, value: string]>([
  ['sluice_requests_total', { ...GOOD, outcome: 'ok' }, '4'],
  ['sluice_requests_total', { ...GOOD, outcome: 'cached' }, '1'],
  ['sluice_requests_total', { model: 'cut', outcome: 'truncated' }, '1'],
  ['sluice_requests_total', { model: 'dead', provider: 'broken', outcome: 'error' }, '1'],
  ['sluice_requests_total', { model: 'both', provider: 'spare', outcome: 'ok' }, '1'],
  ['sluice_requests_total', { workspace: 'default', model: 'other', outcome: 'refused' }, '1'],
  ['sluice_requests_total', { workspace: 'default', model: 'good', outcome: 'refused' }, '3'],
  // 10 prompt tokens and 5 of the answer, at 1 and 2 millionths of a dollar.
  ['sluice_cost_usd_total', { ...GOOD, outcome: 'ok' }, '0.00008'],
  ['sluice_cost_usd_total', { ...GOOD, outcome: 'cached' }, '0'],
  ['sluice_cost_saved_usd_total', { ...GOOD, outcome: 'cached' }, '0.00002'],
  ['sluice_key_requests_total', { key: 'Slow' }, '1'],
  ['sluice_key_cost_usd_total', { key: 'Slow' }, '0.00002'],
  ['gen_ai_client_operation_duration_seconds_count', CHAT_GOOD, '4'],
  [
    'gen_ai_client_operation_duration_seconds_count',
    { gen_ai_request_model: 'cut', error_type: 'truncated' },
    '1',
  ],
  [
    'gen_ai_client_operation_duration_seconds_count',
    { gen_ai_request_model: 'dead', error_type: 'connect' },
    '1',
  ],
  ['gen_ai_client_operation_time_to_first_chunk_seconds_count', CHAT_GOOD, '1'],
  ['gen_ai_client_token_usage_total', { ...CHAT_GOOD, gen_ai_token_type: 'input' }, '40'],
  ['gen_ai_client_token_usage_total', { ...CHAT_GOOD, gen_ai_token_type: 'output' }, '20'],
  ['gen_ai_client_token_usage_bucket', { ...CHAT_GOOD, gen_ai_token_type: 'output', le: '4.0' }, '0'],
  ['gen_ai_client_token_usage_bucket', { ...CHAT_GOOD, gen_ai_token_type: 'output', le: '16.0' }, '4'],
  ['gen_ai_client_token_usage_sum', { ...CHAT_GOOD, gen_ai_token_type: 'input' }, '40'],
  ['sluice_response_cache_hits_total', {}, '1'],
  ['sluice_filter_matches_total', { filter: 'no-such-word', action: 'block' }, '1'],
  ['sluice_refusals_total', { reason: 'model' }, '1'],
  ['sluice_refusals_total', { reason: 'key_limit' }, '1'],
  ['sluice_refusals_total', { reason: 'guardrail' }, '1'],
  ['sluice_refusals_total', { reason: 'filter' }, '1'],
  ['sluice_refusals_total', { reason: 'rate' }, '1'],
  ['sluice_refusals_total', { reason: 'auth' }, '1'],
  ['sluice_rate_limited_total', { limit: 'requests' }, '1'],
  ['sluice_overhead_seconds_count', { phase: 'before' }, '7'],
  ['sluice_overhead_seconds_count', { phase: 'after' }, '7'],
  ['sluice_attempts_total', { provider: 'lab', endpoint: 'lab/good', outcome: 'ok' }, '4'],
  ['sluice_attempts_total', { endpoint: 'lab/both', outcome: 'server' }, '1'],
  ['sluice_fallbacks_total', { provider: 'spare', endpoint: 'spare/both', outcome: 'ok' }, '1'],
  ['sluice_endpoint_state', { endpoint: 'lab/good' }, '0'],
  ['sluice_endpoint_in_flight', { endpoint: 'lab/good' }, '0'],
  ['sluice_in_flight', {}, '0'],
  ['sluice_held_usd', {}, '0'],
  ['sluice_budget_limit_usd', { scope: 'key', name: 'Poor', interval: 'daily' }, '0.00000001'],
  ['sluice_budget_used_usd', { scope: 'key', name: 'Poor', interval: 'daily' }, '0'],
  ['sluice_ledger_waiting', {}, '0'],
  ['sluice_ledger_writable', {}, '1'],
  ['sluice_content_log_dropped_total', {}, '0'],
  ['sluice_build_info', { bun: Bun.version }, '1'],
])('%s %p is %s', (name, labels, value) => expect(sampleText(found, name, labels)).toBe(value))

test.each([
  'sluice_ledger_commit_seconds_count',
  'sluice_db_bytes',
  'sluice_wal_bytes',
  'process_resident_memory_bytes',
  'process_cpu_seconds_total',
  'process_open_fds',
  'process_start_time_seconds',
])('%s is more than 0', (name) => expect(Number(sampleText(found, name))).toBeGreaterThan(0))

test('OpenMetrics names the generation of a slow request', async () => {
  const open = readExposition(await scrape('application/openmetrics-text'), 'openmetrics')
  const ids = new Set(gateway.generations().map(({ id }) => id))
  const exemplars = [...(open.get('gen_ai_client_operation_duration_seconds')?.samples ?? [])].flatMap(
    ({ exemplar }) => exemplar ?? [],
  )
  expect(exemplars.length).toBeGreaterThan(0)
  for (const { labels } of exemplars) expect(ids.has(labels['generation_id'])).toBe(true)
})

test('the line of a refused request names the model, the gate and the guardrail', () => {
  const refusals = lines.map((line) => JSON.parse(line)).filter(({ refused }) => refused !== undefined)
  expect(refusals.map(({ refused, model, gate, guardrail }) => [refused, model, gate, guardrail])).toEqual([
    ['model', 'unheard-of', undefined, undefined],
    ['key_limit', 'good', 'key daily', undefined],
    ['guardrail', 'both', undefined, 'Strict'],
    ['filter', 'good', undefined, 'Careful'],
    ['rate', 'good', 'requests', undefined],
    ['auth', undefined, undefined, undefined],
  ])
})
