import { describe, expect, test } from 'bun:test'
import { spanIdOf } from '../../src/exporters/span-ids.ts'
import { objectOf } from '../../src/http/json.ts'
import { streamed, unary } from '../upstream.ts'
import { chatBody, onlyRecord, startForExport } from './export-setup.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const traceparent = `00-${TRACE}-${SPAN}-01`
const RESPONSE = /^00-([0-9a-f]{32})-([0-9a-f]{16})-(00|01)$/

const lines: string[] = []
const traced = {
  slug: 'traced',
  dialect: 'chat',
  trace_context: true,
  models: [{ id: 'traced-model', pricing: { prompt: '0', completion: '0' } }],
}
const { gateway, upstream, makeDestination, recordsAfter } = await startForExport({
  more: [traced],
  log: (line) => lines.push(line),
})
upstream.on('lab-tiny', unary('Hi'))
upstream.on('traced-model', unary('Hi'))

const ask = (fields: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
  gateway.call('/chat/completions', chatBody(fields), headers)

const traceOf = (response: Response): string | undefined =>
  RESPONSE.exec(response.headers.get('traceresponse') ?? '')?.[1]

describe('traceresponse', () => {
  test('has the trace of the caller, on answers, streams and errors', async () => {
    upstream.on('spare-tiny', streamed(['Hi']))
    const headers = { traceparent }
    const responses = [
      await ask({}, headers),
      await ask({ stream: true, provider: { only: ['spare'] } }, headers),
      await ask({ model: 'lab/none' }, headers),
      await ask({ messages: 'wrong' }, headers),
      await ask({}, { ...headers, authorization: 'Bearer sk-wrong' }),
      await gateway.call('/embeddings', { model: 'lab/none', input: 'x' }, headers),
      await gateway.call('/responses', { model: 'lab/tiny', input: 'x' }, headers),
      await gateway.call('/messages', { ...chatBody(), max_tokens: 5 }, headers),
      await gateway.call('/messages/count_tokens', chatBody(), headers),
    ]
    for (const response of responses) await response.text()
    expect(responses.map(traceOf)).toEqual(responses.map(() => TRACE))
  })

  test('has a new trace without a header and with a malformed one, and that of the body before any', async () => {
    const none = await ask()
    expect(traceOf(none)).toBe(none.headers.get('x-request-id')?.slice('req-'.length) ?? '')
    for (const wrong of [`ff-${TRACE}-${SPAN}-01`, 'nonsense', `00-${'0'.repeat(32)}-${SPAN}-01`]) {
      const id = traceOf(await ask({}, { traceparent: wrong }))
      expect(id).toMatch(/^[0-9a-f]{32}$/)
      expect(id).not.toBe(TRACE)
    }
    const future = `cc-${TRACE}-${SPAN}-01-more`
    expect(traceOf(await ask({}, { traceparent: future }))).toBe(TRACE)
    const named = await ask({ trace: { trace_id: 'e'.repeat(32) } }, { traceparent })
    expect(traceOf(named)).toBe('e'.repeat(32))
  })

  test('can be read by pages, and names the span that destinations get', async () => {
    const destination = await makeDestination()
    let response = new Response()
    const record = onlyRecord(
      await recordsAfter(async () => {
        response = await ask({}, { traceparent, tracestate: 'vendor=1' })
      }),
    )
    const span = spanIdOf(record.id, 'request')
    expect(response.headers.get('traceresponse')).toBe(`00-${TRACE}-${span}-01`)
    expect(record.trace).toMatchObject({ traceId: TRACE, parentSpanId: SPAN, traceState: 'vendor=1' })
    // The body names another trace: the caller's span is of the other one.
    const other = onlyRecord(
      await recordsAfter(() => ask({ trace: { trace_id: 'e'.repeat(32) } }, { traceparent })),
    )
    expect(other.trace).toMatchObject({ traceId: 'e'.repeat(32), parentSpanId: null, traceState: null })
    await gateway.manage('DELETE', `/observability/destinations/${destination}`)
  })
})

describe('providers', () => {
  const sent = async (model: string, headers: Record<string, string>): Promise<Headers> => {
    await ask({ model }, headers)
    return upstream.seen.at(-1)?.headers ?? new Headers()
  }
  const headers = { traceparent, tracestate: 'vendor=1', baggage: 'secret=1' }

  test('are sent no trace, unless their entry says so, and never baggage', async () => {
    const usual = await sent('lab/tiny', headers)
    expect([usual.get('traceparent'), usual.get('tracestate'), usual.get('baggage')]).toEqual([
      null,
      null,
      null,
    ])
    const allowed = await sent('traced-model', headers)
    expect(allowed.get('traceparent')).toMatch(RESPONSE)
    expect(allowed.get('traceparent')).toStartWith(`00-${TRACE}-`)
    expect(allowed.get('traceparent')).not.toContain(SPAN)
    expect([allowed.get('tracestate'), allowed.get('baggage')]).toEqual(['vendor=1', null])
    const own = await sent('traced-model', {})
    expect(own.get('traceparent')).toMatch(RESPONSE)
    expect(own.get('tracestate')).toBeNull()
  })

  test('an entry of the API says so as well', async () => {
    const made = await gateway.manage('POST', '/providers/entries', {
      ...traced,
      slug: 'stored',
      base_url: upstream.baseUrl,
      models: [{ ...traced.models[0], id: 'stored-model' }],
    })
    expect([made.status, await made.text()]).toEqual([201, expect.any(String)])
    upstream.on('stored-model', unary('Hi'))
    expect((await sent('stored-model', headers)).get('traceparent')).toStartWith(`00-${TRACE}-`)
    await gateway.manage('PATCH', '/providers/entries/stored', { trace_context: false })
    expect((await sent('stored-model', headers)).get('traceparent')).toBeNull()
    const wrong = await gateway.manage('PATCH', '/providers/entries/stored', { trace_context: 'yes' })
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('trace_context')])
  })
})

describe('the log', () => {
  const linesOf = async (work: () => Promise<Response>): Promise<Record<string, unknown>[]> => {
    lines.length = 0
    const response = await work()
    await response.text()
    const id = response.headers.get('x-request-id')
    const read = lines.map((line): Record<string, unknown> => objectOf(JSON.parse(line)))
    return read.filter((line) => line['request_id'] === id)
  }

  test.each([
    ['an answer', () => ask({}, { traceparent })],
    ['a stream', () => ask({ stream: true, provider: { only: ['spare'] } }, { traceparent })],
    ['a refusal', () => ask({ model: 'none' }, { traceparent })],
    ['a wrong key', () => ask({}, { traceparent, authorization: 'Bearer sk-wrong' })],
    ['a call of administration', () => gateway.call('/models', undefined, { traceparent })],
  ])('has the trace in each line of %s', async (_, work) => {
    const written = await linesOf(work)
    expect(written.length).toBeGreaterThan(0)
    for (const line of written) expect(line['trace_id']).toBe(TRACE)
  })

  test('has the trace of the body in the line of its generation', async () => {
    const [line] = await linesOf(() => ask({ trace: { trace_id: 'f'.repeat(32) } }, { traceparent }))
    expect(line?.['trace_id']).toBe('f'.repeat(32))
  })
})
