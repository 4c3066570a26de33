import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { filteredProviders } from './filtered-providers.ts'

import { ASKED, bodies, CLEAN, MARK, readOf, SAID, streams, WORDS } from './output-filters-replies.ts'

/** Guardrails that filter answers, streamed and complete, in every pair of dialects. */

let gateway: Gateway
let logged = ''

const model = {
  context_length: 100_000,
  max_completion_tokens: 100,
  pricing: { prompt: '0.000001', completion: '0.000001' },
}

/** Resolves when the gateway closes the stream that does not end. */
let left = Promise.withResolvers<void>()
let isOpen = false
/** The stream ends before its last event. */
let isCut = false

const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const path = new URL(request.url).pathname.replace(/^\/v1/, '')
    if (path === '/audio/transcriptions') return Response.json({ text: SAID })
    const body = objectOf(JSON.parse(await request.text()))
    if (body['stream'] !== true) return Response.json(bodies[path]?.(SAID))
    const pieces = streams[path]?.(WORDS, isOpen || isCut) ?? []
    const stays = isOpen
    return new Response(
      new ReadableStream<string>({
        async pull(controller) {
          const piece = pieces.shift()
          if (piece !== undefined) controller.enqueue(piece)
          else if (!stays) controller.close()
          else await left.promise
        },
        cancel: () => left.resolve(),
      }),
      { headers: { 'content-type': 'text/event-stream' } },
    )
  },
})

