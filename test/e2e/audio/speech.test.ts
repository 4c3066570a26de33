import { describe, expect, test } from 'bun:test'
import { startForAudio } from './setup.ts'

/** POST /audio/speech: formats, prices, and Gemini’s samples. */

const { upstream, gateway, client, lastRow } = await startForAudio()

/** A reply of pieces of ten bytes. */
const sound =
  (pieces: number, type = 'audio/mpeg') =>
  (): Response => {
    const body = Buffer.concat(Array.from({ length: pieces }, (_, index) => Buffer.alloc(10, index + 1)))
    return new Response(body, { headers: { 'content-type': type } })
  }

describe('speech', () => {
  test('is passed on to the official client byte for byte, and charged by the character', async () => {
    upstream.answers = [sound(4)]
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
    expect(upstream.seen).toEqual([
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
  test.each(prices)('is charged with the prices of the model %s', async (model, cost, source) => {
    upstream.answers = [sound(2)]
    const reply = await gateway.call('/audio/speech', { model, input: 'Hello' })
    expect((await reply.bytes()).length).toBe(20)
    expect(lastRow()).toMatchObject({ cost_nano_usd: cost, usage_source: source })
  })

  test('in base64, as Mistral sends it, is sound for the caller', async () => {
    upstream.answers = [() => Response.json({ audio_data: Buffer.from('tone').toString('base64') })]
    const reply = await gateway.call('/audio/speech', {
      model: 'by-letter',
      input: 'Hello',
      response_format: 'mp3',
    })
    expect(reply.headers.get('content-type')).toBe('audio/mpeg')
    expect(Buffer.from(await reply.arrayBuffer()).toString()).toBe('tone')
    expect(lastRow()).toMatchObject({ cost_nano_usd: 150_000, usage_source: 'provider' })
  })

  const types: [format: string | undefined, upstreamType: string, sent: string, type: string][] = [
    [undefined, 'audio/pcm', 'pcm', 'audio/pcm'],
    ['wav', 'application/octet-stream', 'wav', 'audio/wav'],
    ['opus', '', 'opus', 'audio/ogg'],
    ['flac', 'audio/x-flac', 'flac', 'audio/x-flac'],
  ]
  test.each(types)(
    'of format %p, sent by the provider as %p, has the right type',
    async (format, upstreamType, sent, type) => {
      upstream.answers = [sound(1, upstreamType)]
      const reply = await gateway.call('/audio/speech', {
        model: 'tts-1',
        input: 'Hi',
        response_format: format,
      })
      expect(reply.headers.get('content-type')).toBe(type)
      await reply.bytes()
      expect(upstream.seen[0]?.body).toMatchObject({ response_format: sent, voice: 'alloy' })
    },
  )

  test('of Gemini is samples, with a header if the caller wants wav', async () => {
    const samples = Buffer.from('abcdef')
    upstream.answers = [
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
    expect(upstream.seen[0]).toMatchObject({
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
