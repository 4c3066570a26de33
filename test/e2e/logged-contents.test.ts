/** What workspaces log of their generations, on every route, as GET /generation/content tells it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { usedBytes } from '../../src/bodies/room.ts'
import { isSampled } from '../../src/core/generation-content.ts'
import { objectOf } from '../../src/http/json.ts'
import { startUpkeep } from '../../src/server/upkeep.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { chunk, frames, paced, sse, unary } from '../upstream.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const SOUND = 'a sound'
const CALL = { index: 0, id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{"at":' } }

let gateway: Gateway
let logged: string[] = []
let sent = 0
const ask = { content: 'Hi' }

/** What the provider says to a model of chat. */
const answers: Record<string, () => Response | Promise<Response>> = {
  tiny: () => unary('High.')({ path: '', headers: new Headers(), body: {} }, new Request('http://x')),
  stream: () => sse(frames(['High', ' tide.'])),
  thinks: () =>
    sse([
      chunk({ role: 'assistant', reasoning_content: 'Moon' }),
      chunk({ reasoning_content: ' high.' }),
      ...frames(['High.']).slice(1),
    ]),
  calls: () =>
    sse([
      chunk({ role: 'assistant', content: 'Let me see.' }),
      chunk({ tool_calls: [CALL] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
      chunk({}, 'tool_calls'),
    ]),
  twice: () =>
    Response.json({
      id: 'c',
      model: 'm',
      choices: ['High.', 'Low.'].map((content, index) => ({
        index,
        message: { role: 'assistant', content },
        finish_reason: 'stop',
      })),
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    }),
  cut: () => sse(frames(['High', ' tide.']).slice(0, 2)),
  hangs: () => paced(frames(['High', ' tide.']).slice(0, 2), 'hang'),
  refuses: () => Response.json({ error: { message: 'the text is too long' } }, { status: 400 }),
  breaks: () => Response.json({ error: { message: 'a private text' } }, { status: 500 }),
}
const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 60,
  error: () => new Response(null, { status: 500 }),
  async fetch(request) {
    sent += 1
    const path = new URL(request.url).pathname.replace('/v1', '')
    const text = await request.text()
    if (path === '/chat/completions') {
      const { model } = objectOf(JSON.parse(text))
      return answers[String(model)]?.() ?? new Response(null, { status: 404 })
    }
    if (path === '/embeddings')
      return Response.json({
        data: [{ index: 0, embedding: [0.5, 1] }],
        usage: { prompt_tokens: 3, total_tokens: 3 },
      })
    if (path === '/rerank')
      return Response.json({
        results: [0.25, 0.5].map((relevance_score, index) => ({ index, relevance_score })),
        usage: { total_tokens: 7 },
      })
    if (path === '/images/generations') return Response.json({ created: 1, data: [{ b64_json: PIXEL }] })
    if (path === '/audio/speech') return new Response(SOUND, { headers: { 'content-type': 'audio/mpeg' } })
    return Response.json({ text: 'High.', usage: { type: 'duration', seconds: 2 } })
  },
})

const pricing = { prompt: '0.000001', completion: '0.000002', image: '0.01', audio_second: '0.0001' }
const modal = (id: string, input: string, output: string) => ({
  id,
  pricing: { ...pricing, ...(output === 'speech' ? { input_character: '0.00001' } : {}) },
  architecture: { input_modalities: [input], output_modalities: [output] },
})
const provider = (slug: string, models: unknown[]) => ({
  slug,
  name: slug === 'lab' ? 'Lab' : 'Spare',
  dialect: 'chat',
  base_url: `http://127.0.0.1:${upstream.port}/v1`,
  models,
})

async function logging(change: Record<string, unknown>): Promise<void> {
  const response = await gateway.manage('PATCH', '/workspaces/default', change)
  expect(response.status).toBe(200)
}
const ON = {
  is_observability_io_logging_enabled: true,
  io_logging_sampling_rate: 1,
  io_logging_api_key_ids: null,
}

