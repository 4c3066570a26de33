import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { filteredProviders } from './filtered-providers.ts'

/** What guardrails look for in what is answered, streamed and not, whoever speaks to whom. */

let gateway: Gateway
let logged = ''

const model = {
  context_length: 100_000,
  max_completion_tokens: 100,
  pricing: { prompt: '0.000001', completion: '0.000001' },
}
const MARK = '[REDACTED:email]'
/** As the provider says it, and as it is passed on. */
const WORDS = ['Write to an', 'n@site', '.exam', 'ple or call, pl', 'ease.']
const SAID = 'Write to ann@site.example or call, please.'
const CLEAN = `Write to ${MARK} or call, please.`

/** What is said, in pieces, in each dialect; `isOpen`: it goes on after them. */
const streams: Record<string, (words: readonly string[], isOpen: boolean) => string[]> = {
  '/chat/completions': (words, isOpen) => [
    ...words.map((content) => data({ id: 'c', choices: [{ index: 0, delta: { content } }] })),
    ...(isOpen
      ? []
      : [
          data({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: CHAT_USAGE }),
          DONE,
        ]),
  ],
  '/messages': (words, isOpen) => [
    named({ type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } }),
    named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...words.map((text) =>
      named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ),
    ...(isOpen
      ? []
      : [
          named({ type: 'content_block_stop', index: 0 }),
          named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
          named({ type: 'message_stop' }),
        ]),
  ],
  '/responses': (words, isOpen) => {
    const item = { type: 'message', id: 'i', role: 'assistant', status: 'completed' }
    const content = [{ type: 'output_text', text: words.join(''), annotations: [] }]
    const at = { output_index: 0, content_index: 0, item_id: 'i' }
    const response = { id: 'r', object: 'response', status: 'in_progress', output: [] }
    return [
      named({ type: 'response.created', response }),
      named({
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'in_progress', content: [] },
      }),
      ...words.map((delta) => named({ type: 'response.output_text.delta', ...at, delta })),
      ...(isOpen
        ? []
        : [
            named({ type: 'response.output_item.done', output_index: 0, item: { ...item, content } }),
            named({
              type: 'response.completed',
              response: { ...response, status: 'completed', output: [{ ...item, content }], usage: USAGE },
            }),
          ]),
    ]
  },
}
const USAGE = { input_tokens: 10, output_tokens: 2, total_tokens: 12 }
const CHAT_USAGE = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
const MESSAGE = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'x',
  usage: { input_tokens: 10, output_tokens: 2 },
}
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { type: string; [field: string]: unknown }): string =>
  `event: ${value.type}\n${data(value)}`
const DONE = 'data: [DONE]\n\n'

const bodies: Record<string, (text: string) => unknown> = {
  '/chat/completions': (content) => ({
    id: 'c',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: CHAT_USAGE,
  }),
  '/messages': (text) => ({ ...MESSAGE, content: [{ type: 'text', text }], stop_reason: 'end_turn' }),
  '/responses': (text) => ({
    id: 'r',
    object: 'response',
    status: 'completed',
    output: [
      {
        type: 'message',
        id: 'i',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    usage: USAGE,
  }),
}

/** Of the stream that does not end: the gateway has left it. */
let left = Promise.withResolvers<void>()
let isOpen = false
/** It ends in the midst. */
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

const ASKED: Record<string, object> = {
  '/chat/completions': { messages: [{ role: 'user', content: 'Whom to write to, bob@site.example?' }] },
  '/messages': { max_tokens: 50, messages: [{ role: 'user', content: 'Whom to write to?' }] },
  '/responses': { input: 'Whom to write to?' },
}

async function ask(key: string, path: string, more: object) {
  const response = await gateway.call(
    path,
    { ...ASKED[path], ...more },
    { authorization: `Bearer ${key}`, 'x-service-metadata': 'enabled' },
  )
  const text = await response.text()
  return { status: response.status, text, id: response.headers.get('x-generation-id') ?? '' }
}

/** What a caller of any dialect reads: the text, how it ended, and the routing metadata. */
function readOf(path: string, text: string) {
  const events = text.startsWith('{')
    ? [JSON.parse(text)]
    : text
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .map((line) => JSON.parse(line.slice(6)))
  const last = events.at(-1)
  if (path === '/chat/completions') {
    const choices = events.flatMap(({ choices: own }) => own)
    return {
      said: choices.map(({ delta, message }) => (delta ?? message).content ?? '').join(''),
      end: choices.findLast(({ finish_reason }) => finish_reason)?.finish_reason,
      metadata: last.service_metadata,
    }
  }
  if (path === '/messages') {
    const deltas = events.flatMap(({ delta }) => (delta?.text ? [delta.text] : []))
    const end = events.findLast(({ type }) => type === 'message_delta')?.delta
    return {
      said: last.content
        ? last.content.map((block: { text: string }) => block.text).join('')
        : deltas.join(''),
      end: (end ?? last).stop_reason,
      metadata: last.service_metadata,
    }
  }
  const whole = last.response ?? last
  const deltas = events.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : []))
  if (last.response) expect(deltas.join('')).toBe(whole.output_text)
  return {
    said: whole.output_text,
    end: whole.incomplete_details?.reason ?? whole.status,
    metadata: whole.service_metadata,
  }
}

const rowOf = async (id: string) => {
  await Bun.sleep(0)
  return gateway.generations().find((row) => row['id'] === id || row['generation_id'] === id) ?? {}
}

