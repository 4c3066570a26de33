import { expect, test } from 'bun:test'
import { unary } from '../upstream.ts'
import { chatBody, onlyRecord, startForExport } from './export-setup.ts'

/** An answer of the response cache names the generation that it repeats, and the trace of that. */

const { gateway, upstream, makeDestination, recordsAfter } = await startForExport()

const ask = async (fields: object) =>
  onlyRecord(
    await recordsAfter(async () => {
      const headers = { 'x-openrouter-cache': 'true' }
      const reply = await gateway.call('/chat/completions', chatBody(fields), headers)
      await reply.text()
    }),
  )

test.each([
  ['of its own', {}],
  ['that its caller named', { trace: { trace_id: '0af7651916cd43dd8448eb211c80319c' } }],
])('a cached answer has the trace %s', async (_, fields) => {
  await makeDestination()
  upstream.on('lab-tiny', unary('Hi'))
  const question = { messages: [{ role: 'user', content: crypto.randomUUID() }] }
  const source = await ask({ ...question, ...fields })
  const cached = await ask({ ...question, ...fields, trace: { trace_id: 'b'.repeat(32) } })
  expect(source).toMatchObject({ truth: 'complete', cacheSourceId: null, cacheSourceTraceId: null })
  expect(cached).toMatchObject({
    truth: 'cached',
    cacheSourceId: source.id,
    cacheSourceTraceId: source.trace.traceId,
  })
  expect(cached.trace.traceId).not.toBe(source.trace.traceId)
})
