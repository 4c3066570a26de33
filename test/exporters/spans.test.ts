import { describe, expect, test } from 'bun:test'
import { KINDS } from '../../src/exporters/kinds/index.ts'
import type { ExportRecord, ExportTruth } from '../../src/exporters/record.ts'
import { spanIdOf, traceIdOf } from '../../src/exporters/span-ids.ts'
import { type ReadTraces, readTraces } from './otlp.ts'
import { contextFor, fullRecord, STARTED_AT } from './records.ts'

async function spansOf(changes: Partial<ExportRecord> = {}): Promise<ReadTraces['spans']> {
  const context = contextFor({ endpoint: 'http://127.0.0.1:4318' })
  const [call] = (await KINDS['otel-collector']?.batchOf([fullRecord(changes)], context)) ?? []
  if (call === undefined) throw new Error('no call')
  return readTraces(call).spans
}
const trace = fullRecord().trace
const at = (ms: number): string => `${STARTED_AT + ms}000000`

describe('one generation', () => {
  test('is a trace: the request, the operation, its attempts', async () => {
    const [request, chat, failed, answered, ...more] = await spansOf()
    expect(more).toEqual([])
    const id = fullRecord().id
    expect([request, chat, failed, answered].map((span) => span?.traceId)).toEqual(
      Array(4).fill(traceIdOf(id)),
    )
    expect(request).toMatchObject({
      spanId: spanIdOf(id, 'request'),
      parentSpanId: '',
      kind: 'SPAN_KIND_SERVER',
      startTimeUnixNano: at(0),
      endTimeUnixNano: at(1_250),
      attributes: { 'http.request.method': 'POST', 'http.route': '/chat/completions' },
    })
    expect(chat).toMatchObject({
      spanId: spanIdOf(id, 'chat'),
      parentSpanId: spanIdOf(id, 'request'),
      kind: 'SPAN_KIND_CLIENT',
      name: 'chat openai/gpt-4.1',
    })
    expect(failed).toMatchObject({
      spanId: spanIdOf(id, 'attempt:0'),
      parentSpanId: spanIdOf(id, 'chat'),
      kind: 'SPAN_KIND_CLIENT',
      startTimeUnixNano: at(5),
      endTimeUnixNano: at(105),
      attributes: { 'error.type': 'rate_limited', 'http.response.status_code': 429, 'sluice.attempt': 1 },
      status: { code: 'STATUS_CODE_ERROR' },
    })
    expect(answered).toMatchObject({ attributes: { 'sluice.attempt': 2, 'sluice.fallback': true } })
    expect(answered?.attributes).not.toHaveProperty('error.type')
    const names = [failed, answered].flatMap((span) => Object.keys(span?.attributes ?? {}))
    expect(names.filter((name) => name.startsWith('gen_ai.'))).toEqual([])
  })

  test('has the attributes of the conventions', async () => {
    const [, chat] = await spansOf()
    expect(chat?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'azure.ai.openai',
      'gen_ai.request.model': 'openai/gpt-4.1',
      'gen_ai.request.max_tokens': 256,
      'gen_ai.request.temperature': 1,
      'gen_ai.request.top_p': 0.9,
      'gen_ai.request.top_k': 40,
      'gen_ai.request.frequency_penalty': 0.5,
      'gen_ai.request.presence_penalty': -0.5,
      'gen_ai.request.seed': 7,
      'gen_ai.request.stop_sequences': ['END', ''],
      'gen_ai.request.choice.count': 2,
      'gen_ai.request.stream': true,
      'gen_ai.output.type': 'json',
      'gen_ai.response.id': 'chatcmpl-1',
      'gen_ai.response.model': 'openai/gpt-4.1-mini',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.time_to_first_chunk': 0.45,
      'gen_ai.usage.input_tokens': 120,
      'gen_ai.usage.output_tokens': 34,
      'gen_ai.usage.cache_read.input_tokens': 64,
      'gen_ai.usage.cache_creation.input_tokens': 16,
      'gen_ai.usage.reasoning.output_tokens': 8,
      'gen_ai.conversation.id': 'session-1',
      'server.address': 'eu.models.example',
      'server.port': 8443,
      'user.id': 'user-1',
      'sluice.generation.id': fullRecord().id,
      'sluice.cost_usd': 0.000125,
      'sluice.cost.prompt_usd': 0.000075,
      'sluice.cost.completion_usd': 0.00005,
      'sluice.key.name': 'Nightly jobs',
      'sluice.workspace': 'Research',
      'sluice.truth': 'whole',
      'sluice.trace.release': '1.4',
      'sluice.trace.retries': 2,
      'sluice.trace.nested': '{"a":[1]}',
      'sluice.metadata.team': 'blue',
    })
  })

  test('has its content in the conventions’ schema, as JSON text', async () => {
    const [, chat] = await spansOf()
    const read = (name: string): unknown => JSON.parse(String(chat?.attributes[name]))
    expect(read('gen_ai.input.messages')).toMatchObject([
      { role: 'system' },
      { role: 'user', parts: [{ type: 'text', content: 'What is the weather in Paris?' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'call_1', arguments: { city: 'Paris' } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_1', response: 'rainy, 14 °C' }] },
    ])
    expect(read('gen_ai.output.messages')).toMatchObject([{ role: 'assistant', finish_reason: 'stop' }])
    expect(read('gen_ai.tool.definitions')).toEqual([
      { type: 'function', name: 'weather', parameters: { type: 'object' } },
    ])
    const [, beside] = await spansOf({ apiType: 'messages' })
    expect(JSON.parse(String(beside?.attributes['gen_ai.system_instructions']))).toEqual([
      { type: 'text', content: 'Answer briefly.' },
    ])
  })

  test('has an event for the fallback, the first chunk, a filter and a disconnect', async () => {
    const [, chat] = await spansOf({ truth: 'disconnected' })
    expect(chat?.events).toEqual([
      {
        name: 'sluice.fallback',
        timeUnixNano: at(110),
        attributes: {
          'sluice.fallback.from': 'openai/gpt-4.1',
          'sluice.fallback.to': 'azure/gpt-4.1-mini',
          'error.type': 'rate_limited',
        },
      },
      { name: 'sluice.first_chunk', timeUnixNano: at(450), attributes: {} },
      {
        name: 'sluice.filter',
        timeUnixNano: at(1_250),
        attributes: {
          'sluice.filter.filter': 'email',
          'sluice.filter.action': 'redact',
          'sluice.filter.count': 1,
        },
      },
      { name: 'sluice.cancel', timeUnixNano: at(1_250), attributes: {} },
    ])
  })

  test.each([
    ['complete', 'whole'],
    ['truncated', 'cut'],
    ['disconnected', 'left'],
    ['filtered', 'filtered'],
    ['estimated', 'estimated'],
    ['cached', 'cached'],
    ['failed', undefined],
  ] as [ExportTruth, string | undefined][])('that is %s has the truth %p', async (truth, value) => {
    const [, chat] = await spansOf({ truth })
    expect(chat?.attributes['sluice.truth']).toBe(value as never)
  })
})

test('a failed one has its type, and our sentence as the status', async () => {
  const error = { type: 'timeout', status: 504, message: 'The provider did not answer in time' }
  const [request, chat] = await spansOf({ truth: 'failed', error })
  for (const span of [request, chat]) {
    expect(span?.attributes['error.type']).toBe('timeout')
    expect(span?.status).toEqual({ code: 'STATUS_CODE_ERROR', message: error.message })
  }
  expect(request?.attributes['http.response.status_code']).toBe(504)
})

test('a cached answer links to the one that it repeats', async () => {
  const source = { cacheSourceId: 'gen-source', cacheSourceTraceId: traceIdOf('gen-source') }
  const [, chat] = await spansOf({ truth: 'cached', attempts: [], ...source })
  expect(chat?.links).toEqual([
    {
      traceId: traceIdOf('gen-source'),
      spanId: spanIdOf('gen-source', 'chat'),
      attributes: { 'sluice.link': 'cache', 'sluice.generation.id': 'gen-source' },
    },
  ])
})

test('a step is below the generation that it belongs to, without a request of its own', async () => {
  const [chat, ...attempts] = await spansOf({ parent: { id: 'gen-parent', kind: 'fusion.panel' } })
  expect(attempts).toHaveLength(2)
  expect(chat).toMatchObject({
    parentSpanId: spanIdOf('gen-parent', 'chat'),
    attributes: { 'sluice.step': 'fusion.panel', 'sluice.parent.generation.id': 'gen-parent' },
  })
})

describe('the trace of the caller', () => {
  test('is the parent, with its state and its names', async () => {
    const [request, chat] = await spansOf({
      trace: {
        ...trace,
        traceId: '0af7651916cd43dd8448eb211c80319c',
        parentSpanId: 'b7ad6b7169203331',
        traceState: 'vendor=1',
        spanName: 'my step',
        generationName: 'my generation',
        givenTraceId: 'order-7',
      },
    })
    expect(request).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      traceState: 'vendor=1',
      name: 'my step',
      attributes: { 'sluice.trace.id': 'order-7', 'sluice.trace.name': 'answer a question' },
    })
    expect(chat?.name).toBe('my generation')
  })

  test('names nothing: the route and the operation do', async () => {
    const [request, chat] = await spansOf({ trace: { ...trace, traceName: null }, apiType: 'gemini' })
    expect([request?.name, chat?.name]).toEqual(['POST /chat/completions', 'generate_content openai/gpt-4.1'])
  })
})
