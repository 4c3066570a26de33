import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { DestinationType } from '../../src/exporters/destination-types.ts'
import type { BatchContext, DestinationCall } from '../../src/exporters/kind.ts'
import { KINDS } from '../../src/exporters/kinds/index.ts'
import { CONFIGS } from './configs.ts'
import { readTraces } from './otlp.ts'
import { contextFor, fullRecord } from './records.ts'

async function callOf(
  type: DestinationType,
  changes: Partial<BatchContext> = {},
  records = [fullRecord()],
): Promise<DestinationCall> {
  const context = contextFor(CONFIGS[type], changes)
  const [call, ...more] = (await KINDS[type]?.batchOf(records, context)) ?? []
  if (call === undefined || more.length > 0) throw new Error(`${more.length + 1} calls`)
  return call
}

describe('each kind of OTLP sends to its address with its credential', () => {
  test.each([
    [
      'arize',
      'https://otlp.arize.com/v1/traces',
      { space_id: 'space', api_key: 'ak', 'arize-space-id': 'space', 'arize-api-key': 'ak' },
    ],
    [
      'braintrust',
      'https://api.braintrust.dev/otel/v1/traces',
      { authorization: 'Bearer ak', 'x-bt-parent': 'project_id:p-1' },
    ],
    [
      'grafana',
      'https://otlp-gateway-prod-us-west-0.grafana.net/otlp/v1/traces',
      { authorization: `Basic ${btoa('7:glc')}` },
    ],
    [
      'langfuse',
      'https://us.cloud.langfuse.com/api/public/otel/v1/traces',
      { authorization: `Basic ${btoa('pk:sk')}`, 'x-langfuse-public-key': 'pk' },
    ],
    [
      'langsmith',
      'https://api.smith.langchain.com/otel/v1/traces',
      { 'x-api-key': 'ak', 'langsmith-project': 'main', 'x-tenant-id': 'w-1' },
    ],
    ['newrelic', 'https://otlp.eu01.nr-data.net/v1/traces', { 'api-key': 'lk' }],
    [
      'opik',
      'https://www.comet.com/opik/api/v1/private/otel/v1/traces',
      { authorization: 'ak', 'comet-workspace': 'team', projectname: 'my-project' },
    ],
    ['otel-collector', 'http://127.0.0.1:4318/v1/traces', {}],
    [
      'ramp',
      'https://api.ramp.com/developer/v1/ai-usage/openrouter/v1/traces',
      { authorization: 'Bearer ak' },
    ],
    [
      'sentry',
      'https://o1.ingest.sentry.io/api/2/integration/otlp/v1/traces',
      { 'x-sentry-auth': 'sentry sentry_key=public' },
    ],
    ['weave', 'https://trace.wandb.ai/otel/v1/traces', { 'wandb-api-key': 'ak' }],
  ] as const)('%s', async (type, url, headers) => {
    const call = await callOf(type)
    expect(call).toMatchObject({ url, method: 'POST', gzip: true })
    expect(call.headers).toEqual({ ...headers, 'content-type': 'application/x-protobuf' })
    const { spans } = readTraces(call)
    expect(spans.map(({ name }) => name)).toEqual([
      'answer a question',
      'chat openai/gpt-4.1',
      'attempt openai',
      'attempt azure',
    ])
  })

  test('headers of the operator replace its own, whatever their case; the encoding stays', async () => {
    const headers = { 'X-Api-Key': 'other', 'Content-Type': 'text/plain', 'x-more': '1' }
    const config = { fields: CONFIGS.langsmith, headers }
    expect((await callOf('langsmith', { config })).headers).toMatchObject({
      'x-api-key': 'other',
      'x-more': '1',
      'content-type': 'application/x-protobuf',
    })
  })

  test('the same records make the same bytes', async () => {
    for (const type of Object.keys(CONFIGS) as DestinationType[]) {
      if (KINDS[type] === undefined) continue
      const context = contextFor(CONFIGS[type])
      const twice = [await KINDS[type].batchOf([fullRecord()], context)]
      twice.push(await KINDS[type].batchOf([fullRecord()], context))
      expect(twice[1]).toEqual(twice[0] ?? [])
    }
  })
})

test('New Relic takes one megabyte, and its own region', async () => {
  expect(KINDS.newrelic?.limits.bytes).toBeLessThanOrEqual(1_000_000)
  const config = { fields: { licenseKey: 'lk', region: 'us' }, headers: null }
  expect((await callOf('newrelic', { config })).url).toBe('https://otlp.nr-data.net/v1/traces')
})

test('LangSmith gets a project that no header can carry in the attribute alone', async () => {
  const config = { fields: { ...CONFIGS.langsmith, project: '実験' }, headers: null }
  const call = await callOf('langsmith', { config })
  expect(call.headers).not.toHaveProperty('langsmith-project')
  for (const span of readTraces(call).spans.slice(0, 2)) {
    expect(span.attributes['langsmith.trace.session_name']).toBe('実験')
  }
})

test('Arize and Weave name their project in the resource', async () => {
  expect(readTraces(await callOf('arize')).resource).toMatchObject({
    'openinference.project.name': 'my-project',
    model_id: 'my-project',
  })
  expect(readTraces(await callOf('weave')).resource).toMatchObject({
    'wandb.entity': 'team',
    'wandb.project': 'my-project',
  })
})

describe('a webhook', () => {
  const secrets = [
    { secret: `whsec_${btoa('a'.repeat(32))}`, until: null },
    { secret: `whsec_${btoa('b'.repeat(32))}`, until: contextFor({}).now + 1 },
    { secret: `whsec_${btoa('c'.repeat(32))}`, until: contextFor({}).now },
  ]
  const signed = { config: { fields: CONFIGS.webhook, headers: null, signing: secrets } }

  test('is OTLP/JSON, as POST or PUT, without compression', async () => {
    const call = await callOf('webhook')
    expect(call).toMatchObject({ url: 'https://hooks.example/in', method: 'PUT', gzip: false })
    expect(call.headers).toEqual({ 'content-type': 'application/json' })
    expect(readTraces(call).spans).toHaveLength(4)
  })

  test('is signed with each secret that is valid, as Standard Webhooks says', async () => {
    const { headers, body } = await callOf('webhook', signed)
    const id = headers['webhook-id']
    expect(id).toMatch(/^msg_[0-9a-f]{32}$/)
    const timestamp = headers['webhook-timestamp']
    expect(timestamp).toBe(String(contextFor({}).now / 1000))
    const expected = ['a', 'b'].map((letter) =>
      createHmac('sha256', letter.repeat(32)).update(`${id}.${timestamp}.${body}`).digest('base64'),
    )
    expect(headers['webhook-signature']).toBe(`v1,${expected[0]} v1,${expected[1]}`)
  })

  test('has the same id when it is sent again, another with other events', async () => {
    const ids = [
      await callOf('webhook', signed),
      await callOf('webhook', { ...signed, now: 1_800_000_000_000, isRepeat: true, first: 1 }),
      await callOf('webhook', signed, [fullRecord({ id: 'gen-2' })]),
    ].map(({ headers }) => headers['webhook-id'])
    expect(ids[1]).toBe(String(ids[0]))
    expect(ids[2]).not.toBe(String(ids[0]))
  })
})
