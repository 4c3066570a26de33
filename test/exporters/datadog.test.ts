import { describe, expect, test } from 'bun:test'
import { fieldsOf, objectsIn } from '../../src/core/json.ts'
import { datadog } from '../../src/exporters/kinds/datadog.ts'
import { spanIdOf } from '../../src/exporters/span-ids.ts'
import { differencesOf, recordedCalls } from './comparison.ts'
import { contextFor, fullRecord } from './records.ts'

const context = contextFor({ apiKey: 'key', mlApp: 'support-bot', url: 'https://api.datadoghq.eu' })

async function sent(...records: Parameters<typeof datadog.batchOf>[0]) {
  const [call, ...more] = await datadog.batchOf(records, context)
  if (call === undefined || more.length > 0) throw new Error('not one call')
  const { data } = fieldsOf(JSON.parse(String(call.body)))
  const attributes = fieldsOf(fieldsOf(data)['attributes'])
  return { call, data: fieldsOf(data), attributes, spans: objectsIn(attributes['spans']) }
}

async function spanOf(changes: Parameters<typeof fullRecord>[0]) {
  const { spans } = await sent(fullRecord(changes))
  return spans[0] ?? {}
}

/** Tags by name, so that their order and number do not matter. */
const tagged = (span: Record<string, unknown>) => ({
  ...span,
  tags: Object.fromEntries(
    (Array.isArray(span['tags']) ? span['tags'] : []).map((tag) => String(tag).split(/:(.*)/s)),
  ),
})

/** What the vendor's tracer sends and we do not, and the other way round. */
const MEANT = {
  'other: trace_id': 'of the generation',
  'other: span_id': 'derives from the generation',
  'other: start_ns': 'theirs is the time of the recording',
  'other: duration': 'the same',
  'missing: _dd': 'ids of an APM span, which does not exist here, and the sampling of the tracer',
  'missing: tags.version': 'a tag of the whole request, as are the next three',
  'missing: tags.service': 'a tag of the whole request',
  'missing: tags.source': 'a tag of the whole request',
  'missing: tags.ml_app': 'a tag of the whole request',
  'missing: tags.env': 'the gateway does not know an environment',
  'missing: tags.ddtrace.version': 'no tracer of theirs is at work',
  'missing: tags.language': 'the same',
  'extra: meta.kind': 'the name of the HTTP API; the tracer writes span.kind, and so do we',
  'extra: meta.input.messages.3.tool_results': 'the HTTP API has them; the program does not know them',
  'extra: meta.output.messages.1': 'the reasoning comes first, as a message of its own',
  'other: meta.output.messages.0.role': 'the same',
  'other: meta.output.messages.0.content': 'the same',
  'extra: metrics.time_to_first_token': 'the HTTP API has it; the tracer measures it itself',
  'extra: metrics.total_cost': 'what was charged, where the vendor would estimate',
  'extra: metrics.input_cost': 'the same',
  'extra: metrics.output_cost': 'the same',
  ...Object.fromEntries(
    [
      'generation_id',
      'workspace',
      'provider',
      'model',
      'outcome',
      'finish_reason',
      'user_id',
      'api_key_name',
    ].map((name) => [`extra: tags.${name}`, 'to filter by']),
  ),
  ...Object.fromEntries(
    [
      'top_p',
      'top_k',
      'frequency_penalty',
      'presence_penalty',
      'seed',
      'reasoning_effort',
      'stream',
      'requested_model',
      'upstream_id',
      'service_tier',
      'data_region',
      'attempts',
    ].map((name) => [`extra: meta.metadata.${name}`, 'parameters of the request, and how it was served']),
  ),
  ...Object.fromEntries(
    ['team', 'release', 'retries', 'nested', 'trace_name'].map((name) => [
      `extra: meta.metadata.${name}`,
      'keys of `metadata` and `trace`',
    ]),
  ),
}

describe('spans for Datadog', () => {
  test('are those of its own tracer, but for what is meant', async () => {
    const { spans } = await sent(fullRecord())
    const [event] = objectsIn(recordedCalls('datadog')[0]?.body)
    const [theirs] = objectsIn(event?.['spans'])
    const differences = differencesOf(tagged(theirs ?? {}), tagged(spans[0] ?? {}))
    expect(differences.sort()).toEqual(Object.keys(MEANT).sort())
  })

  test('are in the envelope of the HTTP API', async () => {
    const { call, data, attributes } = await sent(fullRecord())
    expect([call.method, call.url, call.gzip]).toEqual([
      'POST',
      'https://api.datadoghq.eu/api/intake/llm-obs/v1/trace/spans',
      true,
    ])
    expect(call.headers).toEqual({ 'content-type': 'application/json', 'dd-api-key': 'key' })
    expect(data['type']).toBe('span')
    expect(attributes).toMatchObject({
      ml_app: 'support-bot',
      tags: ['service:sluice', 'version:9.9.9', 'ml_app:support-bot', 'source:sluice'],
    })
  })

  test('are roots, unless another generation made them; ids are decimal', async () => {
    const caller = { ...fullRecord().trace, parentSpanId: '00f067aa0ba902b7' }
    const root = await spanOf({ id: 'gen-1', trace: caller })
    expect(root['parent_id']).toBe('undefined')
    expect(fieldsOf(root['meta'])['metadata']).toMatchObject({ parent_span_id: '00f067aa0ba902b7' })
    expect(root['span_id']).toBe(BigInt(`0x${spanIdOf('gen-1', 'chat')}`).toString())
    const step = await spanOf({ id: 'gen-2', parent: { id: 'gen-1', kind: 'fusion.panel' } })
    expect(step['parent_id']).toBe(root['span_id'])
  })

  test('show the calls of an answer', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }
    const completion = JSON.stringify({ content: null, tool_calls: [call] })
    const span = await spanOf({
      content: { input: { prompt: 'Hi' }, output: { completion, reasoning: null }, tools: null },
    })
    const called = { tool_id: 'c1', name: 'weather', arguments: { city: 'Paris' }, type: 'function' }
    expect(fieldsOf(span['meta'])['output']).toEqual({
      messages: [{ role: 'assistant', content: '', tool_calls: [called] }],
    })
  })

  test('say when, to the millisecond', async () => {
    const { call } = await sent(fullRecord())
    expect(String(call.body)).toContain('"start_ns":1795420800000000000,"duration":1250000000,')
  })

  test('of a failure name its type; with privacy nothing else of it', async () => {
    const error = { type: 'timeout', status: 504, message: null }
    const span = await spanOf({ error, truth: 'failed', content: null, contentMissing: 'privacy' })
    expect(span).toMatchObject({
      status: 'error',
      meta: { input: {}, output: {}, error: { type: 'timeout', message: 'timeout' } },
    })
    expect(span['tags']).toContain('error_type:timeout')
  })

  test.each([
    ['embeddings', 'embedding', 'documents'],
    ['tool', 'tool', 'value'],
    ['rerank', 'retrieval', 'value'],
    ['messages', 'llm', 'messages'],
  ] as const)('of %s are of the kind %s', async (apiType, kind, member) => {
    const content = {
      input: { prompt: 'Paris' },
      output: { completion: 'x', reasoning: null },
      tools: null,
    }
    const span = await spanOf({ apiType, content })
    expect(span['meta']).toMatchObject({ kind, 'span.kind': kind, input: { [member]: expect.anything() } })
  })

  test('keep to the limits of the vendor: 5 MB, 24 hours', () => {
    expect(datadog.limits).toMatchObject({ bytes: 5_000_000, recordBytes: 5_000_000, oldestMs: 86_400_000 })
  })
})
