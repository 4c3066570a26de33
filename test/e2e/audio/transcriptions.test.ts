import { describe, expect, test } from 'bun:test'
import { toFile } from 'openai'
import { startForAudio } from './setup.ts'

/** POST /audio/transcriptions: recordings in forms and in JSON, by tokens and by seconds. */

const { upstream, gateway, client, lastRow } = await startForAudio()

describe('transcriptions', () => {
  const wav = (seconds: number): Buffer => {
    const bytes = Buffer.alloc(44 + seconds * 8_000)
    bytes.write('RIFF', 0)
    bytes.write('WAVEfmt ', 8)
    bytes.writeUInt32LE(16, 16)
    bytes.writeUInt32LE(8_000, 28)
    bytes.write('data', 36)
    bytes.writeUInt32LE(seconds * 8_000, 40)
    return bytes
  }
  const transcribed = (more: object) => () => Response.json({ text: 'hello there', ...more })

  test('are charged by tokens', async () => {
    upstream.answers = [
      transcribed({
        usage: {
          type: 'tokens',
          input_tokens: 25,
          output_tokens: 4,
          total_tokens: 29,
          input_token_details: { text_tokens: 5, audio_tokens: 20 },
        },
      }),
    ]
    const reply = await client.audio.transcriptions.create({
      model: 'lab/gpt-4o-transcribe',
      file: await toFile(wav(2), 'a.wav', { type: 'audio/wav' }),
      language: 'en',
      temperature: 0.2,
      prompt: 'names: Ada',
    })
    expect(reply).toMatchObject({
      text: 'hello there',
      usage: { input_tokens: 25, output_tokens: 4, total_tokens: 29 },
    })
    expect(upstream.seen).toEqual([
      {
        path: '/v1/audio/transcriptions',
        body: {
          model: 'gpt-4o-transcribe',
          language: 'en',
          temperature: '0.2',
          prompt: 'names: Ada',
          response_format: 'json',
        },
        files: [expect.stringMatching(/^file a\.wav audio\/(x-)?wav 16044$/)],
      },
    ])
    // 5 × 2,500 + 20 × 6,000 + 4 × 10,000 nano-dollars.
    expect(lastRow()).toMatchObject({
      api_type: 'stt',
      cost_nano_usd: 172_500,
      usage_source: 'provider',
      native_tokens_prompt_audio: 20,
    })
  })

  test('are charged by seconds, with segments and words', async () => {
    const segments = [{ id: 0, start: 0, end: 1.5, text: 'hello there' }]
    upstream.answers = [
      transcribed({
        duration: 1.5,
        language: 'english',
        segments,
        words: [{ word: 'hello', start: 0, end: 0.5 }],
      }),
    ]
    const reply = await client.audio.transcriptions.create({
      model: 'by-second',
      file: await toFile(wav(2), 'a.wav', { type: 'audio/wav' }),
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    })
    expect(reply).toMatchObject({ text: 'hello there', duration: 1.5, language: 'english', segments })
    expect(upstream.seen[0]?.body).toMatchObject({
      'timestamp_granularities[]': ['word', 'segment'],
      response_format: 'verbose_json',
    })
    expect(lastRow()).toMatchObject({ cost_nano_usd: 150_000, usage_source: 'provider' })
  })

  const both: [model: string, costNanoUsd: number, usage: object][] = [
    ['by-second', 200_000, { seconds: 2 }],
    // 4 × 2,500 + 250 × 6,000 + 10 × 10,000 nano-dollars.
    ['lab/gpt-4o-transcribe', 1_610_000, { input_tokens: 254, output_tokens: 10 }],
  ]
  test.each(both)('of %s, with seconds and tokens of audio apart, as Mistral counts', async (...row) => {
    const [model, cost_nano_usd, shown] = row
    const usage = {
      prompt_audio_seconds: 2,
      prompt_tokens: 4,
      completion_tokens: 10,
      total_tokens: 264,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 250 },
    }
    upstream.answers = [transcribed({ usage })]
    const reply = await gateway.call('/audio/transcriptions', {
      model,
      input_audio: { data: wav(3).toString('base64'), format: 'wav' },
    })
    expect((await reply.json()).usage).toMatchObject(shown)
    expect(lastRow()).toMatchObject({ cost_nano_usd, usage_source: 'provider' })
  })

  test('of a recording in JSON are requested with a file, and charged by the seconds in its header', async () => {
    upstream.answers = [transcribed({})]
    const reply = await gateway.call('/audio/transcriptions', {
      model: 'by-second',
      input_audio: { data: wav(3).toString('base64'), format: 'wav' },
    })
    expect(await reply.json()).toMatchObject({ text: 'hello there', usage: { seconds: 3, cost: 0.0003 } })
    expect(upstream.seen[0]?.files).toEqual([
      expect.stringMatching(/^file audio\.wav audio\/(x-)?wav 24044$/),
    ])
    expect(lastRow()).toMatchObject({ cost_nano_usd: 300_000, usage_source: 'estimated' })
  })

  const broken: [answer: () => Response, status: number][] = [
    [() => Response.json({}), 502],
    [() => new Response('<html></html>'), 502],
    [() => Response.json({ error: { message: 'not a sound file' } }, { status: 400 }), 400],
  ]
  test.each(broken)('fail without a charge if the reply has no text (%#)', async (answer, status) => {
    upstream.answers = [answer, answer]
    const reply = await gateway.call('/audio/transcriptions', {
      model: 'by-second',
      input_audio: { data: wav(1).toString('base64'), format: 'wav' },
    })
    expect(reply.status).toBe(status)
    expect(lastRow()).toMatchObject({ cost_nano_usd: 0, finish_reason: 'error' })
  })
})
