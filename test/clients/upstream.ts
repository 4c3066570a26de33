import type { JsonObject } from '../../src/core/events.ts'
import { isObject } from '../../src/core/json.ts'
import { SHAPES, type Wire } from '../e2e/thinking/shapes.ts'
import { RESULTS } from '../e2e/thinking/turn.ts'

/** One provider on loopback that speaks every wire format, and the settings that a gateway needs for it. */

interface Seen {
  readonly path: string
  readonly body: JsonObject
  readonly files: readonly string[]
}

export interface Upstream {
  readonly seen: Seen[]
  readonly settings: JsonObject
  /** The model `slow` was asked; it never answers. */
  readonly asked: Promise<void>
  /** The gateway has left it. */
  readonly left: Promise<void>
  stop(): Promise<void>
}

const VECTOR = [0.25, -0.5, 1]
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const SOUND = 'RIFF-no-sound-at-all'
export const TRANSCRIPT = 'Tides are high.'

const usage = { prompt_tokens: 8, total_tokens: 8 }

/** The routes of OpenAI's that are not conversations. */
const OPERATIONS: Readonly<Record<string, (body: JsonObject) => Response>> = {
  '/embeddings': ({ input, encoding_format }) => {
    const embedding =
      encoding_format === 'base64' ? Buffer.from(new Float32Array(VECTOR).buffer).toString('base64') : VECTOR
    const count = Array.isArray(input) ? input.length : 1
    const data = Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding }))
    return Response.json({ object: 'list', data, model: 'up', usage })
  },
  '/images/generations': () =>
    Response.json({
      created: 1_790_000_000,
      data: [{ b64_json: PIXEL }],
      usage: { input_tokens: 8, output_tokens: 16, total_tokens: 24 },
    }),
  '/audio/speech': () => new Response(SOUND, { headers: { 'content-type': 'audio/mpeg' } }),
  '/audio/transcriptions': () => Response.json({ text: TRANSCRIPT, usage: { type: 'duration', seconds: 2 } }),
  '/rerank': () =>
    Response.json({
      id: 'up',
      results: [{ index: 1, relevance_score: 0.9 }],
      meta: { billed_units: { search_units: 1 } },
    }),
}

async function read(request: Request): Promise<Seen> {
  const path = new URL(request.url).pathname
  if (!request.headers.get('content-type')?.startsWith('multipart/')) {
    return { path, body: await request.json(), files: [] }
  }
  const body: JsonObject = {}
  const files: string[] = []
  for (const [name, value] of (await request.formData()).entries()) {
    const entry: unknown = value
    if (entry instanceof File) files.push(entry.name)
    else body[name] = value
  }
  return { path, body, files }
}

/** A model that was given tools calls them, and answers once it has the results. */
const callsTools = (body: JsonObject): boolean =>
  JSON.stringify(body).includes('"clock"') && !RESULTS.some((result) => JSON.stringify(body).includes(result))

export const wireOf = (path: string): Wire | undefined =>
  SHAPES.flatMap(({ wires }) => wires).find((wire) => wire.path.test(path))

function answer({ path, body }: Seen): Response {
  const operation = Object.entries(OPERATIONS).find(([end]) => path === `/lab/v1${end}`)
  if (operation) return operation[1](body)
  if (path.endsWith('/count_tokens')) return Response.json({ input_tokens: 4321 })
  const wire = wireOf(path)
  if (!wire) return Response.json({ error: { message: `there is no route ${path}` } }, { status: 404 })
  return wire.reply(callsTools(body), body.stream === true || /stream/i.test(path))
}

const pricing = { prompt: '0.000001', completion: '0.000002' }
const puts = (id: string, ...output_modalities: string[]): JsonObject => ({
  id,
  architecture: { output_modalities },
  pricing: { ...pricing, image: '0.04', audio_second: '0.0001', request: '0' },
})

/** Entries of `providers:`. */
function entriesOf(base: string): JsonObject[] {
  const entry = (
    slug: string,
    dialect: string,
    path: string,
    models: JsonObject[],
    more: JsonObject = {},
  ) => ({
    slug,
    dialect,
    base_url: `${base}${path}`,
    ...(dialect === 'converse' ? {} : { api_key: `secret-of-${slug}` }),
    models: models.map((model) => ({ max_completion_tokens: 9000, pricing, ...model })),
    ...more,
  })
  return [
    entry('claude', 'messages', '/claude/v1', [{ id: 'claude-lab', upstream_id: 'claude-sonnet-4-5' }]),
    entry('google', 'gemini', '/google/v1beta', [{ id: 'gemini-lab', upstream_id: 'gemini-3-pro' }]),
    entry('open', 'responses', '/open/v1', [{ id: 'o-lab', upstream_id: 'gpt-5-mini' }]),
    entry(
      'aws',
      'converse',
      '/aws',
      [{ id: 'bedrock-lab', upstream_id: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' }],
      { aws: { region: 'us-west-2', access_key_id: 'AKIALAB', secret_access_key: 'secret-of-aws' } },
    ),
    entry('cohere', 'cohere', '/cohere/v2', [
      { id: 'command-lab', upstream_id: 'command-a-reasoning-08-2025' },
    ]),
    entry('router', 'chat', '/router/v1', [{ id: 'chat-lab' }]),
    entry('lab', 'chat', '/lab/v1', [
      puts('vectors', 'embeddings'),
      puts('brush', 'image'),
      puts('voice', 'speech'),
      puts('ear', 'transcription'),
      puts('judge', 'rerank'),
      { id: 'slow' },
    ]),
  ]
}

export function startUpstream(): Upstream {
  const seen: Seen[] = []
  const asked = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const entry = await read(request)
      seen.push(entry)
      if (entry.body.model !== 'slow') return answer(entry)
      asked.resolve()
      request.signal.addEventListener('abort', () => left.resolve())
      return new Promise<Response>(() => undefined)
    },
  })
  return {
    seen,
    settings: { providers: entriesOf(`http://127.0.0.1:${server.port}`) },
    asked: asked.promise,
    left: left.promise,
    stop: () => server.stop(true),
  }
}

/** Where an answer holds something that its client has no type for. */
export function unknownIn(value: unknown, path = '$'): string[] {
  if (Array.isArray(value)) return value.flatMap((each, i) => unknownIn(each, `${path}[${i}]`))
  if (!isObject(value)) return []
  if (value.isUnknown === true) return [`${path}: ${JSON.stringify(value.raw)}`]
  return Object.entries(value).flatMap(([name, each]) => unknownIn(each, `${path}.${name}`))
}
