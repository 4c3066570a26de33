import { describe, expect, test } from 'bun:test'
import { toFile } from 'openai'
import { namedEvents } from '../replies.ts'
import { made, PNG, startForImages, USAGE } from './setup.ts'

/** POST /images/generations and /images/edits, called by OpenAI’s own client. */

const { upstream, client, lastRow } = await startForImages()

describe('the official client', () => {
  test('makes an image', async () => {
    upstream.answers = [
      made([{ b64_json: PNG, revised_prompt: 'a small boat' }], { usage: USAGE, size: '1024x1024' }),
    ]
    const reply = await client.images.generate({
      model: 'lab/gpt-image-1',
      prompt: 'a boat',
      size: '1024x1024',
      quality: 'high',
      user: 'u-1',
    })
    expect(reply.data).toEqual([
      expect.objectContaining({ b64_json: PNG, revised_prompt: 'a small boat', media_type: 'image/png' }),
    ])
    expect(reply).toMatchObject({ size: '1024x1024', usage: { input_tokens: 20, output_tokens: 300 } })
    expect(upstream.seen).toEqual([
      {
        path: '/v1/images/generations',
        body: { model: 'gpt-image-1', prompt: 'a boat', size: '1024x1024', quality: 'high', user: 'u-1' },
        files: [],
      },
    ])
    // 20 × 5,000 + 300 × 40,000 nano-dollars.
    expect(lastRow()).toMatchObject({
      api_type: 'image',
      cost_nano_usd: 12_100_000,
      usage_source: 'provider',
      finish_reason: 'stop',
      num_media_completion: 1,
      native_tokens_prompt_images: 8,
      native_tokens_completion_images: 300,
      external_user: 'u-1',
    })
  })

  test('edits images, which are sent on as files', async () => {
    upstream.answers = [made([{ b64_json: PNG }], { usage: USAGE })]
    const png = await toFile(Buffer.from(PNG, 'base64'), 'a.png', { type: 'image/png' })
    const reply = await client.images.edit({
      model: 'lab/gpt-image-1',
      prompt: 'redder',
      image: [png, png],
      n: 1,
    })
    expect(reply.data?.[0]?.b64_json).toBe(PNG)
    expect(upstream.seen[0]).toEqual({
      path: '/v1/images/edits',
      body: { model: 'gpt-image-1', prompt: 'redder', n: '1' },
      files: ['image[] image-0.png image/png 70', 'image[] image-1.png image/png 70'],
    })
  })

  test('sends a mask along, and gets the events of an edit under their own names', async () => {
    upstream.answers = [
      namedEvents(
        { type: 'image_edit.partial_image', b64_json: PNG, partial_image_index: 0 },
        { type: 'image_edit.completed', b64_json: PNG, usage: USAGE },
      ),
    ]
    const png = await toFile(Buffer.from(PNG, 'base64'), 'a.png', { type: 'image/png' })
    const stream = await client.images.edit({
      model: 'lab/gpt-image-1',
      prompt: 'redder',
      image: png,
      mask: png,
      stream: true,
      partial_images: 1,
    })
    const got: string[] = []
    for await (const { type } of stream) got.push(type)
    expect(got).toEqual(['image_edit.partial_image', 'image_edit.completed'])
    expect(upstream.seen[0]).toMatchObject({
      path: '/v1/images/edits',
      body: { stream: 'true', partial_images: '1' },
      files: ['image image-0.png image/png 70', 'mask mask.png image/png 70'],
    })
  })

  test('streams drafts as they come, and the image after it is on the ledger', async () => {
    upstream.answers = [
      namedEvents(
        { type: 'image_generation.partial_image', b64_json: PNG, partial_image_index: 0 },
        { type: 'image_generation.completed', b64_json: PNG, usage: USAGE, quality: 'low' },
      ),
    ]
    const stream = await client.images.generate({
      model: 'lab/gpt-image-1',
      prompt: 'a boat',
      stream: true,
      partial_images: 1,
    })
    const got: unknown[] = []
    for await (const event of stream) got.push(event)
    expect(got).toMatchObject([
      { type: 'image_generation.partial_image', b64_json: PNG, partial_image_index: 0 },
      {
        type: 'image_generation.completed',
        b64_json: PNG,
        media_type: 'image/png',
        quality: 'low',
        usage: { total_tokens: 320, cost: 0.0121 },
      },
    ])
    expect(upstream.seen[0]?.body).toMatchObject({ stream: true, partial_images: 1 })
    expect(lastRow()).toMatchObject({ streamed: 1, cost_nano_usd: 12_100_000, num_media_completion: 1 })
  })

  test('streams an image of the usual size, which is one event of megabytes', async () => {
    const large = `${PNG.replace(/=+$/, '').slice(0, 40)}${'A'.repeat(3_000_000)}`
    upstream.answers = [
      namedEvents(
        { type: 'image_generation.partial_image', b64_json: large, partial_image_index: 0 },
        { type: 'image_generation.completed', b64_json: large, usage: USAGE },
      ),
    ]
    const stream = await client.images.generate({
      model: 'lab/gpt-image-1',
      prompt: 'a boat',
      stream: true,
      partial_images: 1,
    })
    const lengths: number[] = []
    for await (const event of stream) lengths.push(event.b64_json.length)
    expect(lengths).toEqual([large.length, large.length])
  })
})
