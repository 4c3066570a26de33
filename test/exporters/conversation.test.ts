import { describe, expect, test } from 'bun:test'
import { conversationOf } from '../../src/exporters/conversation.ts'
import { mediaOf, withoutMedia } from '../../src/exporters/media.ts'
import type { ExportContent, ExportRecord } from '../../src/exporters/record.ts'
import { fullRecord } from './records.ts'

const PNG = `data:image/png;base64,${'iVBORw0KGgoAAAA'.repeat(4)}`
const nothing: ExportContent['output'] = { completion: null, reasoning: null }

function read(apiType: ExportRecord['apiType'], messages: unknown[], output = nothing) {
  const content = { input: { messages }, output, tools: null }
  const conversation = conversationOf(fullRecord({ apiType, content }))
  if (conversation === null) throw new Error('no content')
  return conversation
}

describe('messages of', () => {
  const call = { type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Paris' } }
  const asked = { role: 'user', parts: [{ type: 'text', content: 'Rain?' }] }
  const image = { type: 'media', modality: 'image', mime_type: 'image/png', size: 45 }

  test('chat', () => {
    const { system, input } = read('completions', [
      { role: 'developer', content: 'Brief.' },
      { role: 'user', content: 'Rain?' },
      {
        role: 'assistant',
        content: null,
        reasoning: 'Look.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'rain' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'And this?' },
          { type: 'image_url', image_url: { url: PNG } },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
          { type: 'file', file: { file_id: 'file-1' } },
        ],
      },
    ])
    expect(system).toEqual([])
    expect(input).toEqual([
      { role: 'system', parts: [{ type: 'text', content: 'Brief.' }] },
      asked,
      { role: 'assistant', parts: [{ type: 'reasoning', content: 'Look.' }, call] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'rain' }] },
      {
        role: 'user',
        parts: [
          { type: 'text', content: 'And this?' },
          image,
          { type: 'uri', modality: 'image', uri: 'https://example.com/a.png' },
          { type: 'media', modality: 'audio', mime_type: 'audio/wav', size: 4 },
          { type: 'media', modality: 'document', mime_type: 'application/pdf', size: 3 },
          { type: 'file', modality: 'document', file_id: 'file-1' },
        ],
      },
    ])
  })

  test('Messages', () => {
    const { system, input } = read('messages', [
      { role: 'system', content: [{ type: 'text', text: 'Brief.' }] },
      { role: 'user', content: 'Rain?' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Look.', signature: 's' },
          { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Paris' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'rain' }] },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG.split(',')[1] } },
          { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
        ],
      },
    ])
    expect(system).toEqual([{ type: 'text', content: 'Brief.' }])
    expect(input).toEqual([
      asked,
      { role: 'assistant', parts: [{ type: 'reasoning', content: 'Look.' }, call] },
      {
        role: 'user',
        parts: [
          { type: 'tool_call_response', id: 'c1', response: [{ type: 'text', content: 'rain' }] },
          image,
          { type: 'uri', modality: 'document', uri: 'https://example.com/a.pdf' },
        ],
      },
    ])
  })

  test('Responses', () => {
    const { input } = read('responses', [
      { role: 'user', content: [{ type: 'input_text', text: 'Rain?' }] },
      { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'Look.' }] },
      { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Paris"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'rain' },
      { role: 'user', content: [{ type: 'input_image', image_url: PNG }] },
    ])
    expect(input).toEqual([
      asked,
      { role: 'assistant', parts: [{ type: 'reasoning', content: 'Look.' }] },
      { role: 'assistant', parts: [call] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'rain' }] },
      { role: 'user', parts: [image] },
    ])
  })

  test('Gemini', () => {
    const { system, input } = read('gemini', [
      { role: 'system', content: [{ text: 'Brief.' }] },
      { role: 'user', parts: [{ text: 'Rain?' }] },
      {
        role: 'model',
        parts: [
          { text: 'Look.', thought: true },
          { functionCall: { id: 'c1', name: 'weather', args: { city: 'Paris' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'weather', response: { sky: 'rain' } } },
          { inlineData: { mimeType: 'image/png', data: PNG.split(',')[1] } },
          { fileData: { mimeType: 'video/mp4', fileUri: 'https://example.com/a.mp4' } },
        ],
      },
    ])
    expect(system).toEqual([{ type: 'text', content: 'Brief.' }])
    expect(input).toEqual([
      asked,
      { role: 'assistant', parts: [{ type: 'reasoning', content: 'Look.' }, call] },
      {
        role: 'user',
        parts: [
          { type: 'tool_call_response', id: 'c1', response: { sky: 'rain' } },
          image,
          { type: 'uri', modality: 'video', mime_type: 'video/mp4', uri: 'https://example.com/a.mp4' },
        ],
      },
    ])
  })

  test('nothing known goes as it is', () => {
    const { input } = read('rerank', [{ query: 'q', documents: ['a', 'b'] }, 7])
    expect(input).toEqual([
      { role: 'user', parts: [{ type: 'unknown', query: 'q', documents: ['a', 'b'] }] },
      { role: 'user', parts: [{ type: 'text', content: '7' }] },
    ])
  })
})