const ROWS = Object.keys(ASKED).flatMap((path) =>
  ['in-chat', 'in-messages', 'in-responses'].flatMap((to) =>
    [false, true].map((stream) => [path, to, stream ? 'streamed' : 'whole', stream] as const),
  ),
)
const ENDS: Record<string, readonly [whole: string, blocked: string]> = {
  '/chat/completions': ['stop', 'content_filter'],
  '/messages': ['end_turn', 'refusal'],
  '/responses': ['completed', 'content_filter'],
}

describe('redaction, whoever speaks to whom', () => {
  test.each(ROWS)('%s → %s, %s', async (path, to, _, stream) => {
    isOpen = false
    const key = await guarded(email('redact'))
    const { text, status, id } = await ask(key, path, { model: to, stream })
    expect(status).toBe(200)
    expect(text).not.toContain('@site')
    const { said, end, metadata } = readOf(path, text)
    expect([said, end]).toEqual([CLEAN, ENDS[path]?.[0]])
    const stage = {
      type: 'guardrail',
      name: 'content-filter',
      guardrail_id: expect.any(String),
      guardrail_scope: 'api-key',
      summary: 'email redacted once',
      data: { filters: [{ name: 'email', action: 'redact', count: 1 }], apply_to: 'output' },
    }
    expect(metadata.pipeline).toEqual([stage])
    const record = objectOf(JSON.parse((await ask2(key, `/generation?id=${id}`)).text)['data'])
    expect(record['guardrails']).toEqual([stage])
    // What the provider counted is what is paid.
    expect(await rowOf(id)).toMatchObject({
      tokens_completion: 2,
      usage_source: 'provider',
      finish_reason: 'stop',
    })
  })
})

async function ask2(key: string, path: string) {
  const response = await gateway.call(path, undefined, { authorization: `Bearer ${key}` })
  return { text: await response.text() }
}

describe('what is blocked ends the answer, and the provider is left', () => {
  test.each(ROWS)('%s → %s, %s', async (path, to, _, stream) => {
    isOpen = stream
    left = Promise.withResolvers<void>()
    const key = await guarded(email('block'))
    const { text, id } = await ask(key, path, { model: to, stream })
    if (stream) await left.promise
    expect(text).not.toContain('ann@')
    const { said, end, metadata } = readOf(path, text)
    expect([said, end]).toEqual(['Write to ', ENDS[path]?.[1]])
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

  test('and the ledger agrees', () => {
    expect(verifyLedger(gateway.deps.database, 'here').differences).toEqual([])
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })
})

test.each(ROWS.filter(([, , , stream]) => stream))(
  '%s → %s: what breaks off does not look finished',
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

test('what is set for what is asked alone says nothing of what is answered, and the other way round', async () => {
  isOpen = false
  const input = await guarded(email('redact', 'input'))
  expect((await ask(input, '/chat/completions', { model: 'in-chat' })).text).toContain('ann@site.example')
  const output = await guarded(email('block'))
  const both = await guarded(email('block', 'both'))
  const question = { model: 'in-chat', messages: [{ role: 'user', content: 'I am bob@site.example' }] }
  expect((await ask(output, '/chat/completions', question)).status).toBe(200)
  expect((await ask(both, '/chat/completions', question)).status).toBe(403)
})

test('both directions stand in the record, each by itself', async () => {
  const key = await guarded(email('redact', 'both'))
  const { text } = await ask(key, '/chat/completions', { model: 'in-chat', stream: true })
  const { pipeline } = readOf('/chat/completions', text).metadata
  expect(
    pipeline.map(({ summary, data: told }: { summary: string; data: object }) => [summary, told]),
  ).toEqual([
    ['email redacted once', { filters: [{ name: 'email', action: 'redact', count: 1 }] }],
    ['email redacted once', { filters: [{ name: 'email', action: 'redact', count: 1 }], apply_to: 'output' }],
  ])
})

test('a flag changes nothing and is told', async () => {
  const key = await guarded(email('flag'))
  const plain = await gateway.makeKey({})
  for (const [path, to, , stream] of ROWS) {
    const flagged = readOf(path, (await ask(key, path, { model: to, stream })).text)
    const direct = readOf(path, (await ask(plain.key, path, { model: to, stream })).text)
    expect([flagged.said, flagged.end]).toEqual([direct.said, direct.end])
    expect(flagged.said).toBe(SAID)
    expect(flagged.metadata.pipeline).toMatchObject([{ summary: 'email flagged' }])
  }
})

test('what is kept of a response is what its caller got, in the background too', async () => {
  const key = await guarded(email('redact'))
  for (const [to, more] of [
    ['in-responses', {}],
    ['in-chat', { stream: true }],
    ['in-messages', { background: true }],
  ] as const) {
    const { text } = await ask(key, '/responses', { model: to, store: true, ...more })
    const id = /"id":"(resp_[^"]+)"/.exec(text)?.[1]
    let kept = ''
    for (let tries = 0; tries < 200 && !kept.includes('"status":"completed"'); tries++) {
      kept = (await ask2(key, `/responses/${id}`)).text
      await Bun.sleep(5)
    }
    expect(JSON.parse(kept).output_text).toBe(CLEAN)
    expect(kept).not.toContain('@site')
  }
})

test('the text of a transcription', async () => {
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
  // The log says what the caller was told, and nothing of the text.
  const id = gateway.generations().at(-1)?.['id']
  const { data } = await (await gateway.manage('GET', `/generation/content?id=${id}`)).json()
  expect(data.output).toEqual({ completion: null, reasoning: null })
  expect(data.error).toMatchObject({ status: 403, message: JSON.parse(why).error.message })
})

test('nothing that was found stands in the log', () => {
  expect(logged).toContain('/chat/completions')
  for (const secret of ['ann@site', MARK]) expect(logged).not.toContain(secret)
})
