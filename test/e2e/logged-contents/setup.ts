/** A gateway whose default workspace logs every generation, in front of a provider of every kind. */
import { expect } from 'bun:test'
import { objectOf } from '../../../src/http/json.ts'
import { gatewayOfFile } from '../../file-setup.ts'
import { chunk, frames, paced, sse, unary } from '../../upstream.ts'

export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const SOUND = 'a sound'
const CALL = { index: 0, id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{"at":' } }

/** The replies of the chat models. */
const chatReplies = (): Record<string, () => Response | Promise<Response>> => ({
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
})

type Replies = ReturnType<typeof chatReplies>

/** Replies to the other routes; `path` is without `/v1`. */
function replyTo(path: string, text: string, answers: Replies): Response | Promise<Response> {
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
}

const pricing = { prompt: '0.000001', completion: '0.000002', image: '0.01', audio_second: '0.0001' }
const modal = (id: string, input: string, output: string) => ({
  id,
  pricing: { ...pricing, ...(output === 'speech' ? { input_character: '0.00001' } : {}) },
  architecture: { input_modalities: [input], output_modalities: [output] },
})

const providersAt = (base_url: string, chatModels: readonly string[]) => [
  {
    slug: 'lab',
    name: 'Lab',
    base_url,
    models: [
      ...chatModels.map((id) => ({ id, pricing })),
      modal('vectors', 'text', 'embeddings'),
      modal('judge', 'text', 'rerank'),
      modal('paint', 'text', 'image'),
      modal('voice', 'text', 'speech'),
      modal('ears', 'audio', 'transcription'),
    ],
  },
  {
    slug: 'spare',
    name: 'Spare',
    base_url,
    models: [{ id: 'breaks', pricing: { prompt: '1', completion: '1' } }],
  },
]

/** The fields of a workspace that logs every generation. */
export const ON = {
  is_observability_io_logging_enabled: true,
  io_logging_sampling_rate: 1,
  io_logging_api_key_ids: null,
}

export async function startForLoggedContents() {
  const lines: string[] = []
  const answers = chatReplies()
  let sent = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    error: () => new Response(null, { status: 500 }),
    async fetch(request) {
      sent += 1
      const path = new URL(request.url).pathname.replace('/v1', '')
      return replyTo(path, await request.text(), answers)
    },
  })
  const gateway = await gatewayOfFile(
    {
      listens: true,
      log: (line) => lines.push(line),
      providers: providersAt(`http://127.0.0.1:${server.port}/v1`, Object.keys(answers)),
    },
    { stop: () => server.stop(true) },
  )
  gateway.deps.run.wait = async () => undefined
  async function logging(change: Record<string, unknown>): Promise<void> {
    const response = await gateway.manage('PATCH', '/workspaces/default', change)
    expect(response.status).toBe(200)
  }
  await logging(ON)
  async function contentOf(id: string): Promise<Record<string, unknown>> {
    const response = await gateway.call(`/generation/content?id=${id}`)
    const json = objectOf(await response.json())
    expect({ status: response.status, json }).toMatchObject({ status: 200 })
    return objectOf(json['data'])
  }
  return {
    gateway,
    /** The lines of the log. */
    lines,
    /** The replies of the chat models, by their names. */
    answers,
    /** How many requests the provider got. */
    sentCount: () => sent,
    logging,
    contentOf,
    /** The logged content after it is in the file. */
    async storedOf(id: string): Promise<Record<string, unknown>> {
      await gateway.deps.contents.close()
      return contentOf(id)
    },
    /** Reads a reply to its end; returns what was logged of it. */
    async loggedOf(path: string, body: unknown): Promise<Record<string, unknown>> {
      const response = await gateway.call(path, body)
      const reply = await response.text()
      const id = response.headers.get('x-generation-id')
      if (id === null) throw new Error(reply)
      return contentOf(id)
    },
  }
}

export const MESSAGES = [{ role: 'user', content: 'Hi' }]
export const chat = (model: string, more: Record<string, unknown> = {}) => ({
  model,
  messages: MESSAGES,
  ...more,
})
export const text = (completion: string | null, reasoning: string | null = null) => ({
  completion,
  reasoning,
})
export const messages = { messages: MESSAGES }
