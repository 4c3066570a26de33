import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import OpenAI, { toFile } from 'openai'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'
import { chunk, type ScriptedServer, scriptedServer } from '../net/scripted.ts'

/** POST /audio/speech and POST /audio/transcriptions, called by the official client, with a provider of each kind. */

interface Seen {
  path: string
  body: Record<string, unknown>
  /** Name, type and size of each. */
  files: string[]
}
type Answer = () => Response | Promise<Response>

let gateway: Gateway
let client: OpenAI
let seen: Seen[] = []
let answers: Answer[] = []

const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    seen.push(await readSeen(request))
    return (
      (await answers.shift()?.()) ?? Response.json({ error: { message: 'nothing more' } }, { status: 500 })
    )
  },
})

async function readSeen(request: Request): Promise<Seen> {
  const path = new URL(request.url).pathname
  if (!request.headers.get('content-type')?.startsWith('multipart/')) {
    return { path, body: await request.json(), files: [] }
  }
  const form: Seen = { path, body: {}, files: [] }
  for (const [name, value] of (await request.formData()).entries()) {
    const entry: unknown = value
    if (entry instanceof File) form.files.push(`${entry.name} ${entry.type} ${entry.size}`)
    else form.body[name] = name in form.body ? [form.body[name], value].flat() : value
  }
  return form
}

const address = (path: string): string => `http://127.0.0.1:${upstream.port}${path}`
const speech = { architecture: { output_modalities: ['speech'] } }
const writes = { architecture: { output_modalities: ['transcription'] } }

beforeAll(async () => {
  gateway = await startGateway({
    listens: true,
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        base_url: address('/v1'),
        models: [
          { id: 'tts-1', ...speech, pricing: { prompt: '0.000015', completion: '0' } },
          { id: 'by-letter', ...speech, pricing: { input_character: '0.00003' } },
          {
            id: 'by-token',
            ...speech,
            pricing: { prompt: '0.000001', completion: '0.00001', audio_output: '0.00002' },
          },
          {
            id: 'gpt-4o-transcribe',
            ...writes,
            pricing: { prompt: '0.0000025', completion: '0.00001', audio: '0.000006' },
          },
          { id: 'by-second', ...writes, pricing: { audio_second: '0.0001' } },
          { id: 'words', architecture: { output_modalities: ['text'] }, pricing: { prompt: '0.000001' } },
        ],
      },
      {
        slug: 'goo',
        name: 'Goo',
        dialect: 'gemini',
        base_url: address('/v1beta'),
        models: [{ id: 'gemini-voice', ...speech, pricing: { prompt: '0.000001', completion: '0.00002' } }],
      },
    ],
  })
  client = new OpenAI({ baseURL: `${gateway.url}/api/v1`, apiKey: API_KEY, maxRetries: 0 })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})
beforeEach(() => {
  seen = []
  answers = []
})

const lastRow = () => gateway.generations().at(-1) ?? {}
const rowCount = () => gateway.generations().length

/** Pieces of ten bytes. */
const sound =
  (pieces: number, type = 'audio/mpeg'): Answer =>
  () => {
    const body = Buffer.concat(Array.from({ length: pieces }, (_, index) => Buffer.alloc(10, index + 1)))
    return new Response(body, { headers: { 'content-type': type } })
  }

