import { expect, test } from 'bun:test'
import { unary } from '../upstream.ts'
import { chatBody, onlyRecord, startForExport } from './export-setup.ts'

/** An answer of the response cache names the generation that it repeats, and the trace of that. */

const { gateway, upstream, makeDestination, recordsAfter } = await startForExport()

const ask = async (fields: object, more: Record<string, string> = {}) =>
  onlyRecord(
    await recordsAfter(async () => {
      const headers = { 'x-openrouter-cache': 'true', ...more }
      const reply = await gateway.call('/chat/completions', chatBody(fields), headers)
      await reply.text()
    }),
  )

const TRACE = '0af7651916cd43dd8448eb211c80319c'

test.each([
  ['of its own', {}, {}],
  ['that the body of its request named', { trace: { trace_id: TRACE } }, {}],
  ['that a header of its request named', {}, { traceparent: `00-${TRACE}-b7ad6b7169203331-01` }],
])('a cached answer links to a source with a trace %s', async (_, fields, headers) => {
  await makeDestination()
  upstream.on('lab-tiny', unary('Hi'))
  const question = { messages: [{ role: 'user', content: crypto.randomUUID() }] }
  const source = await ask({ ...question, ...fields }, headers)
  const cached = await ask({ ...question, ...fields, trace: { trace_id: 'b'.repeat(32) } })
  expect(source).toMatchObject({ truth: 'complete', cacheSourceId: null, cacheSourceTraceId: null })
  expect(cached).toMatchObject({
    truth: 'cached',
    cacheSourceId: source.id,
    cacheSourceTraceId: source.trace.traceId,
  })
  expect(source.trace.traceId === TRACE).toBe(JSON.stringify([fields, headers]).includes(TRACE))
  expect(cached.trace.traceId).not.toBe(source.trace.traceId)
})
