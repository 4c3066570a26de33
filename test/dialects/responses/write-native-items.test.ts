import { expect, test } from 'bun:test'
import type { InferenceEvent } from '../../../src/core/events.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { added, detail, done, frame, text, thought } from './frames.ts'
import { CLOSING, reply, streamed, unary } from './written.ts'

/** Items of a Responses provider that are incomplete, repeated or under changing ids. */

test('the id of an item stays, even if the provider changes it', () => {
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

test('an image is only in its item', async () => {
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

test('content that the last event leaves out was streamed', () => {
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

test('a citation has the fields that clients require', async () => {
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

test('a truncated reply has announced items as incomplete', () => {
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

test('usage keeps further reported fields', async () => {
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