beforeAll(async () => {
  gateway = await startGateway({
    listens: true,
    log: (line) => logged.push(line),
    providers: [
      provider('lab', [
        ...Object.keys(answers).map((id) => ({ id, pricing })),
        modal('vectors', 'text', 'embeddings'),
        modal('judge', 'text', 'rerank'),
        modal('paint', 'text', 'image'),
        modal('voice', 'text', 'speech'),
        modal('ears', 'audio', 'transcription'),
      ]),
      provider('spare', [{ id: 'breaks', pricing: { prompt: '1', completion: '1' } }]),
    ],
  })
  gateway.deps.run.wait = async () => undefined
  await logging(ON)
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

/** Reads the answer to its end; then what is known of it. */
async function said(path: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await gateway.call(path, body)
  const reply = await response.text()
  const id = response.headers.get('x-generation-id')
  if (id === null) throw new Error(reply)
  return contentOf(id)
}
async function contentOf(id: string): Promise<Record<string, unknown>> {
  const response = await gateway.call(`/generation/content?id=${id}`)
  const json = objectOf(await response.json())
  expect({ status: response.status, json }).toMatchObject({ status: 200 })
  return objectOf(json['data'])
}
/** Once more, when it lies in the file. */
async function keptOf(id: string): Promise<Record<string, unknown>> {
  await gateway.deps.contents.close()
  return contentOf(id)
}

const MESSAGES = [{ role: 'user', ...ask }]
const chat = (model: string, more: Record<string, unknown> = {}) => ({ model, messages: MESSAGES, ...more })
function recording(size: number): FormData {
  const form = new FormData()
  form.append('model', 'ears')
  form.append('prompt', 'Tides')
  form.append('file', new Blob([Buffer.alloc(size, 'a')]), 'tide.wav')
  return form
}
const text = (completion: string | null, reasoning: string | null = null) => ({ completion, reasoning })

interface Row {
  name: string
  path: string
  body: unknown
  input: unknown
  output: unknown
}
const row = (name: string, path: string, body: unknown, input: unknown, output: unknown): Row => ({
  name,
  path,
  body,
  input,
  output,
})
const messages = { messages: MESSAGES }
const parts = [
  { type: 'text', text: 'What is this?' },
  { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
]
const called = {
  content: 'Let me see.',
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{"at":1}' } }],
}

describe('what was asked and answered', () => {
  test.each<Row>([
    row('chat', '/chat/completions', chat('tiny'), messages, text('High.')),
    row(
      'chat, streamed',
      '/chat/completions',
      chat('stream', { stream: true }),
      messages,
      text('High tide.'),
    ),
    row(
      'reasoning',
      '/chat/completions',
      chat('thinks', { stream: true }),
      messages,
      text('High.', 'Moon high.'),
    ),
    row(
      'reasoning that the caller did not want to see',
      '/chat/completions',
      chat('thinks', { stream: true, reasoning: { exclude: true } }),
      messages,
      text('High.'),
    ),
    row(
      'an image in the question',
      '/chat/completions',
      chat('tiny', { messages: [{ role: 'user', content: parts }] }),
      { messages: [{ role: 'user', content: parts }] },
      text('High.'),
    ),
    row(
      'calls of tools',
      '/chat/completions',
      chat('calls', { stream: true }),
      messages,
      text(JSON.stringify(called)),
    ),
    row(
      'several answers',
      '/chat/completions',
      chat('twice', { n: 2 }),
      messages,
      text('[{"index":0,"content":"High."},{"index":1,"content":"Low."}]'),
    ),
    row(
      'messages, with the system prompt first',
      '/messages',
      { model: 'tiny', max_tokens: 9, system: 'Be calm.', messages: MESSAGES },
      { messages: [{ role: 'system', content: 'Be calm.' }, ...MESSAGES] },
      text('High.'),
    ),
    row('responses', '/responses', { model: 'tiny', input: 'Hi' }, { prompt: 'Hi' }, text('High.')),
    row(
      'responses with instructions, stored',
      '/responses',
      { model: 'stream', input: 'Hi', instructions: 'Be calm.', store: true, stream: true },
      { messages: [{ role: 'system', content: 'Be calm.' }, ...MESSAGES] },
      text('High tide.'),
    ),
    row(
      'embeddings of one text',
      '/embeddings',
      { model: 'vectors', input: 'Hi' },
      { prompt: 'Hi' },
      text('[[0.5,1]]'),
    ),
    row(
      'embeddings of a list',
      '/embeddings',
      { model: 'vectors', input: ['Hi'] },
      { messages: ['Hi'] },
      text('[[0.5,1]]'),
    ),
    row(
      'rerank',
      '/rerank',
      { model: 'judge', query: 'Tide?', documents: ['low', { text: 'high' }], top_n: 1 },
      { messages: [{ query: 'Tide?', documents: ['low', { text: 'high' }] }] },
      text('[{"index":1,"relevance_score":0.5}]'),
    ),
    row(
      'images',
      '/images',
      { model: 'paint', prompt: 'A tide' },
      { prompt: 'A tide' },
      text(
        JSON.stringify({
          content: null,
          images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } }],
        }),
      ),
    ),
    row(
      'speech',
      '/audio/speech',
      { model: 'voice', input: 'High.', voice: 'alto' },
      { prompt: 'High.' },
      text(JSON.stringify({ media_type: 'audio/mpeg', data: Buffer.from(SOUND).toString('base64') })),
    ),
    row(
      'a recording in JSON',
      '/audio/transcriptions',
      { model: 'ears', input_audio: { data: 'UklGRg==', format: 'wav' } },
      { messages: [{ input_audio: { data: 'UklGRg==', format: 'wav' } }] },
      text('High.'),
    ),
    row(
      'a recording in a form',
      '/audio/transcriptions',
      recording(3),
      { messages: [{ prompt: 'Tides', input_audio: { data: 'YWFh', format: 'wav' } }] },
      text('High.'),
    ),
    row(
      'a recording too long for the log',
      '/audio/transcriptions',
      recording(3_750_001),
      {
        messages: [
          {
            prompt: 'Tides',
            input_audio: { data: '… [cut by the log: a recording of 3750001 bytes]', format: 'wav' },
          },
        ],
      },
      text('High.'),
    ),
  ])('$name', async ({ path, body, input, output }) => {
    const response = await gateway.call(path, body)
    expect(response.status).toBe(200)
    await response.arrayBuffer()
    const id = response.headers.get('x-generation-id') ?? ''
    // At once, and from the file.
    expect(await contentOf(id)).toEqual({ input, output, error: null })
    expect(await keptOf(id)).toEqual({ input, output, error: null })
  })

  test('a background response is logged by its own id', async () => {
    const begun = await gateway.call('/responses', { model: 'stream', input: 'Hi', background: true })
    const { id } = objectOf(await begun.json())
    await gateway.deps.responses.background.find(String(id))?.ended
    expect(await contentOf(String(id))).toEqual({
      input: { prompt: 'Hi' },
      output: text('High tide.'),
      error: null,
    })
  })

  test('a turn of a conversation is logged without the turns before it', async () => {
    const first = objectOf(
      await (await gateway.call('/responses', { model: 'tiny', input: 'One', store: true })).json(),
    )
    const second = { model: 'tiny', input: 'Two', previous_response_id: first['id'] }
    expect(await said('/responses', second)).toMatchObject({ input: { prompt: 'Two' } })
  })

  test('an uploaded file is named, and not repeated', async () => {
    const form = new FormData()
    form.append('file', new Blob(['Tides are slow.']), 'tides.txt')
    const { id } = objectOf(await (await gateway.call('/files', form)).json())
    const message = { role: 'user', content: [{ type: 'file', file: { file_id: id } }] }
    expect(await said('/chat/completions', chat('tiny', { messages: [message] }))).toMatchObject({
      input: { messages: [message] },
    })
  })
})

