import { describe, expect, test } from 'bun:test'
import { DATA_URL, JPEG, made, PNG, startForImages, USAGE } from './setup.ts'

/** The request that each kind of provider gets for POST /images. */

const { upstream, gateway, ask } = await startForImages()

describe('the request to a provider', () => {
  const rows: [name: string, body: object, answer: () => Response, path: string, sent: object][] = [
    [
      'pixels from a shape and a resolution',
      { model: 'brush', aspect_ratio: '16:9', resolution: '2K', seed: 7, n: 2 },
      made([{ b64_json: PNG }, { b64_json: PNG }]),
      '/v1/images/generations',
      { model: 'brush', prompt: 'a boat', size: '2736x1536', seed: 7, n: 2 },
    ],
    [
      'the nearest size of three',
      { model: 'lab/gpt-image-1', aspect_ratio: '16:9', quality: 'max', seed: 7 },
      made([{ b64_json: PNG }], { usage: USAGE }),
      '/v1/images/generations',
      { model: 'gpt-image-1', prompt: 'a boat', size: '1536x1024', quality: 'high' },
    ],
    [
      'parameters of xAI',
      { model: 'grok-brush', aspect_ratio: '3:4', resolution: '2K' },
      made([{ b64_json: JPEG }]),
      '/v1/images/generations',
      {
        model: 'grok-brush',
        prompt: 'a boat',
        aspect_ratio: '3:4',
        resolution: '2k',
        response_format: 'b64_json',
      },
    ],
    [
      'edits of xAI in JSON',
      {
        model: 'grok-brush',
        input_references: [{ type: 'image_url', image_url: { url: DATA_URL } }],
      },
      made([{ b64_json: PNG }]),
      '/v1/images/edits',
      {
        model: 'grok-brush',
        prompt: 'a boat',
        image: { type: 'image_url', url: DATA_URL },
        response_format: 'b64_json',
      },
    ],
    [
      'a conversation with a chat model that makes images',
      {
        model: 'talking',
        aspect_ratio: '4:3',
        input_references: [{ type: 'image_url', image_url: { url: DATA_URL } }],
      },
      () =>
        Response.json({
          id: 'c-1',
          choices: [
            {
              message: { content: 'Here', images: [{ type: 'image_url', image_url: { url: DATA_URL } }] },
              finish_reason: 'stop',
            },
          ],
          usage: { prompt_tokens: 5, completion_tokens: 100 },
        }),
      '/v1/chat/completions',
      {
        model: 'talking',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a boat' },
              { type: 'image_url', image_url: { url: DATA_URL } },
            ],
          },
        ],
        modalities: ['image', 'text'],
        image_config: { aspect_ratio: '4:3' },
      },
    ],
    [
      'Gemini',
      { model: 'gemini-brush', size: '1024x1024', resolution: null },
      () =>
        Response.json({
          candidates: [
            {
              content: { parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] },
              finishReason: 'STOP',
            },
          ],
          usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1_290 },
        }),
      '/v1beta/models/gemini-brush:generateContent',
      {
        contents: [{ role: 'user', parts: [{ text: 'a boat' }] }],
        generationConfig: { responseModalities: ['IMAGE', 'TEXT'], imageConfig: { aspectRatio: '1:1' } },
      },
    ],
    [
      'Imagen',
      { model: 'imagen-lab', n: 2, aspect_ratio: '9:16', resolution: '2K', output_format: 'jpeg', seed: 3 },
      () => Response.json({ predictions: [{ bytesBase64Encoded: JPEG }, { bytesBase64Encoded: PNG }] }),
      '/v1beta/models/imagen-lab:predict',
      {
        instances: [{ prompt: 'a boat' }],
        parameters: {
          sampleCount: 2,
          aspectRatio: '9:16',
          sampleImageSize: '2K',
          outputOptions: { mimeType: 'image/jpeg' },
          seed: 3,
          addWatermark: false,
        },
      },
    ],
  ]
  test.each(rows)('has the form of the provider: %s', async (_, body, answer, path, sent) => {
    upstream.answers = [answer]
    const reply = await ask(body)
    expect({ status: reply.status, body: await reply.json() }).toMatchObject({
      status: 200,
      body: { data: expect.arrayContaining([expect.objectContaining({ b64_json: expect.any(String) })]) },
    })
    expect(upstream.seen).toEqual([{ path, body: { ...sent }, files: [] }])
  })

  test('parameters that the provider does not know are named in the metadata', async () => {
    upstream.answers = [made([{ b64_json: PNG }], { usage: USAGE })]
    const body = {
      prompt: 'a boat',
      model: 'lab/gpt-image-1',
      aspect_ratio: '21:9',
      seed: 1,
      resolution: '4K',
    }
    const reply = await gateway.call('/images', body, { 'x-service-metadata': 'enabled' })
    const { service_metadata } = await reply.json()
    expect(service_metadata.params.dropped_parameters).toEqual(['seed', 'resolution', 'aspect_ratio'])
  })
})

test('a workspace’s default image model serves a request without a model', async () => {
  gateway.database.file.run("UPDATE workspaces SET default_image_model = 'lab/brush'")
  gateway.deps.snapshot.applyChanges()
  upstream.answers = [made([{ b64_json: PNG }])]
  const reply = await ask({})
  expect({ status: reply.status, model: (await reply.json()).model }).toEqual({ status: 200, model: 'brush' })
  gateway.database.file.run('UPDATE workspaces SET default_image_model = NULL')
  gateway.deps.snapshot.applyChanges()
})
