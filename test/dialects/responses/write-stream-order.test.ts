import { describe, expect, test } from 'bun:test'
import type { InferenceFrame } from '../../../src/core/events.ts'
import { call, citation, detail, frame, piece, text, thought } from './frames.ts'
import { BEGIN, TEXT_END } from './streamed.ts'
import { streamed, typesOf } from './written.ts'

describe('the order of events', () => {
  const rows: [string, InferenceFrame[], string[]][] = [
    ['nothing', [], []],
    [
      'text',
      [frame(text('Hel')), frame(text('')), frame(text('lo'))],
      ['output_item.added', 'content_part.added', 'output_text.delta', 'output_text.delta', ...TEXT_END],
    ],
    [
      'reasoning, under both names, then text',
      [frame(thought('a'), detail({ type: 'reasoning.text', text: 'a', index: 0 })), frame(text('b'))],
      [
        'output_item.added',
        'content_part.added',
        'reasoning_text.delta',
        'reasoning.delta',
        'reasoning_text.done',
        'content_part.done',
        'output_item.done',
        'output_item.added',
        'content_part.added',
        'output_text.delta',
        ...TEXT_END,
      ],
    ],
    [
      'a summary in two parts',
      [
        frame(thought('a'), detail({ type: 'reasoning.summary', summary: 'a', index: 0 })),
        frame(thought('b'), detail({ type: 'reasoning.summary', summary: 'b', index: 0 })),
        frame(thought('c'), detail({ type: 'reasoning.summary', summary: 'c', index: 1 })),
      ],
      [
        'output_item.added',
        'reasoning_summary_part.added',
        'reasoning_summary_text.delta',
        'reasoning.delta',
        'reasoning_summary_text.delta',
        'reasoning.delta',
        'reasoning_summary_text.done',
        'reasoning_summary_part.done',
        'reasoning_summary_part.added',
        'reasoning_summary_text.delta',
        'reasoning.delta',
        'reasoning_summary_text.done',
        'reasoning_summary_part.done',
        'output_item.done',
      ],
    ],
    [
      'a refusal after text',
      [frame(text('Well')), frame({ type: 'refusal-delta', choice: 0, text: 'No.' })],
      [
        'output_item.added',
        'content_part.added',
        'output_text.delta',
        'output_text.done',
        'content_part.done',
        'content_part.added',
        'refusal.delta',
        'refusal.done',
        'content_part.done',
        'output_item.done',
      ],
    ],
    [
      'a call without arguments',
      [frame(call(0, 'now'))],
      [
        'output_item.added',
        'function_call_arguments.delta',
        'function_call_arguments.done',
        'output_item.done',
      ],
    ],
    [
      'a call ends when the next begins',
      [
        frame(call(0, 'f')),
        frame(piece(0, '{"a"')),
        frame(piece(0, ':1}')),
        frame(call(1, 'g')),
        frame(piece(1, '{}')),
      ],
      [
        'output_item.added',
        'function_call_arguments.delta',
        'function_call_arguments.delta',
        'function_call_arguments.done',
        'output_item.done',
        'output_item.added',
        'function_call_arguments.delta',
        'function_call_arguments.done',
        'output_item.done',
      ],
    ],
    [
      'interleaved pieces of parallel calls',
      [
        frame(call(0, 'f'), call(1, 'g')),
        frame(piece(1, '{"b":')),
        frame(piece(0, '{}')),
        frame(text('mean')),
        frame(piece(1, '2}')),
      ],
      [
        'output_item.added',
        'output_item.added',
        'function_call_arguments.delta',
        'function_call_arguments.delta',
        'function_call_arguments.done',
        'output_item.done',
        'output_item.added',
        'content_part.added',
        'output_text.delta',
        'function_call_arguments.delta',
        'function_call_arguments.done',
        'output_item.done',
        ...TEXT_END,
      ],
    ],
    [
      'an image',
      [frame({ type: 'image', choice: 0, url: 'data:image/webp;base64,UklGRg==' })],
      [
        'output_item.added',
        'image_generation_call.in_progress',
        'image_generation_call.generating',
        'image_generation_call.completed',
        'output_item.done',
      ],
    ],
    [
      'citations within text',
      [frame(text('High water')), frame(citation(0, 10)), frame(text('.'))],
      [
        'output_item.added',
        'content_part.added',
        'output_text.delta',
        'output_text.annotation.added',
        'output_text.delta',
        ...TEXT_END,
      ],
    ],
    [
      'audio',
      [
        frame({ type: 'audio-delta', choice: 0, audio: { id: 'a', data: 'AA==', transcript: 'Hi' } }),
        frame({ type: 'audio-delta', choice: 0, audio: { data: 'BB==' } }),
      ],
      [
        'output_item.added',
        'content_part.added',
        'audio.delta',
        'audio.transcript.delta',
        'audio.delta',
        'audio.done',
        'audio.transcript.done',
        'content_part.done',
        'output_item.done',
      ],
    ],
    [
      'other choices are left out',
      [
        frame(
          { type: 'text-delta', choice: 1, text: 'x' },
          { type: 'tool-call-start', choice: 1, index: 0, id: 'c', name: 'f' },
        ),
      ],
      [],
    ],
    [
      'events of another dialect are left out',
      [frame({ type: 'native', dialect: 'chat', data: { chunk: { x: 1 } } })],
      [],
    ],
  ]
  test.each(rows)('%s', (_, frames, between) => {
    const stream = streamed(frames)
    expect(typesOf(stream)).toEqual([...BEGIN, ...between, 'completed'])
  })
})
