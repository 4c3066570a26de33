import { beforeAll, describe, expect, test } from 'bun:test'
import { streamed, unary } from '../upstream.ts'
import { chatBody, onlyRecord, startForExport } from './export-setup.ts'

/** From a request to the record that its destinations get, through the outbox. */

const { gateway, upstream, makeDestination, entries, lastPosition, recordsAfter, readRecords } =
  await startForExport()

const ask = async (fields: object = {}, headers: Record<string, string> = {}): Promise<string> => {
  const reply = await gateway.call('/chat/completions', chatBody(fields), headers)
  await reply.text()
  return reply.headers.get('x-generation-id') ?? ''
}

describe('the outbox', () => {
  test('is empty while the workspace has no destination, and while all are disabled', async () => {
    upstream.on('lab-tiny', unary('Hi'))
    await ask()
    const id = await makeDestination({ enabled: false })
    await ask()
    expect(entries()).toEqual([])
    await gateway.manage('PATCH', `/observability/destinations/${id}`, { enabled: true })
    const generationId = await ask()
    expect(entries().map((entry) => entry.generationId)).toEqual([generationId])
    const last = lastPosition()
    await gateway.manage('DELETE', `/observability/destinations/${id}`)
    await ask()
    expect(entries(last)).toEqual([])
  })

  test('is empty while the workspace has switched delivery off', async () => {
    const before = lastPosition()
    const id = await makeDestination()
    const workspaces = await (await gateway.manage('GET', '/workspaces')).json()
    const workspace = workspaces.data[0]
    expect(workspace.is_observability_broadcast_enabled).toBe(true)
    const path = `/workspaces/${workspace.id}`
    await gateway.manage('PATCH', path, { is_observability_broadcast_enabled: false })
    await ask()
    expect(entries(before)).toEqual([])
    await gateway.manage('PATCH', path, { is_observability_broadcast_enabled: true })
    await ask()
    expect(entries(before)).toHaveLength(1)
    await gateway.manage('DELETE', `/observability/destinations/${id}`)
  })

  test('has at most 400 bytes of a usual request', async () => {
    const id = await makeDestination()
    const before = lastPosition()
    const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
    await ask({ temperature: 0.7, top_p: 0.9, max_tokens: 200, seed: 7, stop: ['END'], tools: [tool] })
    const [entry] = entries(before)
    expect(JSON.stringify(entry?.note).length).toBeLessThanOrEqual(400)
    await gateway.manage('DELETE', `/observability/destinations/${id}`)
  })
})