beforeAll(async () => {
  gateway = await startGateway({
    log: (line) => {
      logged += line
    },
    providers: filteredProviders(`http://127.0.0.1:${upstream.port}/v1`, model),
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

const guarded = async (fields: object): Promise<string> => (await gateway.makeGuardedKey(fields)).key

const email = (action: string, apply_to = 'output') => ({
  content_filter_builtins: [{ slug: 'email', action, apply_to }],
})

async function ask(key: string, path: string, more: object) {
  const response = await gateway.call(
    path,
    { ...ASKED[path], ...more },
    { authorization: `Bearer ${key}`, 'x-service-metadata': 'enabled' },
  )
  const text = await response.text()
  return { status: response.status, text, id: response.headers.get('x-generation-id') ?? '' }
}

const rowOf = async (id: string) => {
  await Bun.sleep(0)
  return gateway.generations().find((row) => row['id'] === id || row['generation_id'] === id) ?? {}
}

const ROWS = Object.keys(ASKED).flatMap((path) =>
  ['in-chat', 'in-messages', 'in-responses'].flatMap((to) =>
    [false, true].map((stream) => [path, to, stream ? 'streamed' : 'complete', stream] as const),
  ),
)
const ENDS: Record<string, readonly [complete: string, blocked: string]> = {
  '/chat/completions': ['stop', 'content_filter'],
  '/messages': ['end_turn', 'refusal'],
  '/responses': ['completed', 'content_filter'],
}

describe('redaction in every pair of dialects', () => {
  test.each(ROWS)('%s → %s, %s', async (path, to, _, stream) => {
    isOpen = false
    const key = await guarded(email('redact'))
    const { text, status, id } = await ask(key, path, { model: to, stream })
    expect(status).toBe(200)
    expect(text).not.toContain('@site')
    const { delivered, end, metadata } = readOf(path, text)
    expect([delivered, end]).toEqual([CLEAN, ENDS[path]?.[0]])
    const stage = {
      type: 'guardrail',
      name: 'content-filter',
      guardrail_id: expect.any(String),
      guardrail_scope: 'api-key',
      summary: 'email redacted once',
      data: { filters: [{ name: 'email', action: 'redact', count: 1 }], apply_to: 'output' },
    }
    expect(metadata.pipeline).toEqual([stage])
    const record = objectOf(JSON.parse((await read(key, `/generation?id=${id}`)).text)['data'])
    expect(record['guardrails']).toEqual([stage])
    // The provider’s usage is charged.
    expect(await rowOf(id)).toMatchObject({
      tokens_completion: 2,
      usage_source: 'provider',
      finish_reason: 'stop',
    })
  })
})

async function read(key: string, path: string) {
  const response = await gateway.call(path, undefined, { authorization: `Bearer ${key}` })
  return { text: await response.text() }
}

describe('a blocked text ends the answer and the call of the provider', () => {
  test.each(ROWS)('%s → %s, %s', async (path, to, _, stream) => {
    isOpen = stream
    left = Promise.withResolvers<void>()
    const key = await guarded(email('block'))
    const { text, id } = await ask(key, path, { model: to, stream })
    if (stream) await left.promise
    expect(text).not.toContain('ann@')
    const { delivered, end, metadata } = readOf(path, text)
    expect([delivered, end]).toEqual(['Write to ', ENDS[path]?.[1]])
    expect(metadata.pipeline).toMatchObject([
      {
        summary: 'email blocked',
        data: { filters: [{ name: 'email', action: 'block' }], apply_to: 'output' },
      },
    ])
    const row = await rowOf(id)
    expect(row).toMatchObject({
      finish_reason: 'content_filter',
      usage_source: stream ? 'estimated' : 'provider',
      cancelled: 0,
    })
    expect(Number(row['cost_nano_usd'])).toBeGreaterThan(0)
  })

  test('and the ledger adds up', () => {
    expect(verifyLedger(gateway.deps.database, 'here').differences).toEqual([])
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })
})

test.each(ROWS.filter(([, , , stream]) => stream))(
  '%s → %s: an interrupted stream does not look finished',
  async (path, to) => {
    isOpen = false
    isCut = true
    const key = await guarded(email('redact'))
    const { text, id } = await ask(key, path, { model: to, stream: true })
    isCut = false
    expect(text).toContain(MARK)
    expect(text).toContain('ease.')
    expect(text).not.toContain('@site')
    expect(text).toMatch(/"finish_reason":"error"|event: error|event: response.failed/)
    expect(text).not.toMatch(/"finish_reason":"stop"|message_stop|event: response.completed/)
    expect(await rowOf(id)).toMatchObject({ finish_reason: 'error', usage_source: 'estimated' })
  },
)

test('a filter for input ignores output, and a filter for output ignores input', async () => {
  isOpen = false
  const input = await guarded(email('redact', 'input'))
  expect((await ask(input, '/chat/completions', { model: 'in-chat' })).text).toContain('ann@site.example')
  const output = await guarded(email('block'))
  const both = await guarded(email('block', 'both'))
  const question = { model: 'in-chat', messages: [{ role: 'user', content: 'I am bob@site.example' }] }
  expect((await ask(output, '/chat/completions', question)).status).toBe(200)
  expect((await ask(both, '/chat/completions', question)).status).toBe(403)
})

test('the record has a stage for each direction', async () => {
  const key = await guarded(email('redact', 'both'))
  const { text } = await ask(key, '/chat/completions', { model: 'in-chat', stream: true })
  const { pipeline } = readOf('/chat/completions', text).metadata
  expect(
    pipeline.map(({ summary, data: found }: { summary: string; data: object }) => [summary, found]),
  ).toEqual([
    ['email redacted once', { filters: [{ name: 'email', action: 'redact', count: 1 }] }],
    ['email redacted once', { filters: [{ name: 'email', action: 'redact', count: 1 }], apply_to: 'output' }],
  ])
})

test('a flag changes nothing and is in the metadata', async () => {
  const key = await guarded(email('flag'))
  const plain = await gateway.makeKey({})
  for (const [path, to, , stream] of ROWS) {
    const flagged = readOf(path, (await ask(key, path, { model: to, stream })).text)
    const direct = readOf(path, (await ask(plain.key, path, { model: to, stream })).text)
    expect([flagged.delivered, flagged.end]).toEqual([direct.delivered, direct.end])
    expect(flagged.delivered).toBe(SAID)
    expect(flagged.metadata.pipeline).toMatchObject([{ summary: 'email flagged' }])
  }
})

test('a stored response is redacted, in the background too', async () => {
  const key = await guarded(email('redact'))
  for (const [to, more] of [
    ['in-responses', {}],
    ['in-chat', { stream: true }],
    ['in-messages', { background: true }],
  ] as const) {
    const { text } = await ask(key, '/responses', { model: to, store: true, ...more })
    const id = /"id":"(resp_[^"]+)"/.exec(text)?.[1]
    let stored = ''
    for (let tries = 0; tries < 200 && !stored.includes('"status":"completed"'); tries++) {
      stored = (await read(key, `/responses/${id}`)).text
      await Bun.sleep(5)
    }
    expect(JSON.parse(stored).output_text).toBe(CLEAN)
    expect(stored).not.toContain('@site')
  }
})

test('the text of a transcription is filtered', async () => {
  const form = () => {
    const made = new FormData()
    made.set('model', 'in-chat')
    made.set('file', new Blob([new Uint8Array(64)], { type: 'audio/wav' }), 'a.wav')
    return made
  }
  const send = async (action: string) => {
    const key = await guarded(email(action))
    const response = await gateway.call('/audio/transcriptions', form(), { authorization: `Bearer ${key}` })
    return [response.status, await response.text()] as const
  }
  const [status, text] = await send('redact')
  expect([status, JSON.parse(text).text]).toEqual([200, CLEAN])
  const logging = (isOn: boolean) =>
    gateway.manage('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: isOn })
  await logging(true)
  const [refused, why] = await send('block')
  await logging(false)
  expect(refused).toBe(403)
  expect(why).not.toContain('ann@')
  // The logged contents have the caller’s error, and nothing of the text.
  const id = gateway.generations().at(-1)?.['id']
  const { data } = await (await gateway.manage('GET', `/generation/content?id=${id}`)).json()
  expect(data.output).toEqual({ completion: null, reasoning: null })
  expect(data.error).toMatchObject({ status: 403, message: JSON.parse(why).error.message })
})

test('no found text is in the log', () => {
  expect(logged).toContain('/chat/completions')
  for (const secret of ['ann@site', MARK]) expect(logged).not.toContain(secret)
})
