import { expect, test } from 'bun:test'
import type { InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import { call, citation, detail, frame, piece, text, thought } from './frames.ts'
import { ended, reply, streamed, unary } from './written.ts'

/** A unary reply equals the response at the end of its stream. */

const rows: [string, InferenceFrame[], JsonObject?][] = [
  ['nothing', []],
  ['text', [frame(text('Hel')), frame(text('lo'))]],
  ['reasoning without details', [frame(thought('a')), frame(thought('b')), frame(text('c'))]],
  [
    'signed thoughts',
    [
      frame(
        thought('a'),
        detail({ type: 'reasoning.text', text: 'a', format: 'anthropic-claude-v1', index: 0 }),
      ),
      frame(detail({ type: 'reasoning.text', signature: 's', format: 'anthropic-claude-v1', index: 0 })),
      frame(detail({ type: 'reasoning.encrypted', data: 'r', format: 'anthropic-claude-v1', index: 1 })),
      frame(text('b')),
      frame(call(0, 'f'), piece(0, '{}')),
    ],
  ],
  [
    'a summary in two parts',
    [
      frame(thought('a'), detail({ type: 'reasoning.summary', summary: 'a', index: 0 })),
      frame(thought('b'), detail({ type: 'reasoning.summary', summary: 'b', index: 1 })),
    ],
  ],
  [
    'details that differ from the reasoning',
    [frame(thought('shown')), frame(detail({ type: 'reasoning.text', text: 'plan', index: 0 }))],
  ],
  ['calls', [frame(call(0, 'f')), frame(piece(0, '{"a":')), frame(piece(0, '1}')), frame(call(1, 'now'))]],
  [
    'custom tools',
    [frame(call(0, 'patch'), piece(0, '{"input":"x"}'))],
    { tools: [{ type: 'custom', name: 'patch' }] },
  ],
  ['a refusal', [frame({ type: 'refusal-delta', choice: 0, text: 'No.' })]],
  [
    'citations and logprobs',
    [
      frame(text('High'), {
        type: 'logprobs',
        choice: 0,
        logprobs: { content: [{ token: 'High', logprob: 0, bytes: null, top_logprobs: [] }] },
      }),
      frame(citation(0, 4)),
      frame({
        type: 'annotation',
        choice: 0,
        annotation: { type: 'file_citation', file_id: 'f', filename: 'a', index: 1 },
      }),
    ],
  ],
  [
    'images',
    [
      frame({ type: 'image', choice: 0, url: 'data:image/png;base64,aGk=' }),
      frame({ type: 'image', choice: 0, url: 'https://a.example/b.png' }),
    ],
  ],
  ['audio', [frame({ type: 'audio-delta', choice: 0, audio: { data: 'AA==', transcript: 'Hi' } })]],
]
test.each(rows)('%s', async (_, frames, asked) => {
  const context = reply(asked)
  expect(await unary(frames, context)).toEqual(streamed(frames, context).response)
})

test('a truncated reply', async () => {
  const frames = [frame(text('Hi'))]
  expect(await unary(frames, reply(), ended('length'))).toEqual(
    streamed(frames, reply(), ended('length')).response,
  )
})

test('an image is its base64, or its URL', async () => {
  const { output } = await unary([
    frame(
      { type: 'image', choice: 0, url: 'data:image/png;base64,aGk=' },
      { type: 'image', choice: 0, url: 'https://a.example/b.png' },
    ),
  ])
  expect(output).toEqual([
    {
      id: 'ig_1_0',
      type: 'image_generation_call',
      status: 'completed',
      output_format: 'png',
      result: 'aGk=',
    },
    { id: 'ig_1_1', type: 'image_generation_call', status: 'completed', result: 'https://a.example/b.png' },
  ])
})