describe('the record', () => {
  let destination: string
  beforeAll(async () => {
    destination = await makeDestination()
  })

  test('has what the request asked for and what its answer cost', async () => {
    upstream.on('lab-tiny', streamed(['Hel', 'lo']))
    const body = {
      stream: true,
      temperature: 0.5,
      max_tokens: 50,
      stop: ['END'],
      response_format: { type: 'json_object' },
      user: 'ada',
      session_id: 's-1',
      provider: { only: ['lab'] },
      metadata: { team: 'red' },
    }
    const headers = { 'http-referer': 'https://app.example/chat', 'x-title': 'App' }
    const record = onlyRecord(await recordsAfter(() => ask(body, headers)))
    const { startedAt, endedAt, cost, attempts } = record
    expect(record).toMatchObject({
      apiType: 'completions',
      route: '/chat/completions',
      streamed: true,
      model: 'lab/tiny',
      requestedModel: 'lab/tiny',
      provider: { slug: 'lab', host: new URL(upstream.baseUrl).host },
      parameters: { temperature: 0.5, maxTokens: 50, stop: ['END'], outputType: 'json' },
      usage: { promptTokens: 10, completionTokens: 5 },
      finishReason: 'stop',
      truth: 'complete',
      error: null,
      sessionId: 's-1',
      identity: { user: 'ada', keyName: expect.any(String), keyHash: expect.any(String) },
      requestContext: { origin: 'https://app.example', title: 'App' },
      metadata: { team: 'red' },
      parent: null,
      workspace: { name: 'Default' },
    })
    expect(record.identity?.keyName).not.toBe('')
    expect(cost).toEqual({
      totalNanoUsd: 20_000,
      promptNanoUsd: 10_000,
      completionNanoUsd: 10_000,
      cacheDiscountNanoUsd: null,
      isByok: false,
    })
    expect(attempts).toMatchObject([{ providerSlug: 'lab', status: 200, errorType: null }])
    expect(attempts[0]?.startedAt).toBeGreaterThanOrEqual(startedAt)
    expect(record.firstContentAt).toBeGreaterThanOrEqual(startedAt)
    expect(attempts[0]?.endedAt).toBe(endedAt)
  })

  test('has the trace that the body names, and hashes ids of another form', async () => {
    const traceId = 'AB'.repeat(16)
    const trace = { trace_id: traceId, parent_span_id: 'cd'.repeat(8), trace_name: 'T', extra: 1 }
    const named = onlyRecord(await recordsAfter(() => ask({ trace })))
    expect(named.trace).toEqual({
      traceId: traceId.toLowerCase(),
      parentSpanId: 'cd'.repeat(8),
      traceState: null,
      traceName: 'T',
      spanName: null,
      generationName: null,
      givenTraceId: null,
      extra: { extra: 1 },
    })
    const other = onlyRecord(
      await recordsAfter(() => ask({ trace: { trace_id: 'my trace', parent_span_id: '0'.repeat(16) } })),
    )
    expect(other.trace).toMatchObject({
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      parentSpanId: expect.stringMatching(/^(?!0{16})[0-9a-f]{16}$/),
      givenTraceId: 'my trace',
      extra: { parent_span_id: '0'.repeat(16) },
    })
    const none = onlyRecord(await recordsAfter(() => ask()))
    expect(none.trace.traceId).toBe(none.requestId.slice('req-'.length))
  })

  test('has each attempt with its times, and a word of ours for its failure', async () => {
    const failure = { error: { message: 'canary', code: 'canary-code' } }
    upstream.on('lab-tiny', () => Response.json(failure, { status: 500 }))
    upstream.on('spare-tiny', unary('Hi'))
    const order = { order: ['lab', 'spare'] }
    const record = onlyRecord(await recordsAfter(() => ask({ provider: order })))
    expect(record.attempts).toMatchObject([
      { providerSlug: 'lab', status: 500, errorType: 'server' },
      { providerSlug: 'spare', status: 200, errorType: null },
    ])
    expect(record.provider.slug).toBe('spare')
    const [first, second] = record.attempts
    expect(second?.startedAt).toBeGreaterThanOrEqual(first?.endedAt ?? Number.NaN)
    upstream.on('spare-tiny', () => Response.json(failure, { status: 429 }))
    const failed = onlyRecord(await recordsAfter(() => ask({ provider: order })))
    expect(failed).toMatchObject({ truth: 'failed', firstContentAt: null, cost: { totalNanoUsd: 0 } })
    expect(failed.error?.type).toMatch(/^(?:server|rate-limit)$/)
    expect(JSON.stringify([record, failed])).not.toContain('canary')
  })

  test('withholds what the destination may not have', async () => {
    upstream.on('lab-tiny', unary('Hi'))
    const withheld = { privacyMode: true, cost: false, identity: false, requestContext: false }
    const record = onlyRecord(await recordsAfter(() => ask({ user: 'ada', stop: ['END'] }), withheld))
    expect(record).toMatchObject({
      cost: null,
      identity: null,
      requestContext: null,
      parameters: {},
      content: null,
      contentMissing: 'privacy',
    })
    expect(JSON.stringify(record)).not.toContain('END')
  })

  test('is one for destinations with the same settings, and another for others', async () => {
    const after = lastPosition()
    await ask({ user: 'ada' })
    const withheld = { privacyMode: true, cost: false, identity: false }
    const read = async (settings: object) => onlyRecord(await readRecords(entries(after), settings))
    const [first, other, again] = [
      await read(withheld),
      await read({ privacyMode: true }),
      await read(withheld),
    ]
    expect(again).toBe(first)
    expect([first.cost, first.identity]).toEqual([null, null])
    expect(other).toMatchObject({ cost: {}, identity: { user: 'ada' } })
    expect(await readRecords(entries(after), { ...withheld, regions: ['europe'] })).toEqual([null])
  })

  test('is not there for another workspace, other keys, other regions, and beyond the sample', async () => {
    const read = (settings: object) => recordsAfter(() => ask(), settings)
    expect(await read({ workspaceId: crypto.randomUUID() })).toEqual([null])
    expect(await read({ apiKeyHashes: ['0'.repeat(64)] })).toEqual([null])
    expect(await read({ regions: ['europe'] })).toEqual([null])
    expect(await read({ samplingRate: 0 })).toEqual([null])
  })

  test('is gone once the row was pruned', async () => {
    const outcomes = await recordsAfter(async () => {
      const id = await ask()
      gateway.database.file.run('UPDATE generations SET id = ? WHERE id = ?', [`${id}x`, id])
    })
    expect(outcomes).toEqual(['gone'])
    await gateway.manage('DELETE', `/observability/destinations/${destination}`)
  })
})
