import { expect, test } from 'bun:test'
import { createIsGone, keyNamesOf } from '../../src/metrics/gone.ts'
import { createMetrics } from '../../src/metrics/store.ts'
import { runs } from '../exhaustive.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { MANAGEMENT_KEY } from '../gateway.ts'
import { readExposition } from '../metrics/exposition.ts'
import { startUpstream, unary } from '../upstream.ts'
import { ask } from './replies.ts'

/** What callers send never becomes a label, and what is deleted leaves. */

const upstream = startUpstream()
const pricing = { prompt: '0.000001', completion: '0.000002' }
const gateway = await gatewayOfFile(
  {
    listens: true,
    environment: { SLUICE_METRICS_KEYS: 'on' },
    providers: [
      {
        slug: 'lab',
        dialect: 'chat',
        base_url: upstream.baseUrl,
        api_key: 'canary-provider-key',
        models: ['m', 'echo'].map((id) => ({ id, pricing })),
      },
    ],
  },
  upstream,
)

const scrape = async (accept = 'text/plain'): Promise<string> => {
  const headers = { authorization: `Bearer ${MANAGEMENT_KEY}`, accept }
  return (await fetch(`${gateway.url}/metrics`, { headers })).text()
}

test('names of models that do not exist are one series', async () => {
  const count = runs(300, 20_000)
  const before = (await scrape()).split('\n').length
  for (let index = 0; index < count; index++) {
    const reply = await gateway.call('/chat/completions', ask(`attack/model-${index}`), {
      'x-title': `t-${index}`,
    })
    await reply.text()
  }
  const text = await scrape()
  expect(text).toContain(
    `sluice_requests_total{workspace="default",model="other",outcome="refused"} ${count}\n`,
  )
  expect(text).not.toContain('attack')
  // The refused requests, the reason, and nothing else.
  expect(text.split('\n').length - before).toBe(2)
}, 300_000)

test('canaries of prompt, answer, error, header, tool, label and key are in no scrape', async () => {
  const canary = (of: string): string => `canary-${of}-7f3a9`
  upstream.on('m', unary(canary('answer')))
  upstream.on('echo', () =>
    Response.json(
      { error: { message: canary('message'), code: canary('code'), type: canary('type') } },
      { status: 400 },
    ),
  )
  const body = {
    messages: [{ role: 'user', content: canary('prompt') }],
    tools: [{ type: 'function', function: { name: canary('tool'), parameters: {} } }],
    user: canary('user'),
    session_id: canary('session'),
    metadata: { [canary('tag')]: canary('value') },
  }
  const headers = {
    'x-title': canary('title'),
    'http-referer': `https://${canary('host')}.example`,
    'user-agent': canary('agent'),
  }
  const { key } = await gateway.makeKey({ name: 'A key' })
  for (const model of ['m', 'echo', canary('model')])
    await (
      await gateway.call(
        '/chat/completions',
        { ...ask(model), ...body },
        { ...headers, authorization: `Bearer ${key}` },
      )
    ).text()
  for (const accept of ['text/plain', 'application/openmetrics-text']) {
    const text = await scrape(accept)
    expect(text).toContain('key="A key"')
    expect(text).not.toContain('canary')
    expect(text).not.toContain(key)
    expect(text).not.toContain('sk-sl')
    expect(text).not.toContain(MANAGEMENT_KEY)
  }
})

test('an error of a provider has the status as its type, never the code of the provider', async () => {
  const families = readExposition(await scrape(), 'prometheus')
  const errors = families
    .get('gen_ai_client_operation_duration_seconds')
    ?.samples.map(({ labels }) => labels['error_type'])
  expect(new Set(errors)).toEqual(new Set([undefined, '400']))
})

test('series of a deleted key, workspace and model go after an hour; others stay', async () => {
  let now = 0
  const store = createMetrics({ mostSeries: 5_000, ofKeys: true, now: () => now })
  const { hash } = await gateway.makeKey({ name: 'Short-lived' })
  const add = (name: Parameters<typeof store.series>[0], values: string[]): void => {
    const series = store.series(name)
    series.add(series.place(values), 1)
  }
  add('sluice_key_requests_total', ['Short-lived'])
  add('sluice_key_requests_total', ['A key'])
  add('sluice_requests_total', ['default', 'm', 'lab', 'ok'])
  add('sluice_requests_total', ['default', 'other', '', 'refused'])
  add('sluice_requests_total', ['gone', 'm', 'lab', 'ok'])
  add('sluice_requests_total', ['default', 'gone', 'lab', 'ok'])
  add('sluice_requests_total', ['default', 'openrouter:web_search', 'exa', 'ok'])
  add('sluice_attempts_total', ['lab', 'lab/m', 'ok'])
  add('sluice_attempts_total', ['lab', 'lab/gone', 'ok'])
  expect((await gateway.manage('DELETE', `/keys/${hash}`)).status).toBe(200)
  for (const at of [1, 3_600_000, 3_600_002]) {
    now = at
    const snapshot = gateway.deps.snapshot.current()
    await store.sweep(createIsGone(snapshot, keyNamesOf(snapshot.keysByHash.values())))
  }
  const left = (
    ['sluice_key_requests_total', 'sluice_requests_total', 'sluice_attempts_total'] as const
  ).flatMap((name) => [...store.series(name).labelValues()].map((values) => values.join(' ')))
  expect(left).toEqual([
    'A key',
    'default m lab ok',
    'default other  refused',
    'default openrouter:web_search exa ok',
    'lab lab/m ok',
  ])
})
