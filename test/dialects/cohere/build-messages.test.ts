import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import type { NamedRow } from '../build-table.ts'
import { build, own, table, USER } from './built.ts'

const CALL = { id: 'c1', type: 'function', function: { name: 'tide', arguments: '{"place":"Brest"}' } }

const RESULT = { role: 'tool', tool_call_id: 'c1', content: '14:20' }

const assistant = (more: JsonObject) => ({ role: 'assistant', ...more })

describe('messages', () => {
  const rows = (
    list: { name: string; asked: JsonObject[]; sent: JsonObject[]; more?: JsonObject; dropped?: string[] }[],
  ): NamedRow[] =>
    list.map(({ name, asked, sent, more, dropped }) => ({
      name,
      asked: { messages: asked },
      sent: { messages: sent, ...more },
      ...(dropped ? { dropped } : {}),
    }))
  const thought = own('reasoning.text', { text: 'Tides. ', index: 1 })
  table(
    rows([
      {
        name: 'roles',
        asked: [{ role: 'system', content: 'S' }, USER, { role: 'developer', content: 'D' }],
        sent: [{ role: 'system', content: 'S' }, USER, { role: 'system', content: 'D' }],
      },
      {
        name: 'parts',
        asked: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?', cache_control: { type: 'ephemeral' } },
              { type: 'text', text: '' },
              { type: 'image_url', image_url: { url: 'https://x.example/a.png', detail: 'low' } },
              { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
              { type: 'video_url', video_url: { url: 'https://x.example/a.mp4' } },
              { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==' } },
              { type: 'hologram' },
            ],
          },
        ],
        sent: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?' },
              { type: 'image_url', image_url: { url: 'https://x.example/a.png', detail: 'low' } },
            ],
          },
        ],
        dropped: [
          'cache_control',
          'content.input_audio',
          'content.video_url',
          'content.file',
          'content.hologram',
        ],
      },
      {
        name: 'files of text are documents',
        asked: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Sum it up.' },
              { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,R3LDvMOfZQ==' } },
              { type: 'file', file: { file_data: 'data:application/json,%7B%7D' } },
            ],
          },
        ],
        sent: [{ role: 'user', content: [{ type: 'text', text: 'Sum it up.' }] }],
        more: { documents: [{ data: { text: 'Grüße', title: 'a.txt' } }, { data: { text: '{}' } }] },
      },
      {
        name: 'a turn of tools',
        asked: [USER, assistant({ content: null, tool_calls: [CALL] }), RESULT],
        sent: [USER, assistant({ tool_calls: [CALL] }), RESULT],
      },
      {
        name: 'calls without arguments, results in parts',
        asked: [
          USER,
          assistant({
            content: 'So.',
            tool_calls: [{ ...CALL, function: { name: 'now', arguments: '' } }],
          }),
          {
            ...RESULT,
            content: [
              { type: 'text', text: '12' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
            ],
          },
        ],
        sent: [
          USER,
          assistant({
            content: 'So.',
            tool_calls: [{ ...CALL, function: { name: 'now', arguments: '{}' } }],
          }),
          { ...RESULT, content: [{ type: 'text', text: '12' }] },
        ],
        dropped: ['content.image_url'],
      },
      {
        name: 'thoughts and plans of its own',
        asked: [
          USER,
          assistant({
            content: 'So.',
            reasoning: 'Tides. Brest. Then?',
            reasoning_details: [
              thought,
              { ...thought, text: 'Brest.' },
              { ...thought, text: 'Then?', index: 2 },
              own('reasoning.summary', { summary: 'Ask for ', index: 0 }),
              own('reasoning.summary', { summary: 'the tide.', index: 0 }),
            ],
            tool_calls: [CALL],
          }),
          RESULT,
        ],
        sent: [
          USER,
          assistant({
            content: [
              { type: 'thinking', thinking: 'Tides. Brest.' },
              { type: 'thinking', thinking: 'Then?' },
              { type: 'text', text: 'So.' },
            ],
            tool_plan: 'Ask for the tide.',
            tool_calls: [CALL],
          }),
          RESULT,
        ],
      },
      {
        name: 'unsigned thoughts, and signed ones of other models',
        asked: [
          assistant({ content: 'A', reasoning: 'Plain.' }),
          USER,
          assistant({
            content: 'B',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Open.', format: 'unknown', index: 0 },
              { type: 'reasoning.encrypted', data: 'x', format: 'openai-responses-v1' },
              { type: 'reasoning.text', text: 'S', signature: 's', format: 'anthropic-claude-v1' },
            ],
          }),
          USER,
        ],
        sent: [
          assistant({
            content: [
              { type: 'thinking', thinking: 'Plain.' },
              { type: 'text', text: 'A' },
            ],
          }),
          USER,
          assistant({
            content: [
              { type: 'thinking', thinking: 'Open.' },
              { type: 'text', text: 'B' },
            ],
          }),
          USER,
        ],
        dropped: ['messages.reasoning_details'],
      },
      {
        name: 'an answer of which nothing can be carried is left out',
        asked: [USER, assistant({ content: [{ type: 'hologram', depth: 3 }] }), USER],
        sent: [USER, USER],
        dropped: ['content.hologram'],
      },
      {
        name: 'refusals, names, unknown fields',
        asked: [
          { ...USER, name: 'ann' },
          assistant({ content: null, refusal: 'No.', mood: 'calm' }),
          assistant({ content: null }),
        ],
        sent: [USER, assistant({ content: 'No.' }), assistant({ content: '' })],
        dropped: ['messages.name', 'messages.mood'],
      },
    ]),
  )

  test('a model that does not reason gets no thoughts', () => {
    const { body, dropped } = build(
      { messages: [assistant({ content: 'A', reasoning: 'Plain.' }), USER] },
      { supportedParameters: [] },
    )
    expect(body.messages).toEqual([assistant({ content: 'A' }), USER])
    expect(dropped).toEqual(['messages.reasoning'])
  })
})
