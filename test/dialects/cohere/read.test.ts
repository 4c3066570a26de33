import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { UpstreamError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { cohereEgress } from '../../../src/dialects/cohere/index.ts'
import { FIXTURES } from '../../recordings.ts'
import { upstreamReply } from '../../upstream-reply.ts'
import { outcomeOf } from '../chat/outcome.ts'

/** The rules of reading, one by one. */

const fixture = (file: string) => Bun.file(join(FIXTURES, 'cohere', file)).bytes()
const readFixture = async (file: string) =>
  outcomeOf(cohereEgress.read(upstreamReply(await fixture(file)), file.endsWith('.sse')))
const stream = (...events: JsonObject[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const readStream = (text: string) => outcomeOf(cohereEgress.read(upstreamReply(text), true))
const readBody = (body: unknown) => outcomeOf(cohereEgress.read(upstreamReply(JSON.stringify(body)), false))

const START = { type: 'message-start', id: 'c1', delta: { message: { role: 'assistant' } } }
const END = { type: 'message-end', delta: { finish_reason: 'COMPLETE' } }
const text = (value: string, more: JsonObject = {}) => ({
  type: 'content-delta',
  index: 0,
  delta: { message: { content: { text: value } } },
  ...more,
})

test('a plan and thoughts are details of their type', async () => {
  const { events } = await readFixture('thinking-tool.sse')
  const details = events.flatMap((event) => (event.type === 'reasoning-detail' ? [event.detail] : []))
  expect(details).toEqual([
    { type: 'reasoning.text', text: 'The lamp is', format: 'cohere-v2', index: 1 },
    { type: 'reasoning.text', text: ' in the kitchen.', format: 'cohere-v2', index: 1 },
    { type: 'reasoning.summary', summary: 'Call set_lamp.', format: 'cohere-v2', index: 0 },
  ])
})

test('the first event has the id', async () => {
  const { events } = await readFixture('text.json')
  expect(events[0]).toEqual({ type: 'response-start', upstreamId: 'c0b1', model: null, created: null })
})

test('citations: pages, documents, characters beyond the first plane', async () => {
  const { annotations, text: value } = await readFixture('citations.sse')
  const [page, document] = annotations
  expect(page).toEqual({
    type: 'url_citation',
    url: 'https://tides.example/today',
    title: 'Tides today',
    content: '14:20',
    startIndex: 19,
    endIndex: 24,
  })
  expect(value.slice(19, 24)).toBe('14:20')
  expect(document).toMatchObject({
    type: 'file_citation',
    file_id: 'doc:0',
    filename: 'harbour.txt',
    index: 1,
    start_index: 41,
    end_index: 51,
    cited_text: 'opens at 6',
    sources: [{ type: 'document', id: 'doc:0' }],
  })
})

test('a citation counts from the start of its block; in a thought it has no place', async () => {
  const block = (index: number, value: string) => ({
    type: 'content-start',
    index,
    delta: { message: { content: { type: 'text', text: value } } },
  })
  const cite = (fields: JsonObject) => ({
    type: 'citation-start',
    index: 0,
    delta: { message: { citations: { start: 0, end: 3, text: 'x', sources: [], ...fields } } },
  })
  const { annotations } = await readStream(
    stream(
      START,
      block(0, 'One. '),
      block(1, 'Two.'),
      cite({ type: 'TEXT_CONTENT' }),
      cite({ type: 'TEXT_CONTENT', content_index: 0 }),
      cite({ type: 'THINKING_CONTENT' }),
      END,
    ),
  )
  const places = annotations.map((each) =>
    'start_index' in each ? [each.start_index, each.end_index] : null,
  )
  expect(places).toEqual([
    [5, 8],
    [0, 3],
    [0, 0],
  ])
})

test('logprobs in the form of the chat dialect', async () => {
  const logprobs = { token_ids: [1, 2], text: 'Hé', logprobs: [-0.5, -0.25] }
  const { events } = await readStream(stream(START, text('Hé', { logprobs }), END))
  expect(events).toContainEqual({
    type: 'logprobs',
    choice: 0,
    logprobs: {
      content: [{ token: 'Hé', logprob: -0.75, bytes: [72, 195, 169], top_logprobs: [] }],
      refusal: null,
    },
  })
})

test('the index of a call may be used again', async () => {
  const call = (id: string) => ({
    type: 'tool-call-start',
    index: 0,
    delta: { message: { tool_calls: { id, function: { name: 'now', arguments: '' } } } },
  })
  const { calls, finishes } = await readStream(
    stream(START, call('a'), call('b'), { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } }),
  )
  expect(calls).toEqual([
    { id: 'a', name: 'now', arguments: '{}' },
    { id: 'b', name: 'now', arguments: '{}' },
  ])
  expect(finishes[0]?.reason).toBe('tool_calls')
})

test('events of unknown types and debug are skipped; a reply may end without a reason', async () => {
  const { text: value, finishes } = await readStream(
    stream(START, { type: 'debug', prompt: 'P' }, { type: 'new-thing' }, text('Hi'), {
      type: 'message-end',
      delta: {},
    }),
  )
  expect(value).toBe('Hi')
  expect(finishes).toEqual([{ choice: 0, reason: 'stop', native: null }])
})

test('the word null as arguments is a call without any', async () => {
  const tool_calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: 'null' } }]
  const { calls } = await readBody({ id: 'c', message: { tool_calls }, finish_reason: 'TOOL_CALL' })
  expect(calls).toEqual([{ id: 'a', name: 'f', arguments: '{}' }])
})

test('a toxic answer is filtered content', async () => {
  const { finishes } = await readBody({
    id: 'c',
    message: { content: [] },
    finish_reason: 'ERROR_TOXIC',
  })
  expect(finishes).toEqual([{ choice: 0, reason: 'content_filter', native: 'ERROR_TOXIC' }])
})

describe('not an answer', () => {
  const rows: [name: string, body: string, streamed: boolean, kind: string][] = [
    ['an empty object', '{}', false, 'malformed'],
    ["another dialect's answer", '{"choices":[]}', false, 'malformed'],
    ['a page', '<html></html>', false, 'malformed'],
    ['nothing', '', true, 'malformed'],
    ['the marker alone', 'data: [DONE]\n\n', true, 'malformed'],
    ['an event that is not JSON', 'data: {"ty\n\n', true, 'malformed'],
    ['an event that is not an object', 'data: 7\n\n', true, 'malformed'],
    [
      'a call without a name',
      stream(START, { type: 'tool-call-start', index: 0, delta: { message: { tool_calls: { id: 'a' } } } }),
      true,
      'malformed',
    ],
    ['a start alone', stream(START), true, 'truncated'],
    ['text without an end', stream(START, text('Hi')), true, 'truncated'],
    [
      'an end with an error',
      stream(START, { type: 'message-end', delta: { finish_reason: 'ERROR' } }),
      true,
      'server',
    ],
    [
      'an end by time',
      stream(START, { type: 'message-end', delta: { finish_reason: 'TIMEOUT' } }),
      true,
      'timeout',
    ],
    ['an error by its name', 'event: error\ndata: {"message":"no"}\n\n', true, 'server'],
    ['an error as the body', '{"id":"x","message":"no"}', false, 'server'],
  ]
  test.each(rows)('%s', async (_, body, streamed, kind) => {
    const { error, finishes } = await outcomeOf(cohereEgress.read(upstreamReply(body), streamed))
    expect(finishes).toEqual([])
    expect(error instanceof UpstreamError ? error.kind : error).toBe(kind)
  })
})
