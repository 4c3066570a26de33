import { beforeEach, describe, expect, test } from 'bun:test'
import { gatewayOfFile, labOf } from '../file-setup.ts'
import { startUpstream, unary } from '../upstream.ts'

/** Sound and images have prices of their own: what is reserved for them is what they may cost. */

const upstream = startUpstream()
const priced = (id: string, pricing: object, output = ['text']) => ({
  id,
  max_completion_tokens: 1000,
  architecture: { input_modalities: ['text', 'audio', 'image'], output_modalities: output },
  pricing: { prompt: '0.000001', completion: '0.000001', ...pricing },
})
const gateway = await gatewayOfFile(
  {
    providers: [
      labOf(upstream, [
        priced('hears', { audio: '0.001', audio_output: '0.002' }),
        priced('sees', { image_token: '0.001' }),
        priced('paints', { image_output: '0.002' }, ['text', 'image']),
      ]),
    ],
  },
  upstream,
)

beforeEach(() => {
  upstream.seen.length = 0
})

const AUDIO = { type: 'input_audio', input_audio: { data: 'A'.repeat(16_000), format: 'mp3' } }
const IMAGE = { type: 'image_url', image_url: { url: 'https://images.example.org/cat.png' } }
const text = { type: 'text', text: 'What is this?' }

async function ask(model: string, limit: number, content: object[], more: object = {}) {
  const { key } = await gateway.makeKey({ limit })
  const body = { model, messages: [{ role: 'user', content }], max_tokens: 100, ...more }
  return gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })
}

describe('a key with less than its sound or image may cost', () => {
  const rows: { what: string; model: string; enough: number; content: object[]; more?: object }[] = [
    { what: 'a recording that is asked', model: 'hears', enough: 0.1, content: [text, AUDIO] },
    { what: 'an image that is asked', model: 'sees', enough: 1.51, content: [text, IMAGE] },
    {
      what: 'a spoken answer',
      model: 'hears',
      enough: 0.21,
      content: [text],
      more: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'mp3' } },
    },
    { what: 'a painted answer', model: 'paints', enough: 0.21, content: [text] },
  ]
  test.each(rows)(
    'is refused before a provider is called: $what',
    async ({ model, enough, content, more }) => {
      upstream.on(model, unary('A cat.'))
      const refused = await ask(model, enough / 10, content, more)
      expect(refused.status).toBe(402)
      expect(upstream.seen.length).toBe(0)
      expect((await ask(model, enough, content, more)).status).toBe(200)
      expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
    },
  )

  test('is charged what was counted, and never more than its limit', async () => {
    upstream.on('sees', () =>
      Response.json({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        model: 'sees',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'A cat.' } }],
        usage: {
          prompt_tokens: 1010,
          completion_tokens: 5,
          total_tokens: 1015,
          prompt_tokens_details: { image_tokens: 1000 },
        },
      }),
    )
    const reply = await (await ask('sees', 1.51, [text, IMAGE])).json()
    expect(reply.usage.cost).toBe(1.000015)
  })

  const painted = (usage: object) => () =>
    Response.json({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'paints',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: {
            role: 'assistant',
            content: 'A cat.',
            images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
          },
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60, ...usage },
    })

  test('text beside an image is charged at the price of text', async () => {
    upstream.on('paints', painted({ completion_tokens_details: { image_tokens: 40 } }))
    const reply = await (await ask('paints', 1, [text])).json()
    expect(reply.usage.cost).toBeCloseTo(0.08002, 9)
  })

  test('an image whose tokens are not counted apart is charged as an image', async () => {
    upstream.on('paints', painted({}))
    const reply = await (await ask('paints', 1, [text])).json()
    expect(reply.usage.cost).toBe(0.00001 + 0.1)
  })

  test('words alone are reserved at the price of words', async () => {
    upstream.on('hears', unary('Yes.'))
    expect((await ask('hears', 0.001, [text])).status).toBe(200)
  })
})
