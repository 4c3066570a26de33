import { expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { chunk, DONE, paced, startUpstream, unary, usageChunk } from '../upstream.ts'

/** What the record of a conversation says of images and recordings. */

let now = Date.UTC(2030, 0, 1)

const upstream = startUpstream()
const models = [{ id: 'seer', pricing: { prompt: '0', completion: '0' } }]
const gateway = await gatewayOfFile(
  {
    now: () => now,
    providers: [{ slug: 'lab', base_url: upstream.baseUrl, models }],
  },
  upstream,
)

const PNG = 'data:image/png;base64,iVBORw0KGgo='
const image = { type: 'image_url', image_url: { url: PNG } }
const content = [
  { type: 'text', text: 'What is this?' },
  image,
  image,
  { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
]
const ask = (more: object = {}) => ({ model: 'seer', messages: [{ role: 'user', content }], ...more })
const recordOf = async (response: Response) => {
  const id = response.headers.get('x-generation-id') ?? ''
  await response.text()
  return (await (await gateway.call(`/generation?id=${id}`)).json()).data
}

test('what of the prompt and of the answer is not text is counted', async () => {
  const message = { role: 'assistant', content: 'Look', images: [image] }
  upstream.on('seer', unary('', { choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  expect(await recordOf(await gateway.call('/chat/completions', ask()))).toMatchObject({
    num_media_prompt: 2,
    num_input_audio_prompt: 1,
    num_media_completion: 1,
  })
})

test('an answer of text alone to text alone has none', async () => {
  upstream.on('seer', unary('Hello'))
  const messages = [{ role: 'user', content: 'Hello' }]
  expect(await recordOf(await gateway.call('/chat/completions', ask({ messages })))).toMatchObject({
    num_media_prompt: 0,
    num_input_audio_prompt: 0,
    num_media_completion: 0,
  })
})

test('an image is content: the latency ends with the first one', async () => {
  const parts = [chunk({ images: [image] }), chunk({}, 'stop') + usageChunk() + DONE]
  const shown = Promise.withResolvers<void>()
  let sent = 0
  upstream.on('seer', () => paced(parts, 'close', async () => (sent++ > 0 ? shown.promise : undefined)))
  const response = await gateway.call('/chat/completions', ask({ stream: true }))
  const reader = response.body?.getReader()
  await reader?.read()
  now += 100
  shown.resolve()
  while ((await reader?.read())?.done === false);
  expect(gateway.generations().at(-1)).toMatchObject({
    num_media_completion: 1,
    latency_ms: 0,
    generation_time_ms: 100,
  })
})