describe('a reply', () => {
  const replyOf = (completion: string | null, reasoning: string | null = null) =>
    read('completions', [], { completion, reasoning }).output

  test('is a text, with the reasoning before it', () => {
    expect(replyOf('Rain.', 'Look.')).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'Look.' },
          { type: 'text', content: 'Rain.' },
        ],
        finish_reason: 'stop',
      },
    ])
    expect(replyOf(null)).toEqual([])
  })

  test('is a message with calls and images, or one for each choice', () => {
    const calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{' } }]
    const images = [{ type: 'image_url', image_url: { url: PNG } }]
    const [message] = replyOf(JSON.stringify({ content: 'See.', tool_calls: calls, images }))
    expect(message?.parts).toEqual([
      { type: 'text', content: 'See.' },
      { type: 'tool_call', id: 'c1', name: 'f', arguments: '{' },
      { type: 'media', modality: 'image', mime_type: 'image/png', size: 45 },
    ])
    const two = replyOf(
      JSON.stringify([
        { index: 0, content: 'a' },
        { index: 1, content: 'b' },
      ]),
    )
    expect(two.map(({ parts }) => parts[0]?.['content'])).toEqual(['a', 'b'])
  })

  test('that is JSON of the model is a text, as it was written', () => {
    for (const json of ['{"content": "x"}', '{ "city": "Paris" }', '[1]', '{broken']) {
      expect(replyOf(json)[0]?.parts).toEqual([{ type: 'text', content: json }])
    }
  })

  test('of an image has its type and size', () => {
    const reply = JSON.stringify({ data: [{ b64_json: 'iVBORw0KGgo=' }] })
    expect(replyOf(reply)[0]?.parts[0]?.['content']).toBe('{"data":[{"b64_json":"[unknown, 8 bytes]"}]}')
  })
})

describe('media', () => {
  test('are found by their form, and texts stay', () => {
    const long = 'QUJD'.repeat(200)
    const value = {
      text: long,
      result: long,
      data: 'short',
      nested: [{ mimeType: 'audio/ogg', data: 'AAAA' }],
      url: 'https://example.com/?q=data:image/png',
    }
    expect(withoutMedia(value)).toEqual({
      ...value,
      result: '[unknown, 600 bytes]',
      nested: [{ mimeType: 'audio/ogg', data: '[audio/ogg, 3 bytes]' }],
    })
  })

  test('are named once: a copy of a copy is the same', () => {
    const once = withoutMedia({ url: PNG, plain: 'data:text/plain,hello' })
    expect(once).toEqual({ url: '[image/png, 45 bytes]', plain: '[text/plain, 5 bytes]' })
    expect(withoutMedia(once)).toEqual(once)
    expect(mediaOf('[image/png, 45 bytes]')).toEqual({ type: 'image/png', bytes: 45 })
    expect(mediaOf('[see, 45 bytes]')).toBeNull()
  })
})
