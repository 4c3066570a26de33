import { expect, test } from 'bun:test'
import type { InferenceEvent, InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import {
  CLOSING,
  call,
  detail,
  frame,
  native,
  piece,
  reply,
  streamed,
  text,
  thought,
  typesOf,
  unary,
} from './frames.ts'

/** Events of a Responses provider reach the caller: unchanged items, unknown events and fields too. */

const added = (output_index: number, item: JsonObject): InferenceEvent =>
  native({ event: { type: 'response.output_item.added', sequence_number: 40, output_index, item } })
const done = (output_index: number, item: JsonObject): InferenceEvent =>
  native({ event: { type: 'response.output_item.done', sequence_number: 99, output_index, item } })

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

const STREAM: InferenceFrame[] = [
  frame(native({ response: { id: 'resp_up', status: 'in_progress', temperature: 1, moderation: null } })),
  frame(added(0, { type: 'reasoning', id: 'rs_up', summary: [], status: 'in_progress' })),
  frame(
    thought('Think.'),
    detail({
      type: 'reasoning.summary',
      summary: 'Think.',
      id: 'rs_up',
      format: 'openai-responses-v1',
      index: 0,
    }),
  ),
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
const text3: InferenceFrame[] = [
  frame({
    type: 'annotation',
    choice: 0,
    annotation: { type: 'url_citation', url: 'https://a.example', title: 'A', startIndex: 0, endIndex: 4 },
  }),
]
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

test('streamed', () => {
  const message = { ...MESSAGE, content: [{ ...MESSAGE.content[0], text: 'High.' }] }
  const stream = streamed(
    [...STREAM, ...text3, frame(done(2, message)), ...TAIL],
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
    'output_text.done',
    'content_part.done',
    'output_item.done',
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

const WHOLE = frame(
  thought('Think.'),
  detail({
    type: 'reasoning.summary',
    summary: 'Think.',
    id: 'rs_up',
    format: 'openai-responses-v1',
    index: 0,
  }),
  done(0, REASONING),
  done(1, SEARCH),
  text('High.'),
  {
    type: 'annotation',
    choice: 0,
    annotation: { type: 'url_citation', url: 'https://a.example', title: 'A', startIndex: 0, endIndex: 4 },
  },
  done(2, MESSAGE),
  call(0, 'f'),
  piece(0, '{"a":1}'),
  done(3, CALL),
  native({ response: { status: 'completed', moderation: null } }),
)

test('in one piece', async () => {
  expect((await unary([WHOLE]))['output']).toEqual(OUTPUT)
})

test('one piece that is streamed: every event has the id of its item', () => {
  const stream = streamed([WHOLE])
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

test('ids that change on the way are one', () => {
  const stream = streamed([
    frame(added(0, { type: 'message', id: 'one', role: 'assistant', content: [] })),
    frame(text('x')),
    frame(
      done(0, {
        type: 'message',
        id: 'two',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'x', annotations: [] }],
      }),
    ),
  ])
  expect(stream.response['output']).toMatchObject([{ id: 'one' }])
})

test('repeated ids are made distinct, and absent ones are created', () => {
  const empty = (id?: string) => ({ type: 'reasoning', ...(id ? { id } : {}), summary: [] })
  const stream = streamed([frame(done(0, empty('same')), done(1, empty('same')), done(2, empty()))])
  expect(stream.response['output']).toMatchObject([{ id: 'same' }, { id: 'rs_1_1' }, { id: 'rs_1_2' }])
})

test('an image is shown by its item alone', async () => {
  const item = {
    type: 'image_generation_call',
    id: 'ig_up',
    status: 'completed',
    result: 'UklGRg==',
    size: '1024x1024',
  }
  const image: InferenceEvent = { type: 'image', choice: 0, url: 'data:image/webp;base64,UklGRg==' }
  const streamedImage = [
    frame(added(0, { type: item.type, id: item.id, status: 'in_progress', result: null })),
    frame(image, done(0, item)),
  ]
  expect(streamed(streamedImage).response['output']).toEqual([item])
  expect(streamed([frame(image, done(0, item))]).response['output']).toEqual([item])
  expect((await unary([frame(image, done(0, item))]))['output']).toEqual([item])
})

test('what the last word leaves out was streamed all the same', () => {
  const stream = streamed([
    frame(added(0, { type: 'reasoning', id: 'r', summary: [] })),
    frame(thought('Think.'), detail({ type: 'reasoning.text', text: 'Think.', index: 0 })),
    frame(done(0, { type: 'reasoning', id: 'r' })),
    frame(added(1, { type: 'message', id: 'm', role: 'assistant', content: [] })),
    frame(text('x')),
    frame(done(1, { type: 'message', id: 'm', role: 'assistant', content: [] })),
  ])
  expect(stream.response['output']).toMatchObject([
    { id: 'r', summary: [], content: [{ text: 'Think.' }] },
    { id: 'm', content: [{ text: 'x' }] },
  ])
})

test('a citation has what clients parse as required', async () => {
  const item = {
    type: 'message',
    id: 'm',
    role: 'assistant',
    content: [
      { type: 'output_text', text: 'x', annotations: [{ type: 'url_citation', url: 'https://a.example' }] },
    ],
  }
  expect((await unary([frame(done(0, item))]))['output']).toMatchObject([
    {
      content: [
        {
          annotations: [
            {
              type: 'url_citation',
              url: 'https://a.example',
              title: 'https://a.example',
              start_index: 0,
              end_index: 0,
            },
          ],
        },
      ],
    },
  ])
})

test('a cut leaves what was announced, as incomplete', () => {
  const stream = streamed(
    [
      frame(added(0, { type: 'web_search_call', id: 'ws', status: 'in_progress' })),
      frame(added(1, { type: 'message', id: 'm', role: 'assistant', content: [] })),
      frame(text('x')),
    ],
    reply(),
    {
      ...CLOSING,
      finishes: [{ choice: 0, reason: 'length', native: 'max_output_tokens' }],
    },
  )
  expect(stream.response).toMatchObject({
    status: 'incomplete',
    output: [
      { id: 'ws', status: 'incomplete' },
      { id: 'm', status: 'incomplete' },
    ],
  })
})

test('usage keeps the other reported fields', async () => {
  const usage = { ...NO_USAGE, native: { dialect: 'responses' as const, fields: { num_sources_used: 3 } } }
  expect((await unary([frame(text('x'))], reply(), { ...CLOSING, usage }))['usage']).toMatchObject({
    num_sources_used: 3,
    input_tokens: 0,
  })
  const other = { ...usage, native: { dialect: 'chat' as const, fields: { queue_time: 3 } } }
  expect(
    JSON.stringify(await unary([frame(text('x'))], reply(), { ...CLOSING, usage: other })),
  ).not.toContain('queue_time')
})
