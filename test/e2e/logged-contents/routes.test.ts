import { describe, expect, test } from 'bun:test'
import { objectOf } from '../../../src/http/json.ts'
import { chat, MESSAGES, messages, PIXEL, SOUND, startForLoggedContents, text } from './setup.ts'

/** What GET /generation/content returns of a generation, on every route. */

const { gateway, contentOf, storedOf, loggedOf } = await startForLoggedContents()

function recording(size: number): FormData {
  const form = new FormData()
  form.append('model', 'ears')
  form.append('prompt', 'Tides')
  form.append('file', new Blob([Buffer.alloc(size, 'a')]), 'tide.wav')
  return form
}

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

const parts = [
  { type: 'text', text: 'What is this?' },
  { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
]
const called = {
  content: 'Let me see.',
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{"at":1}' } }],
}

describe('the logged request and reply', () => {
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
      'reasoning that the caller excludes',
      '/chat/completions',
      chat('thinks', { stream: true, reasoning: { exclude: true } }),
      messages,
      text('High.'),
    ),
    row(
      'a question with an image',
      '/chat/completions',
      chat('tiny', { messages: [{ role: 'user', content: parts }] }),
      { messages: [{ role: 'user', content: parts }] },
      text('High.'),
    ),
    row(
      'tool calls',
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
            input_audio: { data: '… [truncated in the log: a recording of 3750001 bytes]', format: 'wav' },
          },
        ],
      },
      text('High.'),
    ),
  ])('of $name', async ({ path, body, input, output }) => {
    const response = await gateway.call(path, body)
    expect(response.status).toBe(200)
    await response.arrayBuffer()
    const id = response.headers.get('x-generation-id') ?? ''
    // Before it is in the file, and after.
    expect(await contentOf(id)).toEqual({ input, output, error: null })
    expect(await storedOf(id)).toEqual({ input, output, error: null })
  })

  test('of a background response have its own id', async () => {
    const begun = await gateway.call('/responses', { model: 'stream', input: 'Hi', background: true })
    const { id } = objectOf(await begun.json())
    await gateway.deps.responses.background.find(String(id))?.ended
    expect(await contentOf(String(id))).toEqual({
      input: { prompt: 'Hi' },
      output: text('High tide.'),
      error: null,
    })
  })

  test('of a turn of a conversation are without the turns before it', async () => {
    const first = objectOf(
      await (await gateway.call('/responses', { model: 'tiny', input: 'One', store: true })).json(),
    )
    const second = { model: 'tiny', input: 'Two', previous_response_id: first['id'] }
    expect(await loggedOf('/responses', second)).toMatchObject({ input: { prompt: 'Two' } })
  })

  test('have the id of an uploaded file instead of its bytes', async () => {
    const form = new FormData()
    form.append('file', new Blob(['Tides are slow.']), 'tides.txt')
    const { id } = objectOf(await (await gateway.call('/files', form)).json())
    const message = { role: 'user', content: [{ type: 'file', file: { file_id: id } }] }
    expect(await loggedOf('/chat/completions', chat('tiny', { messages: [message] }))).toMatchObject({
      input: { messages: [message] },
    })
  })
})
