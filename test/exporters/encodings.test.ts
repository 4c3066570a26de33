import { describe, expect, test } from 'bun:test'
import { grafana } from '../../src/exporters/kinds/grafana.ts'
import { langfuse } from '../../src/exporters/kinds/langfuse.ts'
import { newrelic } from '../../src/exporters/kinds/newrelic.ts'
import { otelCollector } from '../../src/exporters/kinds/otel-collector.ts'
import type { ExportRecord } from '../../src/exporters/record.ts'
import { CONFIGS } from './configs.ts'
import { readTraces, replyBytes } from './otlp.ts'
import { contextFor, fullRecord } from './records.ts'

const context = contextFor({ endpoint: 'http://127.0.0.1:4318/' })
const inJson = {
  ...context,
  config: { ...context.config, headers: { 'X-Sluice-Encoding': 'json', 'X-Own': 'yes' } },
}

describe('both encodings', () => {
  const records = [
    fullRecord(),
    fullRecord({
      id: 'gen-2',
      truth: 'failed',
      error: { type: 'timeout', status: 504, message: 'No reply.' },
      cacheSourceId: 'gen-1',
      cacheSourceTraceId: '0af7651916cd43dd8448eb211c80319c',
    }),
  ]

  test('hold the same spans, which the official definitions know completely', async () => {
    const [protobuf, ...more] = await otelCollector.batchOf(records, context)
    const [json] = await otelCollector.batchOf(records, inJson)
    if (protobuf === undefined || json === undefined) throw new Error('no call')
    expect(more).toEqual([])
    expect(protobuf.headers).toEqual({ 'content-type': 'application/x-protobuf' })
    expect(json.headers).toEqual({ 'x-own': 'yes', 'content-type': 'application/json' })
    const read = readTraces(protobuf)
    expect(read.spans).toHaveLength(8)
    expect(readTraces(json)).toEqual(read)
    expect(read.resource).toEqual({
      'service.name': 'sluice',
      'service.version': '9.9.9',
      'service.instance.id': 'instance-1',
    })
  })

  test('write ids in hex and 64-bit numbers as text in JSON', async () => {
    const [call] = await otelCollector.batchOf([fullRecord()], inJson)
    const [span] = JSON.parse(String(call?.body)).resourceSpans[0].scopeSpans[0].spans
    expect(span.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/)
    expect(span.startTimeUnixNano).toBe('1795420800000000000')
    expect(span.attributes).toContainEqual({
      key: 'http.response.status_code',
      value: { intValue: '200' },
    })
  })
})

test('destinations that share a record get the bytes that each would get alone', async () => {
  const records = [fullRecord(), fullRecord({ id: 'gen-2', sessionId: null })]
  const encodings = new WeakMap<ExportRecord, Uint8Array>()
  const kinds = [otelCollector, langfuse, grafana, newrelic, langfuse, otelCollector]
  for (const kind of kinds) {
    const own = contextFor(CONFIGS[kind.type], { service: { version: kind.type, instanceId: 'own' } })
    const alone = await kind.batchOf(records, own)
    expect(await kind.batchOf(records, { ...own, encodings })).toEqual(alone)
  }
  expect(records.every((record) => encodings.has(record))).toBeTrue()
})

test('numbers that no integer of 64 bits holds, and those that JSON cannot write, do not spoil a batch', async () => {
  const parameters = { seed: 1e30, maxTokens: 2 ** 60, temperature: Number.POSITIVE_INFINITY }
  const records = [fullRecord({ parameters })]
  const calls = [
    ...(await otelCollector.batchOf(records, context)),
    ...(await otelCollector.batchOf(records, inJson)),
  ]
  expect(calls).toHaveLength(2)
  for (const call of calls) {
    expect(readTraces(call).spans[1]?.attributes).toMatchObject({
      'gen_ai.request.seed': 1e30,
      'gen_ai.request.max_tokens': 2 ** 60,
      'gen_ai.request.temperature': Number.POSITIVE_INFINITY,
    })
  }
})

describe('a reply of OTLP', () => {
  const meaningOf = (status: number, body: Uint8Array, headers: Record<string, string> = {}) =>
    otelCollector.meaningOf?.({ status, headers: new Headers(headers), body }, context)

  test('names what it rejected, in protobuf and JSON; its own message is not shown', () => {
    const sentence = 'answered 200: it rejected 3 spans'
    const bytes = replyBytes({ rejectedSpans: 3, errorMessage: 'canary' })
    expect(meaningOf(200, bytes)).toEqual({ outcome: 'accepted', rejectedSpans: 3, sentence })
    const json = new TextEncoder().encode('{"partialSuccess":{"rejectedSpans":"3","errorMessage":"canary"}}')
    expect(meaningOf(200, json, { 'content-type': 'application/json' })).toEqual({
      outcome: 'accepted',
      rejectedSpans: 3,
      sentence,
    })
  })

  test.each([
    ['empty', new Uint8Array()],
    ['a warning that rejects nothing', replyBytes({ errorMessage: 'canary' })],
    ['no protobuf', new TextEncoder().encode('<html>thank you</html>')],
    ['protobuf that is cut', replyBytes({ rejectedSpans: 300 }).slice(0, 3)],
  ])('that is %s is a success', (_, body) => {
    expect(meaningOf(200, body)).toEqual({ outcome: 'accepted' })
  })

  test.each([
    [401, {}, { outcome: 'unauthorized' }],
    [403, {}, { outcome: 'unauthorized' }],
    [404, {}, { outcome: 'unauthorized' }],
    [307, {}, { outcome: 'unauthorized' }],
    [413, {}, { outcome: 'too-large' }],
    [400, {}, { outcome: 'refused' }],
    [408, {}, { outcome: 'retry' }],
    [429, { 'retry-after': '17' }, { outcome: 'retry', afterMs: 17_000 }],
    [
      429,
      { 'retry-after': new Date(context.now + 30_000).toUTCString() },
      { outcome: 'retry', afterMs: 30_000 },
    ],
    [503, {}, { outcome: 'retry' }],
  ])('of %i with %p', (status, headers, meaning) => {
    expect(meaningOf(status, new Uint8Array(), headers)).toEqual({
      ...meaning,
      sentence: expect.stringContaining(`answered ${status}`),
    } as never)
  })
})
