import { describe, expect, test } from 'bun:test'
import { API_KEY } from '../../gateway.ts'
import { DATA_URL, PNG, startForImages } from './setup.ts'

/** POST /images rejects invalid requests before it calls a provider. */

const { upstream, gateway, ask } = await startForImages()

describe('an invalid request', () => {
  const reference = (url: string) => ({ input_references: [{ type: 'image_url', image_url: { url } }] })
  const rows: [body: object, message: string][] = [
    [{}, 'model: is required: neither'],
    [{ model: 'brush', prompt: '' }, 'prompt: must not be empty'],
    [{ model: 'brush', n: 0 }, 'n: must be a whole number from 1 to 10'],
    [{ model: 'brush', n: 11 }, 'n: must be a whole number from 1 to 10'],
    [{ model: 'brush', aspect_ratio: '1:3' }, 'aspect_ratio: must be one of'],
    [{ model: 'brush', resolution: '8K' }, 'resolution: must be one of'],
    [{ model: 'brush', size: 'large' }, 'size: must be WIDTHxHEIGHT'],
    [{ model: 'brush', size: '2K', resolution: '4K' }, 'size: contradicts "resolution"'],
    [{ model: 'brush', size: '1024x1024', resolution: '4K' }, 'resolution: has no meaning'],
    [{ model: 'brush', size: '1024x1024', aspect_ratio: '16:9' }, 'aspect_ratio: contradicts "size"'],
    [{ model: 'brush', quality: 'best' }, 'quality: must be one of'],
    [{ model: 'brush', output_format: 'bmp' }, 'output_format: must be one of'],
    [{ model: 'brush', output_compression: 101 }, 'output_compression: must be a whole number'],
    [
      {
        model: 'brush',
        input_references: Array.from({ length: 17 }, () => reference(DATA_URL).input_references[0]),
      },
      'input_references: must have at most 16',
    ],
    [
      { model: 'brush', ...reference('data:image/png;base64,aGVsbG8=') },
      'input_references[0].image_url.url: is not an image',
    ],
    [
      { model: 'brush', ...reference('data:image/png;base64,&&&') },
      'input_references[0].image_url.url: must be an https URL',
    ],
    [{ model: 'brush', ...reference('http://127.0.0.1/x.png') }, 'input_references[0].image_url.url: '],
    [{ model: 'brush', mask: reference(DATA_URL).input_references[0] }, 'mask: needs an image'],
    [
      { model: 'talking', ...reference(DATA_URL), mask: reference(DATA_URL).input_references[0] },
      'takes no mask with this model',
    ],
    [
      { model: 'brush', ...reference(DATA_URL), mask: reference('http://10.0.0.1/x').input_references[0] },
      'mask.image_url.url: ',
    ],
    [{ model: 'words' }, 'POST /chat/completions'],
    [{ model: 'talking', n: 2, stream: true }, 'one image at a time'],
    [{ model: 'imagen-lab', n: 5 }, 'at most 4 images'],
    [{ model: 'imagen-lab', ...reference(DATA_URL) }, 'from words alone'],
  ]
  test.each(rows)('is a 400 that names the field: %j', async (body, message) => {
    const before = gateway.generations().length
    const reply = await ask(body)
    const { error } = await reply.json()
    expect({ status: reply.status, message: error.message }).toEqual({
      status: 400,
      message: expect.stringContaining(message),
    })
    expect(upstream.seen).toEqual([])
    expect(gateway.generations()).toHaveLength(before)
  })

  test('is a form without a file, with a mask alone, or with a file of another name', async () => {
    const send = async (fields: Record<string, string | Blob>) => {
      const form = new FormData()
      for (const [name, value] of Object.entries({ model: 'brush', prompt: 'a', ...fields }))
        form.append(name, value)
      const headers = { authorization: `Bearer ${API_KEY}` }
      const reply = await fetch(`${gateway.url}/api/v1/images/edits`, { method: 'POST', headers, body: form })
      return { status: reply.status, message: (await reply.json()).error.message }
    }
    const png = new Blob([Buffer.from(PNG, 'base64')], { type: 'image/png' })
    expect(await send({})).toEqual({ status: 400, message: 'image: is required: at least one file' })
    expect(await send({ mask: png })).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^image: /),
    })
    expect(await send({ picture: png })).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^picture: /),
    })
    expect(await send({ image: new Blob(['text']) })).toMatchObject({
      status: 400,
      message: expect.stringContaining('is not an image'),
    })
    expect(upstream.seen).toEqual([])
  })
})