describe('speech', () => {
  test('the official client gets the sound as it was, charged by the character', async () => {
    answers = [sound(4)]
    const reply = await client.audio.speech.create({
      model: 'lab/tts-1',
      voice: 'nova',
      input: 'Hello 🌍',
      response_format: 'mp3',
      speed: 1.25,
    })
    expect(reply.headers.get('content-type')).toBe('audio/mpeg')
    const id = reply.headers.get('x-generation-id')
    const bytes = new Uint8Array(await reply.arrayBuffer())
    expect([bytes.length, bytes[0], bytes[39]]).toEqual([40, 1, 4])
    expect(seen).toEqual([
      {
        path: '/v1/audio/speech',
        body: { model: 'tts-1', voice: 'nova', input: 'Hello 🌍', response_format: 'mp3', speed: 1.25 },
        files: [],
      },
    ])
    // Seven characters of 15,000 nano-dollars.
    expect(lastRow()).toMatchObject({
      id,
      api_type: 'tts',
      cost_nano_usd: 105_000,
      usage_source: 'provider',
      finish_reason: 'stop',
    })
  })

  const prices: [model: string, costNanoUsd: number, source: string][] = [
    ['by-letter', 150_000, 'provider'],
    // 2 tokens in, and 9 of sound: 1.8 for each of the five characters.
    ['by-token', 2_000 + 9 * 20_000, 'estimated'],
  ]
  test.each(prices)('%s', async (model, cost, source) => {
    answers = [sound(2)]
    const reply = await gateway.call('/audio/speech', { model, input: 'Hello' })
    expect((await reply.bytes()).length).toBe(20)
    expect(lastRow()).toMatchObject({ cost_nano_usd: cost, usage_source: source })
  })

  const types: [format: string | undefined, upstream: string, asked: string, type: string][] = [
    [undefined, 'audio/pcm', 'pcm', 'audio/pcm'],
    ['wav', 'application/octet-stream', 'wav', 'audio/wav'],
    ['opus', '', 'opus', 'audio/ogg'],
    ['flac', 'audio/x-flac', 'flac', 'audio/x-flac'],
  ]
  test.each(types)('format %p with upstream type %p', async (format, upstreamType, asked, type) => {
    answers = [sound(1, upstreamType)]
    const reply = await gateway.call('/audio/speech', {
      model: 'tts-1',
      input: 'Hi',
      response_format: format,
    })
    expect(reply.headers.get('content-type')).toBe(type)
    await reply.bytes()
    expect(seen[0]?.body).toMatchObject({ response_format: asked, voice: 'alloy' })
  })

  test('Gemini: samples, with a header where wav was asked for', async () => {
    const samples = Buffer.from('abcdef')
    answers = [
      () =>
        Response.json({
          candidates: [
            {
              content: {
                parts: [
                  {
                    inlineData: {
                      mimeType: 'audio/L16;codec=pcm;rate=24000',
                      data: samples.toString('base64'),
                    },
                  },
                ],
              },
              finishReason: 'STOP',
            },
          ],
          usageMetadata: {
            promptTokenCount: 4,
            candidatesTokenCount: 30,
            candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 30 }],
          },
        }),
    ]
    const reply = await gateway.call('/audio/speech', {
      model: 'gemini-voice',
      input: 'Hi',
      voice: 'Kore',
      response_format: 'wav',
    })
    const bytes = Buffer.from(await reply.arrayBuffer())
    expect(bytes.subarray(0, 4).toString()).toBe('RIFF')
    expect(bytes.readUInt32LE(40)).toBe(samples.length)
    expect(bytes.subarray(44)).toEqual(samples)
    expect(seen[0]).toMatchObject({
      path: '/v1beta/models/gemini-voice:generateContent',
      body: {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
        },
      },
    })
    expect(lastRow()).toMatchObject({ cost_nano_usd: 4 * 1_000 + 30 * 20_000, usage_source: 'provider' })
  })
})

