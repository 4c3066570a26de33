/** Embeddings, ranking, images and audio: answered, refused and misused. */
import type { Case, Reply } from './cases.ts'
import { json } from './replies.ts'

const IMAGE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

interface Operation {
  readonly path: string
  readonly bodies: readonly (Record<string, unknown> | (() => FormData))[]
  readonly answer: Reply
  readonly outputs: string
}

function form(name: string, bytes: Uint8Array<ArrayBuffer>, fields: Record<string, string>): () => FormData {
  return () => {
    const data = new FormData()
    for (const [key, value] of Object.entries(fields)) data.set(key, value)
    data.set(name, new Blob([bytes]), name === 'file' ? 'sound.wav' : 'image.png')
    return data
  }
}

function wave(): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.alloc(44 + 16_000)
  bytes.write('RIFF', 0)
  bytes.writeUInt32LE(36 + 16_000, 4)
  bytes.write('WAVEfmt ', 8)
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(1, 20)
  bytes.writeUInt16LE(1, 22)
  bytes.writeUInt32LE(8000, 24)
  bytes.writeUInt32LE(16_000, 28)
  bytes.writeUInt16LE(2, 32)
  bytes.writeUInt16LE(16, 34)
  bytes.write('data', 36)
  bytes.writeUInt32LE(16_000, 40)
  return new Uint8Array(bytes)
}

const OPERATIONS: readonly Operation[] = [
  {
    path: '/embeddings',
    outputs: 'embeddings',
    bodies: [
      { input: 'a' },
      { input: ['a', 'b'], dimensions: 2 },
      { input: [] },
      { input: 'a', encoding_format: 'base64' },
      { input: [[1, 2]] },
    ],
    answer: json({
      object: 'list',
      model: 'upstream',
      data: [
        { object: 'embedding', index: 0, embedding: [0.1, 0.2] },
        { object: 'embedding', index: 1, embedding: [0.3, 0.4] },
      ],
      usage: { prompt_tokens: 4, total_tokens: 4 },
    }),
  },
  {
    path: '/rerank',
    outputs: 'rerank',
    bodies: [
      { query: 'q', documents: ['a', 'b'] },
      { query: 'q', documents: ['a'], top_n: 1 },
      { query: 'q' },
    ],
    answer: json({
      id: 'r',
      results: [{ index: 0, relevance_score: 0.9 }],
      meta: { billed_units: { search_units: 1 } },
    }),
  },
  {
    path: '/images',
    outputs: 'image',
    bodies: [{ prompt: 'a cat' }, { prompt: 'a cat', n: 2, size: '1024x1024' }, { prompt: '' }],
    answer: json({
      created: 1,
      data: [{ b64_json: IMAGE.toString('base64') }],
      usage: { input_tokens: 5, output_tokens: 100, total_tokens: 105 },
    }),
  },
  {
    path: '/audio/speech',
    outputs: 'speech',
    bodies: [
      { input: 'Hello', voice: 'alloy' },
      { input: 'Hello', voice: 'alloy', response_format: 'pcm' },
      { input: '' },
    ],
    answer: { status: 200, headers: { 'content-type': 'audio/mpeg' }, body: 'ID3 sound' },
  },
  {
    path: '/audio/transcriptions',
    outputs: 'transcription',
    bodies: [
      form('file', wave(), { model: '' }),
      form('file', wave(), { model: '', response_format: 'text' }),
      form('file', wave(), { model: '', response_format: 'verbose_json', language: 'en' }),
    ],
    answer: json({ text: 'Hello' }),
  },
]

const REFUSALS: readonly Reply[] = [
  json({ error: { message: 'no' } }, 400),
  json({ error: { message: 'no' } }, 401),
  json({ error: { message: 'no' } }, 429),
  json({ error: { message: 'no' } }, 500),
  json({}),
  { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' },
]

export const operations = (): Case[] =>
  OPERATIONS.flatMap(({ path, bodies, answer, outputs }) =>
    bodies.flatMap((body, index) =>
      [answer, ...REFUSALS].map((reply, turn) => ({
        name: `${path} body ${index} reply ${turn}`,
        dialect: 'chat' as const,
        path,
        body,
        replies: [reply],
        model: {
          architecture: { input_modalities: ['text', 'image', 'audio'], output_modalities: [outputs] },
        },
      })),
    ),
  )
