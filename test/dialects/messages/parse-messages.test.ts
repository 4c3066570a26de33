import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { seal } from '../../../src/dialects/opaque.ts'
import { assistant, CALL, parse, user } from './parsed.ts'

/** The first bytes of a PNG, and of a PDF. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB'

const PDF = 'JVBERi0xLjQK'

describe('messages', () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const rows: [what: string, messages: JsonObject[], expected: unknown[]][] = [
    [
      'text, with a mark and without',
      [user({ type: 'text', text: 'a' }), user({ type: 'text', text: 'b', ...mark })],
      [
        { role: 'user', content: 'a' },
        { role: 'user', content: [{ type: 'text', text: 'b', extra: mark }] },
      ],
    ],
    [
      'images',
      [
        user(
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
          { type: 'image', source: { type: 'url', url: 'https://a.example/i.png' }, ...mark },
          { type: 'image', source: { type: 'file', file_id: 'file_1' } },
        ),
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'image', url: `data:image/png;base64,${PNG}` },
            { type: 'image', url: 'https://a.example/i.png', extra: mark },
            { type: 'file', fileId: 'file_1' },
          ],
        },
      ],
    ],
    [
      'documents',
      [
        user(
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: PDF },
            title: 'a.pdf',
            context: 'Old.',
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'T' }, title: 'A' },
          { type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } },
          { type: 'document', source: { type: 'file', file_id: 'file_1' } },
          { type: 'document', source: { type: 'content', content: 'C' } },
          {
            type: 'document',
            title: 'B',
            source: { type: 'content', content: [{ type: 'text', text: 'D' }] },
            ...mark,
          },
        ),
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Old.' },
            { type: 'file', data: `data:application/pdf;base64,${PDF}`, filename: 'a.pdf' },
            { type: 'text', text: 'A\n\nT' },
            { type: 'file', data: 'https://a.example/a.pdf' },
            { type: 'file', fileId: 'file_1' },
            { type: 'text', text: 'C' },
            { type: 'text', text: 'B' },
            { type: 'text', text: 'D', extra: mark },
          ],
        },
      ],
    ],
    [
      'what was found',
      [
        user({
          type: 'search_result',
          source: 'https://a.example',
          title: 'A',
          content: [{ type: 'text', text: 'found' }],
        }),
      ],
      [{ role: 'user', content: 'A\nhttps://a.example\nfound' }],
    ],
    [
      'calls and their results',
      [
        assistant({ type: 'text', text: 'I call.' }, CALL, { ...CALL, id: 'toolu_2', input: {} }),
        user(
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'one', is_error: true },
          {
            type: 'tool_result',
            tool_use_id: 'toolu_2',
            content: [
              { type: 'text', text: 'two' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            ],
            ...mark,
          },
          { type: 'text', text: 'And now?' },
        ),
      ],
      [
        {
          role: 'assistant',
          content: 'I call.',
          toolCalls: [
            { id: 'toolu_1', name: 'f', arguments: '{"x":1}' },
            { id: 'toolu_2', name: 'f', arguments: '{}' },
          ],
        },
        { role: 'tool', content: 'one', toolCallId: 'toolu_1', extra: { is_error: true } },
        {
          role: 'tool',
          content: [
            { type: 'text', text: 'two' },
            { type: 'image', url: `data:image/png;base64,${PNG}` },
          ],
          toolCallId: 'toolu_2',
          extra: mark,
        },
        { role: 'user', content: 'And now?' },
      ],
    ],
    [
      'an id that comes again in a later turn',
      [
        assistant(CALL),
        user({ type: 'tool_result', tool_use_id: 'toolu_1', content: 'one' }),
        assistant({ ...CALL, name: 'g' }),
        user({ type: 'tool_result', tool_use_id: 'toolu_1', content: 'two' }),
      ],
      [
        { role: 'assistant', content: null, toolCalls: [{ id: 'toolu_1', name: 'f', arguments: '{"x":1}' }] },
        { role: 'tool', content: 'one', toolCallId: 'toolu_1' },
        { role: 'assistant', content: null, toolCalls: [{ id: 'toolu_1', name: 'g', arguments: '{"x":1}' }] },
        { role: 'tool', content: 'two', toolCallId: 'toolu_1' },
      ],
    ],
    [
      'a result of nothing',
      [assistant(CALL), user({ type: 'tool_result', tool_use_id: 'toolu_1' })],
      [
        { role: 'assistant', content: null, toolCalls: [{ id: 'toolu_1', name: 'f', arguments: '{"x":1}' }] },
        { role: 'tool', content: '', toolCallId: 'toolu_1' },
      ],
    ],
    [
      'thoughts of Claude',
      [
        assistant(
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'redacted_thinking', data: 'zz' },
          { type: 'text', text: 'Hi' },
        ),
      ],
      [
        {
          role: 'assistant',
          content: 'Hi',
          reasoning: 'hm',
          reasoningDetails: [
            { type: 'reasoning.text', text: 'hm', signature: 's', format: 'anthropic-claude-v1', index: 0 },
            { type: 'reasoning.encrypted', data: 'zz', format: 'anthropic-claude-v1', index: 1 },
          ],
        },
      ],
    ],
    [
      'sealed thoughts, and what a client did to one',
      [
        assistant(
          {
            type: 'thinking',
            thinking: 'hm',
            signature: seal({ detail: { type: 'reasoning.summary', format: 'x', index: 4 } }),
          },
          {
            type: 'redacted_thinking',
            data: seal({ type: 'reasoning.encrypted', data: 'd', format: 'x', id: 'c' }),
          },
          { type: 'redacted_thinking', data: 'sluice.v1.broken' },
          { type: 'thinking', thinking: ' bare', signature: seal({}) },
        ),
      ],
      [
        {
          role: 'assistant',
          content: null,
          reasoning: 'hm bare',
          reasoningDetails: [
            { type: 'reasoning.summary', summary: 'hm', format: 'x', index: 4 },
            { type: 'reasoning.encrypted', data: 'd', format: 'x', id: 'c' },
          ],
        },
      ],
    ],
    [
      'what runs at the provider',
      [assistant({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} })],
      [
        {
          role: 'assistant',
          content: [
            { type: 'unknown', data: { type: 'server_tool_use', id: 's', name: 'web_search', input: {} } },
          ],
        },
      ],
    ],
    [
      'instructions in the midst',
      [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Be brief.' },
      ],
      [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Be brief.' },
      ],
    ],
  ]
  test.each(rows)('%s', (_, messages, expected) => {
    expect<unknown>(parse({ messages }).messages).toEqual(expected)
  })

  test.each<[unknown, unknown]>([
    ['Be brief.', 'Be brief.'],
    [[{ type: 'text', text: 'Be brief.' }], 'Be brief.'],
    [
      [
        { type: 'text', text: 'a', ...mark },
        { type: 'text', text: 'b' },
      ],
      [
        { type: 'text', text: 'a', extra: mark },
        { type: 'text', text: 'b' },
      ],
    ],
  ])('the system %p', (system, content) => {
    expect<unknown>(parse({ system }).messages[0]).toEqual({ role: 'system', content })
  })

  test.each([[''], [[]]])('no system: %p', (system) => {
    expect(parse({ system }).messages).toEqual([{ role: 'user', content: 'Hi' }])
  })
})
