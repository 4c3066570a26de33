import { describe, expect, test } from 'bun:test'
import { API_KEY } from '../../gateway.ts'
import { startForAudio } from './setup.ts'

/** The routes of audio reject invalid requests before they call a provider. */

const { upstream, gateway } = await startForAudio()
const rowCount = () => gateway.generations().length

describe('an invalid request', () => {
  const input_audio = { data: 'UklGRg==', format: 'wav' }
  const rows: [path: string, body: object, message: string][] = [
    ['/audio/speech', { model: 'tts-1' }, 'input: is required'],
    ['/audio/speech', { model: 'tts-1', input: '' }, 'input: must not be empty'],
    ['/audio/speech', { input: 'Hi' }, 'model: is required'],
    [
      '/audio/speech',
      { model: 'tts-1', input: 'Hi', response_format: 'midi' },
      'response_format: must be one of',
    ],
    ['/audio/speech', { model: 'tts-1', input: 'Hi', speed: 9 }, 'speed: must be a number from 0.25 to 4'],
    ['/audio/speech', { model: 'gemini-voice', input: 'Hi', response_format: 'mp3' }, 'pcm and wav alone'],
    ['/audio/speech', { model: 'tts-1', input: 'Hi', stream_format: 'sse' }, 'stream_format: must be'],
    ['/audio/transcriptions', { model: 'by-second', input_audio, stream: true }, 'stream: '],
    ['/audio/speech', { model: 'words', input: 'Hi' }, 'POST /chat/completions'],
    ['/audio/speech', { model: 'by-second', input: 'Hi' }, 'POST /audio/transcriptions'],
    ['/audio/transcriptions', { model: 'by-second' }, 'input_audio: is required'],
    [
      '/audio/transcriptions',
      { model: 'by-second', input_audio: { data: '', format: 'wav' } },
      'input_audio.data: must not be empty',
    ],
    [
      '/audio/transcriptions',
      { model: 'by-second', input_audio: { data: '&&', format: 'wav' } },
      'input_audio.data: must be base64',
    ],
    [
      '/audio/transcriptions',
      { model: 'by-second', input_audio: { data: 'UklGRg==' } },
      'input_audio.format: is required',
    ],
    [
      '/audio/transcriptions',
      { model: 'by-second', input_audio: { data: 'UklGRg==', format: '../x' } },
      'input_audio.format: must be',
    ],
    [
      '/audio/transcriptions',
      { model: 'by-second', input_audio, response_format: 'srt' },
      'response_format: must be one of',
    ],
    [
      '/audio/transcriptions',
      { model: 'by-second', input_audio, timestamp_granularities: ['word'] },
      'verbose_json',
    ],
    ['/audio/transcriptions', { model: 'by-second', input_audio, temperature: 2 }, 'temperature: must be'],
    ['/audio/transcriptions', { model: 'tts-1', input_audio }, 'POST /audio/speech'],
  ]
  test.each(rows)('to %s is a 400 that names the field: %j', async (path, body, message) => {
    const before = rowCount()
    const reply = await gateway.call(path, body)
    const { error } = await reply.json()
    expect({ status: reply.status, message: error.message }).toEqual({
      status: 400,
      message: expect.stringContaining(message),
    })
    expect(upstream.seen).toEqual([])
    expect(rowCount()).toBe(before)
  })

  test('in a form is a 400 that names the field', async () => {
    const send = async (body: FormData | string, type?: string) => {
      const headers: Record<string, string> = { authorization: `Bearer ${API_KEY}` }
      if (type !== undefined) headers['content-type'] = type
      const reply = await fetch(`${gateway.url}/api/v1/audio/transcriptions`, {
        method: 'POST',
        headers,
        body,
      })
      return { status: reply.status, message: (await reply.json()).error.message }
    }
    const form = (fields: Record<string, string | Blob>) => {
      const made = new FormData()
      for (const [name, value] of Object.entries(fields)) made.append(name, value)
      return made
    }
    const file = new Blob(['sound'], { type: 'audio/mpeg' })
    const model = 'by-second'
    expect(await send(form({ model }))).toEqual({ status: 400, message: 'file: is required: the recording' })
    expect(await send(form({ model, file: 'text' }))).toEqual({
      status: 400,
      message: 'file: must be a file, not text',
    })
    expect(await send(form({ model, file: new Blob([]) }))).toEqual({
      status: 400,
      message: 'file: must not be empty',
    })
    expect(await send(form({ model, file, other: file }))).toMatchObject({
      status: 400,
      message: 'other: must be text, not a file',
    })
    expect(await send(form({ file }))).toMatchObject({
      status: 400,
      message: 'model: is required: name a model',
    })
    expect(await send(form({ model, file, temperature: 'hot' }))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^temperature: /),
    })
    expect(await send(form({ model, file, provider: '{' }))).toMatchObject({
      status: 400,
      message: 'provider: must be JSON',
    })
    const boundary = 'multipart/form-data; boundary=x'
    expect(await send('--x\r\nnothing', boundary)).toMatchObject({ status: 400 })
    expect(await send('nothing', 'multipart/form-data')).toMatchObject({ status: 400 })
    const unknown = await gateway.call('/audio/transcriptions', 'x', {
      'content-type': boundary,
      authorization: 'Bearer wrong',
    })
    expect(unknown.status).toBe(401)
    expect(upstream.seen).toEqual([])
  })
})
