import { expect, test } from 'bun:test'
import type { InferenceFrame } from '../../../src/core/events.ts'
import { added, call, citation, detail, done, frame, native, piece, text, thought } from './frames.ts'
import { TEXT_END } from './streamed.ts'
import { reply, streamed, typesOf, unary } from './written.ts'

/** Events of a Responses provider reach the caller: items unchanged, with unknown events and fields. */

const REASONING = {
  type: 'reasoning',
  id: 'rs_up',
  summary: [{ type: 'summary_text', text: 'Think.' }],
  encrypted_content: 'gAAA',
  status: 'completed',
}

const SEARCH = {
  type: 'web_search_call',
  id: 'ws_up',
  status: 'completed',
  action: { type: 'search', query: 'tide', x: 1 },
}

const MESSAGE = {
  type: 'message',
  id: 'msg_up',
  role: 'assistant',
  status: 'completed',
  phase: 'final_answer',
  content: [
    {
      type: 'output_text',
      text: 'High.',
      annotations: [
        { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 4, rank: 1 },
      ],
      logprobs: [],
      new_field: true,
    },
  ],
}

const CALL = {
  type: 'function_call',
  id: 'fc_up',
  call_id: 'call_0',
  name: 'f',
  arguments: '{"a":1}',
  status: 'completed',
  caller: { type: 'direct' },
}

const OUTPUT = [REASONING, SEARCH, MESSAGE, CALL]

const THOUGHT = [
  thought('Think.'),
  detail({
    type: 'reasoning.summary',
    summary: 'Think.',
    id: 'rs_up',
    format: 'openai-responses-v1',
    index: 0,
  }),
]

const STREAM: InferenceFrame[] = [
  frame(native({ response: { id: 'resp_up', status: 'in_progress', temperature: 1, moderation: null } })),
  frame(added(0, { type: 'reasoning', id: 'rs_up', summary: [], status: 'in_progress' })),
  frame(...THOUGHT),
  frame(detail({ type: 'reasoning.encrypted', data: 'gAAA', index: 1 }), done(0, REASONING)),
  frame(added(1, { type: 'web_search_call', id: 'ws_up', status: 'in_progress' })),
  frame(
    native({
      event: {
        type: 'response.web_search_call.searching',
        sequence_number: 50,
        output_index: 1,
        item_id: 'rotated',
      },
    }),
  ),
  frame(done(1, SEARCH)),
  frame(added(2, { ...MESSAGE, status: 'in_progress', content: [] })),
  frame(text('Hi')),
  frame(text('gh.')),
]

const CITED: InferenceFrame[] = [frame(citation(0, 4))]

const TAIL: InferenceFrame[] = [
  frame(added(3, { ...CALL, arguments: '', status: 'in_progress' }), call(0, 'f')),
  frame(piece(0, '{"a":1}')),
  frame(done(3, CALL)),
  frame(native({ event: { type: 'response.brand_new', sequence_number: 90, note: 'kept' } })),
  frame(
    native({
      response: {
        id: 'resp_up',
        status: 'completed',
        temperature: 1,
        moderation: { flagged: false },
        top_p: 0.98,
        openrouter_metadata: { requested: 'theirs' },
        metadata: { theirs: 'x' },
        store: false,
      },
    }),
  ),
]

test('a stream', () => {
  const message = { ...MESSAGE, content: [{ ...MESSAGE.content[0], text: 'High.' }] }
  const stream = streamed(
    [...STREAM, ...CITED, frame(done(2, message)), ...TAIL],
    reply({ store: true, temperature: 0.3 }),
  )
  expect(typesOf(stream)).toEqual([
    'created',
    'in_progress',
    'output_item.added',
    'reasoning_summary_part.added',
    'reasoning_summary_text.delta',
    'reasoning.delta',
    'reasoning_summary_text.done',
    'reasoning_summary_part.done',
    'output_item.done',
    'output_item.added',
    'web_search_call.searching',
    'output_item.done',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.delta',
    'output_text.annotation.added',
    ...TEXT_END,
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.done',
    'output_item.done',
    'brand_new',
    'completed',
  ])
  expect(stream.events.find(({ type }) => type === 'response.web_search_call.searching')).toMatchObject({
    item_id: 'ws_up',
    output_index: 1,
  })
  expect(stream.events.find(({ type }) => type === 'response.brand_new')).toMatchObject({ note: 'kept' })
  expect(stream.response).toMatchObject({
    id: 'resp_1',
    output: OUTPUT,
    moderation: { flagged: false },
    top_p: 0.98,
    temperature: 0.3,
    store: true,
    metadata: {},
  })
  expect(stream.response).not.toHaveProperty('openrouter_metadata')
})

const COMPLETE = frame(
  ...THOUGHT,
  done(0, REASONING),
  done(1, SEARCH),
  text('High.'),
  citation(0, 4),
  done(2, MESSAGE),
  call(0, 'f'),
  piece(0, '{"a":1}'),
  done(3, CALL),
  native({ response: { status: 'completed', moderation: null } }),
)

test('a reply that is not streamed', async () => {
  expect((await unary([COMPLETE]))['output']).toEqual(OUTPUT)
})

test('a complete reply that is streamed: every event has the id of its item', () => {
  const stream = streamed([COMPLETE])
  expect(stream.response['output']).toEqual(OUTPUT)
  expect(typesOf(stream).filter((type) => type.endsWith('.delta'))).toEqual([
    'reasoning_summary_text.delta',
    'reasoning.delta',
    'output_text.delta',
    'function_call_arguments.delta',
  ])
})

test('complete items without earlier events', async () => {
  const frames = [frame(...OUTPUT.map((item, i) => done(i, item)))]
  expect(streamed(frames).response['output']).toEqual(OUTPUT)
  expect((await unary(frames))['output']).toEqual(OUTPUT)
})
