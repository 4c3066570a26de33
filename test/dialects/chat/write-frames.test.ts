import { describe, expect, test } from 'bun:test'
import type { InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { writeChatStream } from '../../../src/dialects/chat/write-stream.ts'
import { CLOSING } from '../replies.ts'
import { chunksOf, frame, REPLY, text } from './chunks.ts'

/** Writes frames and returns the fields of each chunk, without the shared ones. */
function written(frames: InferenceFrame[], reply = REPLY): unknown[] {
  const writer = writeChatStream(reply)
  return frames.map((each) => {
    const [chunk, ...more] = chunksOf(writer.write(each))
    expect(more).toEqual([])
    if (!isObject(chunk)) return null
    const { id, object, created, model, provider, ...rest } = chunk
    return rest
  })
}

const choice = (delta: JsonObject, more: JsonObject = {}) => ({
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
})

describe('one frame is one chunk', () => {
  const detail = { type: 'reasoning.text', text: 'hm', signature: 's', index: 2, format: 'x' }
  const rows: [string, InferenceFrame[], unknown[]][] = [
    [
      'text',
      [frame(text('a')), frame(text('b'), text('c'))],
      [choice({ role: 'assistant', content: 'a' }), choice({ content: 'bc' })],
    ],
    [
      'nothing to tell',
      [
        frame({ type: 'response-start', upstreamId: 'u', model: 'm', created: 1 }),
        frame(text('')),
        frame({ type: 'usage', usage: { ...NO_USAGE } }),
        frame({ type: 'response-end', finishes: CLOSING.finishes }),
        frame({ type: 'native', dialect: 'messages', data: { chunk: { a: 1 } } }),
        frame({ type: 'native', dialect: 'chat', data: 'odd' }),
      ],
      [null, null, null, null, null, null],
    ],
    [
      'reasoning as bare text',
      [frame({ type: 'reasoning-delta', choice: 0, text: 'hm' }), frame(text('a'))],
      [
        choice({
          role: 'assistant',
          content: '',
          reasoning: 'hm',
          reasoning_details: [{ type: 'reasoning.text', text: 'hm', format: 'unknown', index: 0 }],
        }),
        choice({ content: 'a' }),
      ],
    ],
    [
      'reasoning with the details of upstream, never doubled',
      [
        frame(
          { type: 'reasoning-delta', choice: 0, text: 'hm' },
          { type: 'reasoning-detail', choice: 0, detail },
        ),
        frame({ type: 'reasoning-delta', choice: 0, text: 'so' }),
        frame({ type: 'reasoning-detail', choice: 0, detail: { type: 'reasoning.encrypted', data: 'z' } }),
      ],
      [
        choice({ role: 'assistant', content: '', reasoning: 'hm', reasoning_details: [detail] }),
        choice({ content: '', reasoning: 'so' }),
        choice({ content: '', reasoning_details: [{ type: 'reasoning.encrypted', data: 'z' }] }),
      ],
    ],
    [
      'tool calls',
      [
        frame({ type: 'tool-call-start', choice: 0, index: 0, id: 'c1', name: 'f', extra: { x: 1 } }),
        frame({ type: 'tool-call-delta', choice: 0, index: 0, json: '{"a"' }),
        frame(
          { type: 'tool-call-delta', choice: 0, index: 0, json: ':1}' },
          { type: 'tool-call-start', choice: 0, index: 1, id: 'c2', name: 'g' },
          { type: 'tool-call-delta', choice: 0, index: 1, json: '{}' },
        ),
      ],
      [
        choice({
          role: 'assistant',
          content: '',
          tool_calls: [
            { x: 1, index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } },
          ],
        }),
        choice({ tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }),
        choice({
          tool_calls: [
            { index: 0, function: { arguments: ':1}' } },
            { index: 1, id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } },
          ],
        }),
      ],
    ],
    [
      'calls of custom tools',
      [
        frame({
          type: 'tool-call-start',
          choice: 0,
          index: 0,
          id: 'c',
          name: 'f',
          extra: { type: 'custom' },
        }),
        frame({ type: 'tool-call-delta', choice: 0, index: 0, json: 'free' }),
      ],
      [
        choice({
          role: 'assistant',
          content: '',
          tool_calls: [{ index: 0, id: 'c', type: 'custom', custom: { name: 'f', input: '' } }],
        }),
        choice({ tool_calls: [{ index: 0, custom: { input: 'free' } }] }),
      ],
    ],
    [
      'refusal, image, audio, logprobs',
      [
        frame({ type: 'refusal-delta', choice: 0, text: 'no' }),
        frame({ type: 'image', choice: 0, url: 'data:,i' }),
        frame(
          { type: 'audio-delta', choice: 0, audio: { id: 'a', data: 'AA' } },
          { type: 'audio-delta', choice: 0, audio: { data: 'BB', transcript: 't' } },
        ),
        frame(text('x'), { type: 'logprobs', choice: 0, logprobs: { content: [{ token: 'x' }] } }),
      ],
      [
        choice({ role: 'assistant', content: '', refusal: 'no' }),
        choice({ images: [{ type: 'image_url', image_url: { url: 'data:,i' } }] }),
        choice({ audio: { id: 'a', data: 'AABB', transcript: 't' } }),
        choice({ content: 'x' }, { logprobs: { content: [{ token: 'x' }], refusal: null } }),
      ],
    ],
    [
      'annotations',
      [
        frame({
          type: 'annotation',
          choice: 0,
          annotation: { type: 'url_citation', url: 'u', title: 't', startIndex: 1, endIndex: 2 },
        }),
        frame({ type: 'annotation', choice: 0, annotation: { type: 'file', file: { hash: 'h' } } }),
      ],
      [
        choice({
          role: 'assistant',
          content: '',
          annotations: [
            { type: 'url_citation', url_citation: { url: 'u', title: 't', start_index: 1, end_index: 2 } },
          ],
        }),
        choice({ annotations: [{ type: 'file', file: { hash: 'h' } }] }),
      ],
    ],
    [
      'several choices',
      [frame(text('a', 1), text('b', 0)), frame(text('c', 1))],
      [
        {
          choices: [
            { index: 1, delta: { role: 'assistant', content: 'a' }, finish_reason: null },
            { index: 0, delta: { role: 'assistant', content: 'b' }, finish_reason: null },
          ],
        },
        { choices: [{ index: 1, delta: { content: 'c' }, finish_reason: null }] },
      ],
    ],
    [
      'unknown fields stand where they stood, and never take the place of ours',
      [
        frame(text('a'), {
          type: 'native',
          dialect: 'chat',
          data: {
            chunk: { warmth: 3, id: 'theirs', usage: 1 },
            choices: [
              {
                index: 0,
                choice: { filter: 'ok', finish_reason: 'x' },
                message: { mood: 'm', content: 'x' },
              },
            ],
          },
        }),
        frame({ type: 'native', dialect: 'chat', data: { chunk: { prompt_filter_results: [] } } }),
      ],
      [
        {
          ...choice({ role: 'assistant', content: 'a', mood: 'm' }, { filter: 'ok' }),
          warmth: 3,
        },
        { choices: [], prompt_filter_results: [] },
      ],
    ],
  ]
  test.each(rows)('%s', (_name, frames, chunks) => expect(written(frames)).toEqual(chunks))
})

test('hidden reasoning is in no event, under any name', () => {
  const frames = [
    frame({ type: 'reasoning-delta', choice: 0, text: 'secret' }),
    frame({ type: 'reasoning-detail', choice: 0, detail: { type: 'reasoning.text', text: 'secret' } }),
    frame({
      type: 'native',
      dialect: 'chat',
      data: { choices: [{ index: 0, message: { thinking: 'secret', reasoning_content: 'secret' } }] },
    }),
    frame(text('a'), { type: 'reasoning-delta', choice: 0, text: 'secret' }),
    frame({
      type: 'native',
      dialect: 'chat',
      data: {
        choices: [
          {
            index: 0,
            message: { content_parts: [{ type: 'redacted_thinking', data: 'secret' }, { type: 'map' }] },
          },
        ],
      },
    }),
  ]
  expect(written(frames, { ...REPLY, hideReasoning: true })).toEqual([
    null,
    null,
    null,
    choice({ role: 'assistant', content: 'a' }),
    choice({ content_parts: [{ type: 'map' }] }),
  ])
})