describe('what went wrong', () => {
  const failure = (message: string, status: number | null, more: object = {}) => ({
    message,
    status,
    provider_name: 'Lab',
    raw: null,
    previous_errors: [],
    ...more,
  })
  const told: [name: string, body: Record<string, unknown>, output: unknown, error: unknown][] = [
    ['a refusal', chat('refuses'), text(null), failure('the text is too long', 400)],
    [
      'a failure everywhere',
      chat('breaks'),
      text(null),
      failure('Spare answered with an error of its own', 502, {
        provider_name: 'Spare',
        previous_errors: ['Lab', 'Spare'].map((provider_name) => ({
          code: 500,
          message: `${provider_name} answered with status 500 (server)`,
          provider_name,
          raw: null,
        })),
      }),
    ],
    [
      'an answer that is cut',
      chat('cut', { stream: true }),
      text('High'),
      failure('Lab ended the answer before it was complete', 502),
    ],
  ]
  test.each(told)('%s is told as the caller was told', async (_, body, output, error) => {
    expect(await said('/chat/completions', body)).toEqual({ input: messages, output, error })
  })

  test('a caller that leaves: what was delivered', async () => {
    const leaving = new AbortController()
    const response = await fetch(`${gateway.url}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer test-inference-key-0123456789abcdefghij' },
      body: JSON.stringify(chat('hangs', { stream: true })),
      signal: leaving.signal,
    })
    const id = response.headers.get('x-generation-id') ?? ''
    await response.body?.getReader().read()
    leaving.abort()
    await until(() => gateway.generations().some((each) => each['id'] === id))
    expect(await contentOf(id)).toEqual({
      input: messages,
      output: text('High'),
      error: failure('The client disconnected or cancelled the request before the end', null),
    })
  })
})

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

describe('what is logged', () => {
  const notLogged = async (path: string, body: unknown): Promise<string> => {
    const response = await gateway.call(path, body)
    await response.arrayBuffer()
    const id = response.headers.get('x-generation-id')
    const content = await gateway.call(`/generation/content?id=${id}`)
    const { message } = objectOf(objectOf(await content.json())['error'])
    expect({ status: content.status, message }).toMatchObject({ status: 404 })
    return String(message)
  }

  test('nothing, where the workspace does not log; what was kept stays', async () => {
    const response = await gateway.call('/chat/completions', chat('tiny'))
    const id = response.headers.get('x-generation-id') ?? ''
    await logging({ is_observability_io_logging_enabled: false })
    const message = await notLogged('/chat/completions', chat('tiny'))
    expect(message).toContain('not logged')
    expect(message).toContain('is_observability_io_logging_enabled')
    expect(await contentOf(id)).toMatchObject({ output: text('High.') })
    await logging(ON)
  })

  test('only what keys do that are named', async () => {
    const { key, hash } = await gateway.makeKey({})
    const own = objectOf(objectOf(await (await gateway.manage('GET', `/keys/${hash}`)).json())['data'])
    await logging({ io_logging_api_key_ids: [own['id']] })
    expect(await notLogged('/chat/completions', chat('tiny'))).toContain('io_logging_api_key_ids')
    const response = await gateway.call('/chat/completions', chat('tiny'), { authorization: `Bearer ${key}` })
    expect(await contentOf(response.headers.get('x-generation-id') ?? '')).toMatchObject({ error: null })
    await logging({ io_logging_api_key_ids: [] })
    expect(await notLogged('/chat/completions', chat('tiny'))).toContain('not logged')
    await logging(ON)
  })

  test('a share of the generations, which their ids tell', async () => {
    await logging({ io_logging_sampling_rate: 0.5 })
    const seen = new Set<boolean>()
    for (let n = 0; n < 60; n++) {
      const response = await gateway.call('/chat/completions', chat('tiny'))
      const id = response.headers.get('x-generation-id') ?? ''
      const content = await gateway.call(`/generation/content?id=${id}`)
      expect({ id, status: content.status }).toEqual({ id, status: isSampled(id, 0.5) ? 200 : 404 })
      seen.add(isSampled(id, 0.5))
    }
    expect(seen.size).toBe(2)
    await logging(ON)
  })

  test('as the guardrails left it: what a filter takes out is in no file', async () => {
    const { key } = await gateway.makeGuardedKey({
      content_filters: [{ pattern: 'heron-\\d+', action: 'redact', label: '[BIRD]' }],
    })
    const asks: [path: string, body: Record<string, unknown>][] = [
      ['/chat/completions', { model: 'tiny', messages: [{ role: 'user', content: 'heron-77' }] }],
      ['/messages', { model: 'tiny', max_tokens: 5, system: 'heron-77', messages: MESSAGES }],
      ['/responses', { model: 'tiny', input: 'heron-77', instructions: 'heron-77', store: true }],
      ['/embeddings', { model: 'vectors', input: ['heron-77'] }],
      ['/rerank', { model: 'judge', query: 'heron-77', documents: ['heron-77', { text: 'heron-77' }] }],
      ['/images', { model: 'paint', prompt: 'heron-77' }],
      ['/audio/speech', { model: 'voice', input: 'heron-77', instructions: 'heron-77' }],
      [
        '/audio/transcriptions',
        { model: 'ears', prompt: 'heron-77', input_audio: { data: 'UklGRg==', format: 'wav' } },
      ],
    ]
    for (const [path, body] of asks) {
      const response = await gateway.call(path, body, { authorization: `Bearer ${key}` })
      await response.arrayBuffer()
      const content = JSON.stringify(await keptOf(response.headers.get('x-generation-id') ?? ''))
      expect({ path, content }).toEqual({ path, content: expect.stringContaining('[BIRD]') })
      expect(content).not.toContain('heron-77')
    }
  })

  test('nothing of a request that no provider was asked', async () => {
    const before = sent
    const rows = () => gateway.bodies.file.query('SELECT count(*) AS n FROM logged_contents').get()
    await gateway.deps.contents.close()
    const kept = rows()
    expect((await gateway.call('/chat/completions', chat('nobody'))).status).toBe(404)
    await gateway.deps.contents.close()
    expect([sent, rows()]).toEqual([before, kept])
  })
})

test('what a deleted workspace logged is not shown any more, and goes with the next sweep', async () => {
  const made = await gateway.manage('POST', '/workspaces', {
    name: 'Ebb',
    slug: 'ebb',
    is_observability_io_logging_enabled: true,
  })
  const { id: workspace_id } = objectOf(objectOf(await made.json())['data'])
  const { key, hash } = await gateway.makeKey({ workspace_id })
  const response = await gateway.call('/chat/completions', chat('tiny'), { authorization: `Bearer ${key}` })
  const id = response.headers.get('x-generation-id') ?? ''
  const read = async () => {
    const reply = await gateway.manage('GET', `/generation/content?id=${id}`)
    return { status: reply.status, text: await reply.text() }
  }
  expect(await read()).toMatchObject({ status: 200 })
  // Of another workspace it is as unknown as one that never was.
  expect((await gateway.call(`/generation/content?id=${id}`)).status).toBe(404)
  await gateway.manage('DELETE', `/keys/${hash}`)
  expect(await read()).toMatchObject({ status: 200 })
  expect((await gateway.manage('DELETE', `/workspaces/${workspace_id}`)).status).toBe(200)
  expect(await read()).toEqual({ status: 404, text: expect.stringContaining('its workspace is deleted') })
  await gateway.deps.contents.close()
  const rows = () =>
    gateway.bodies.file.query('SELECT 1 FROM logged_contents WHERE generation_id = ?').all(id).length
  expect(rows()).toBe(1)
  await (await startUpkeep(gateway.bodies, gateway.deps, 0)).stop()
  expect(rows()).toBe(0)
})

test('the bound of the file is held while it is written: the oldest go', async () => {
  const bounded = await startGateway({ environment: { SLUICE_BODIES_MAX_MB: '1' } })
  await bounded.manage('PATCH', '/workspaces/default', ON)
  const ids: string[] = []
  for (let n = 0; n < 6; n++) {
    const content = Buffer.from(crypto.getRandomValues(new Uint8Array(300_000))).toString('base64')
    const body = { model: 'sluice/demo', messages: [{ role: 'user', content }] }
    const response = await bounded.call('/chat/completions', body)
    ids.push(response.headers.get('x-generation-id') ?? '')
    await bounded.deps.contents.close()
    expect(usedBytes(bounded.bodies)).toBeLessThanOrEqual(1_000_000)
  }
  const statuses = await Promise.all(
    ids.map(async (id) => (await bounded.call(`/generation/content?id=${id}`)).status),
  )
  expect(statuses).toEqual([404, 404, 404, 200, 200, 200])
  await bounded.stop()
})

test('a long question is cut where it is longest, and says so', async () => {
  const image = {
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${PIXEL.slice(0, 40)}${'A'.repeat(6_000_000)}` },
  }
  const content = [{ type: 'text', text: 'What is this?' }, image]
  const { input } = await said('/chat/completions', chat('tiny', { messages: [{ role: 'user', content }] }))
  const kept = JSON.stringify(input)
  expect(kept.length).toBeLessThan(5_100_000)
  expect(kept.length).toBeGreaterThan(4_900_000)
  expect(kept).toContain('What is this?')
  expect(kept).toMatch(/… \[cut by the log: 1\d{6} more characters\]/)
})

test('a disk that is full costs the log, with a warning, and no answer', async () => {
  await gateway.deps.contents.close()
  const { file } = gateway.bodies
  const pages = file.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0
  file.run(`PRAGMA max_page_count = ${pages}`)
  logged = []
  const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(3_000_000))).toString('base64')
  const response = await gateway.call(
    '/chat/completions',
    chat('tiny', { messages: [{ role: 'user', content: noise }] }),
  )
  expect(response.status).toBe(200)
  await gateway.deps.contents.close()
  file.run('PRAGMA max_page_count = 4294967294')
  const warning = logged.find((line) => line.includes('could not be logged')) ?? ''
  expect(JSON.parse(warning)).toMatchObject({ level: 40, contents: 1 })
  expect(logged.join('').length).toBeLessThan(10_000)
  const id = response.headers.get('x-generation-id')
  expect((await gateway.call(`/generation/content?id=${id}`)).status).toBe(404)
  expect(await said('/chat/completions', chat('tiny'))).toMatchObject({ error: null })
})

test('nothing of it lies anywhere in clear', async () => {
  const mark = 'purple-marmot-4411'
  answers['tiny'] = () =>
    unary(mark.toUpperCase())({ path: '', headers: new Headers(), body: {} }, new Request('http://x'))
  const response = await gateway.call(
    '/chat/completions',
    chat('tiny', { messages: [{ role: 'user', content: mark }] }),
  )
  await response.text()
  await gateway.deps.contents.close()
  for (const name of ['bodies.db', 'bodies.db-wal', 'sluice.db', 'sluice.db-wal']) {
    const bytes = readFileSync(join(gateway.folder, name))
    expect([name, bytes.includes(mark), bytes.includes(mark.toUpperCase())]).toEqual([name, false, false])
  }
  expect(logged.join('')).not.toContain(mark)
})