describe('sound that does not come to its end', () => {
  let rough: Gateway
  let server: ScriptedServer
  let sockets: Socket[] = []
  beforeEach(async () => {
    sockets = []
    server = await scriptedServer((socket) => {
      sockets.push(socket)
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ntransfer-encoding: chunked\r\n\r\n')
      socket.write(chunk('0123456789') + chunk('0123456789'))
    })
    rough = await startGateway({
      listens: true,
      providers: [
        {
          slug: 'lab',
          base_url: `${server.url}/v1`,
          models: [{ id: 'tts-1', ...speech, pricing: { prompt: '0.000015', completion: '0' } }],
        },
      ],
    })
  })
  afterEach(async () => {
    server.stop()
    await rough.stop()
  })
  const begin = async (signal: AbortSignal) => {
    const reply = await fetch(`${rough.url}/api/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'tts-1', input: 'Hello' }),
      signal,
    })
    expect(reply.status).toBe(200)
    const reader = reply.body?.getReader()
    await reader?.read()
    return reader
  }

  test('because the provider breaks off: it never looks finished, and is settled once', async () => {
    const reader = await begin(new AbortController().signal)
    sockets[0]?.destroy()
    const end = async () => {
      for (;;) if ((await reader?.read())?.done) return 'finished'
    }
    expect(await end().catch(() => 'broken')).toBe('broken')
    expect(rough.generations()).toMatchObject([
      { api_type: 'tts', cancelled: 0, finish_reason: 'error', cost_nano_usd: 75_000 },
    ])
    expect(rough.deps.run.running.count()).toBe(0)
  })

  test('because the caller leaves: it is charged and settled once, and the provider is left', async () => {
    const abort = new AbortController()
    await begin(abort.signal)
    abort.abort()
    await server.closed()
    await rough.deps.run.running.drain(2_000)
    expect(rough.generations()).toMatchObject([
      { api_type: 'tts', cancelled: 1, finish_reason: 'error', cost_nano_usd: 75_000 },
    ])
    expect(rough.deps.run.running.count()).toBe(0)
    expect(rough.deps.ledger.heldNanoUsd()).toBe(0)
  })
})

describe('transcriptions', () => {
  const wav = (seconds: number): Buffer => {
    const bytes = Buffer.alloc(44 + seconds * 8_000)
    bytes.write('RIFF', 0)
    bytes.write('WAVEfmt ', 8)
    bytes.writeUInt32LE(16, 16)
    bytes.writeUInt32LE(8_000, 28)
    bytes.write('data', 36)
    bytes.writeUInt32LE(seconds * 8_000, 40)
    return bytes
  }
  const said = (more: object) => () => Response.json({ text: 'hello there', ...more })

  test('the official client, by tokens', async () => {
    answers = [
      said({
        usage: {
          type: 'tokens',
          input_tokens: 25,
          output_tokens: 4,
          total_tokens: 29,
          input_token_details: { text_tokens: 5, audio_tokens: 20 },
        },
      }),
    ]
    const reply = await client.audio.transcriptions.create({
      model: 'lab/gpt-4o-transcribe',
      file: await toFile(wav(2), 'a.wav', { type: 'audio/wav' }),
      language: 'en',
      temperature: 0.2,
      prompt: 'names: Ada',
    })
    expect(reply).toMatchObject({
      text: 'hello there',
      usage: { input_tokens: 25, output_tokens: 4, total_tokens: 29 },
    })
    expect(seen).toEqual([
      {
        path: '/v1/audio/transcriptions',
        body: {
          model: 'gpt-4o-transcribe',
          language: 'en',
          temperature: '0.2',
          prompt: 'names: Ada',
          response_format: 'json',
        },
        files: [expect.stringMatching(/^a\.wav audio\/(x-)?wav 16044$/)],
      },
    ])
    // 5 × 2,500 + 20 × 6,000 + 4 × 10,000 nano-dollars.
    expect(lastRow()).toMatchObject({
      api_type: 'stt',
      cost_nano_usd: 172_500,
      usage_source: 'provider',
      native_tokens_prompt_audio: 20,
    })
  })

  test('by seconds, with segments and words', async () => {
    const segments = [{ id: 0, start: 0, end: 1.5, text: 'hello there' }]
    answers = [
      said({ duration: 1.5, language: 'english', segments, words: [{ word: 'hello', start: 0, end: 0.5 }] }),
    ]
    const reply = await client.audio.transcriptions.create({
      model: 'by-second',
      file: await toFile(wav(2), 'a.wav', { type: 'audio/wav' }),
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    })
    expect(reply).toMatchObject({ text: 'hello there', duration: 1.5, language: 'english', segments })
    expect(seen[0]?.body).toMatchObject({
      'timestamp_granularities[]': ['word', 'segment'],
      response_format: 'verbose_json',
    })
    expect(lastRow()).toMatchObject({ cost_nano_usd: 150_000, usage_source: 'provider' })
  })

  test('a recording in JSON goes on as a file; seconds that nobody told are those of its header', async () => {
    answers = [said({})]
    const reply = await gateway.call('/audio/transcriptions', {
      model: 'by-second',
      input_audio: { data: wav(3).toString('base64'), format: 'wav' },
    })
    expect(await reply.json()).toMatchObject({ text: 'hello there', usage: { seconds: 3, cost: 0.0003 } })
    expect(seen[0]?.files).toEqual([expect.stringMatching(/^audio\.wav audio\/(x-)?wav 24044$/)])
    expect(lastRow()).toMatchObject({ cost_nano_usd: 300_000, usage_source: 'estimated' })
  })

  const broken: [answer: Answer, status: number][] = [
    [() => Response.json({}), 502],
    [() => new Response('<html></html>'), 502],
    [() => Response.json({ error: { message: 'not a sound file' } }, { status: 400 }), 400],
  ]
  test.each(broken)('an answer that is none (%#)', async (answer, status) => {
    answers = [answer, answer]
    const reply = await gateway.call('/audio/transcriptions', {
      model: 'by-second',
      input_audio: { data: wav(1).toString('base64'), format: 'wav' },
    })
    expect(reply.status).toBe(status)
    expect(lastRow()).toMatchObject({ cost_nano_usd: 0, finish_reason: 'error' })
  })
})

describe('requests that are not as they must be', () => {
  const input_audio = { data: 'UklGRg==', format: 'wav' }
  const rows: [path: string, body: object, message: string][] = [
    ['/audio/speech', { model: 'tts-1' }, 'input: is required'],
    ['/audio/speech', { model: 'tts-1', input: '' }, 'input: must not be empty'],
    ['/audio/speech', { input: 'Hi' }, 'model: is required'],
    [
      '/audio/speech',
      { model: 'tts-1', input: 'Hi', response_format: 'midi' },
      'response_format: must be one of',
    ],
    ['/audio/speech', { model: 'tts-1', input: 'Hi', speed: 9 }, 'speed: must be a number from 0.25 to 4'],
    ['/audio/speech', { model: 'gemini-voice', input: 'Hi', response_format: 'mp3' }, 'pcm and wav alone'],
    ['/audio/speech', { model: 'tts-1', input: 'Hi', stream_format: 'sse' }, 'stream_format: must be'],
    ['/audio/transcriptions', { model: 'by-second', input_audio, stream: true }, 'stream: '],
    ['/audio/speech', { model: 'words', input: 'Hi' }, 'POST /chat/completions'],
    ['/audio/speech', { model: 'by-second', input: 'Hi' }, 'POST /audio/transcriptions'],
    ['/audio/transcriptions', { model: 'by-second' }, 'input_audio: is required'],
    [
      '/audio/transcriptions',
      { model: 'by-second', input_audio: { data: '', format: 'wav' } },
      'input_audio.data: must not be empty',
    ],
    [
      '/audio/transcriptions',
      { model: 'by-second', input_audio: { data: '&&', format: 'wav' } },
      'input_audio.data: must be base64',
    ],
    [
      '/audio/transcriptions',
      { model: 'by-second', input_audio: { data: 'UklGRg==' } },
      'input_audio.format: is required',
    ],
    [
      '/audio/transcriptions',
      { model: 'by-second', input_audio: { data: 'UklGRg==', format: '../x' } },
      'input_audio.format: must be',
    ],
    [
      '/audio/transcriptions',
      { model: 'by-second', input_audio, response_format: 'srt' },
      'response_format: must be one of',
    ],
    [
      '/audio/transcriptions',
      { model: 'by-second', input_audio, timestamp_granularities: ['word'] },
      'verbose_json',
    ],
    ['/audio/transcriptions', { model: 'by-second', input_audio, temperature: 2 }, 'temperature: must be'],
    ['/audio/transcriptions', { model: 'tts-1', input_audio }, 'POST /audio/speech'],
  ]
  test.each(rows)('%s %j', async (path, body, message) => {
    const before = rowCount()
    const reply = await gateway.call(path, body)
    const { error } = await reply.json()
    expect({ status: reply.status, message: error.message }).toEqual({
      status: 400,
      message: expect.stringContaining(message),
    })
    expect(seen).toEqual([])
    expect(rowCount()).toBe(before)
  })

  test('forms', async () => {
    const send = async (body: FormData | string, type?: string) => {
      const headers: Record<string, string> = { authorization: `Bearer ${API_KEY}` }
      if (type !== undefined) headers['content-type'] = type
      const reply = await fetch(`${gateway.url}/api/v1/audio/transcriptions`, {
        method: 'POST',
        headers,
        body,
      })
      return { status: reply.status, message: (await reply.json()).error.message }
    }
    const form = (fields: Record<string, string | Blob>) => {
      const made = new FormData()
      for (const [name, value] of Object.entries(fields)) made.append(name, value)
      return made
    }
    const file = new Blob(['sound'], { type: 'audio/mpeg' })
    const model = 'by-second'
    expect(await send(form({ model }))).toEqual({ status: 400, message: 'file: is required: the recording' })
    expect(await send(form({ model, file: 'text' }))).toEqual({
      status: 400,
      message: 'file: must be a file, not text',
    })
    expect(await send(form({ model, file: new Blob([]) }))).toEqual({
      status: 400,
      message: 'file: must not be empty',
    })
    expect(await send(form({ model, file, other: file }))).toMatchObject({
      status: 400,
      message: 'other: must be text, not a file',
    })
    expect(await send(form({ file }))).toMatchObject({
      status: 400,
      message: 'model: is required: name a model',
    })
    expect(await send(form({ model, file, temperature: 'hot' }))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^temperature: /),
    })
    expect(await send(form({ model, file, provider: '{' }))).toMatchObject({
      status: 400,
      message: 'provider: must be JSON',
    })
    const boundary = 'multipart/form-data; boundary=x'
    expect(await send('--x\r\nnothing', boundary)).toMatchObject({ status: 400 })
    expect(await send('nothing', 'multipart/form-data')).toMatchObject({ status: 400 })
    const unknown = await gateway.call('/audio/transcriptions', 'x', {
      'content-type': boundary,
      authorization: 'Bearer nobody',
    })
    expect(unknown.status).toBe(401)
    expect(seen).toEqual([])
  })
})
