import { describe, expect, test } from 'bun:test'
import type { InferenceEvent, JsonObject } from '../../../src/core/events.ts'
import { begin, bodyOf, delta, finish, HI, read, readBody, START, stop, USAGE } from './stream-events.ts'

const FRAME = ['response-start', 'usage', 'response-end']

const within = (events: readonly InferenceEvent[]) => events.filter(({ type }) => !FRAME.includes(type))

test('the frame of a reply', async () => {
  const { events } = await read([START, HI, stop(0), finish('end_turn'), USAGE])
  expect(events).toMatchObject([
    { type: 'response-start', upstreamId: null, model: null, created: null },
    { type: 'text-delta', choice: 0, text: 'Hi' },
    { type: 'usage', usage: { inputTokens: 3, outputTokens: 2 }, serviceTier: null },
    { type: 'response-end', finishes: [{ choice: 0, reason: 'stop', native: 'end_turn' }] },
  ])
})

describe('blocks, streamed and complete', () => {
  const text = (value: string): InferenceEvent => ({ type: 'text-delta', choice: 0, text: value })
  const call = (index: number, name = 'f'): InferenceEvent => ({
    type: 'tool-call-start',
    choice: 0,
    index,
    id: `t${index}`,
    name,
  })
  const json = (index: number, value: string): InferenceEvent => ({
    type: 'tool-call-delta',
    choice: 0,
    index,
    json: value,
  })
  const note = (annotation: JsonObject): InferenceEvent => ({ type: 'annotation', choice: 0, annotation })
  const SIGNED = { signature: 'c2ln', format: 'anthropic-claude-v1' }
  const detail = (fields: JsonObject): InferenceEvent => ({
    type: 'reasoning-detail',
    choice: 0,
    detail: { type: 'reasoning.text', ...fields },
  })
  const thought = (value: string): InferenceEvent => ({ type: 'reasoning-delta', choice: 0, text: value })
  const WEB = { location: { web: { url: 'https://a.example/x', domain: 'a.example' } } }
  const PAGE = {
    title: 'guide',
    location: { documentPage: { documentIndex: 1, start: 2, end: 3 } },
    sourceContent: [{ text: 'as ' }, { text: 'said' }],
  }
  const page = (start_index: number, end_index: number) =>
    note({
      type: 'page_location',
      start_page_number: 2,
      end_page_number: 3,
      document_index: 1,
      document_title: 'guide',
      cited_text: 'as said',
      start_index,
      end_index,
    })

  test.each<[what: string, streamed: JsonObject[], content: JsonObject[], expected: InferenceEvent[]]>([
    ['a text', [delta(0, { text: 'A' }), stop(0)], [{ text: 'A' }], [text('A')]],
    ['an empty text', [delta(0, { text: '' }), stop(0)], [{ text: '' }], []],
    [
      'a call without arguments',
      [begin(0, { toolUse: { toolUseId: 't0', name: 'f' } }), delta(0, { toolUse: { input: '' } }), stop(0)],
      [{ toolUse: { toolUseId: 't0', name: 'f', input: {} } }],
      [call(0), json(0, '{}')],
    ],
    [
      'parallel calls',
      [
        begin(0, { toolUse: { toolUseId: 't0', name: 'f' } }),
        begin(1, { toolUse: { toolUseId: 't1', name: 'a_x2e_b', type: 'tool_use' } }),
        delta(0, { toolUse: { input: '{"a":1}' } }),
        delta(1, { toolUse: { input: '{"b":2}' } }),
        stop(0),
        stop(1),
      ],
      [],
      [call(0), call(1, 'a.b'), json(0, '{"a":1}'), json(1, '{"b":2}')],
    ],
    [
      'the answer tool',
      [
        begin(0, { toolUse: { toolUseId: 't0', name: 'answer_in_json' } }),
        delta(0, { toolUse: { input: '{"a":1}' } }),
        stop(0),
      ],
      [{ toolUse: { toolUseId: 't0', name: 'answer_in_json', input: { a: 1 } } }],
      [text('{"a":1}')],
    ],
    [
      'a signed thought, of which the signature comes last',
      [
        delta(0, { reasoningContent: { text: 'Hm' } }),
        delta(0, { reasoningContent: { signature: 'c2ln' } }),
        stop(0),
      ],
      [],
      [thought('Hm'), detail({ text: 'Hm', index: 0 }), detail({ ...SIGNED, index: 0 })],
    ],
    [
      'a complete signed thought',
      [],
      [{ reasoningContent: { reasoningText: { text: 'Hm', signature: 'c2ln' } } }],
      [thought('Hm'), detail({ text: 'Hm', ...SIGNED, index: 0 })],
    ],
    [
      'two unsigned thoughts',
      [
        delta(0, { reasoningContent: { text: 'A' } }),
        stop(0),
        delta(1, { reasoningContent: { text: 'B' } }),
        stop(1),
      ],
      [
        { reasoningContent: { reasoningText: { text: 'A' } } },
        { reasoningContent: { reasoningText: { text: 'B' } } },
      ],
      [thought('A'), detail({ text: 'A', index: 0 }), thought('B'), detail({ text: 'B', index: 1 })],
    ],
    [
      'an encrypted thought',
      [
        delta(0, { reasoningContent: { redactedContent: Buffer.from('EkgSecret==').toString('base64') } }),
        stop(0),
      ],
      [{ reasoningContent: { redactedContent: Buffer.from('EkgSecret==').toString('base64') } }],
      [detail({ type: 'reasoning.encrypted', data: 'EkgSecret==', format: 'anthropic-claude-v1', index: 0 })],
    ],
    [
      'a citation before its text, and one of the web after it',
      [
        delta(0, { citation: PAGE }),
        delta(0, { text: 'It is so' }),
        stop(0),
        delta(1, { citation: WEB }),
        stop(1),
      ],
      [
        { citationsContent: { content: [{ text: 'It is so' }], citations: [PAGE] } },
        { citationsContent: { citations: [WEB] } },
      ],
      [
        text('It is so'),
        page(0, 8),
        {
          type: 'annotation',
          choice: 0,
          annotation: {
            type: 'url_citation',
            url: 'https://a.example/x',
            title: 'https://a.example/x',
            startIndex: 0,
            endIndex: 8,
          },
        },
      ],
    ],
    [
      'what runs at AWS',
      [
        begin(0, { toolUse: { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use' } }),
        delta(0, { toolUse: { input: '{"q":1}' } }),
        stop(0),
        begin(1, { toolResult: { toolUseId: 's', status: 'success' } }),
        delta(1, { toolResult: [{ text: 'r' }] }),
        stop(1),
      ],
      [
        { toolUse: { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use', input: { q: 1 } } },
        { toolResult: { toolUseId: 's', status: 'success', content: [{ text: 'r' }] } },
      ],
      [
        {
          type: 'native',
          dialect: 'converse',
          data: {
            toolUse: { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use', input: { q: 1 } },
          },
        },
        {
          type: 'native',
          dialect: 'converse',
          data: { toolResult: { toolUseId: 's', status: 'success', content: [{ text: 'r' }] } },
        },
      ],
    ],
    [
      'an image',
      [begin(0, { image: { format: 'webp' } }), delta(0, { image: { source: { bytes: 'AAAA' } } }), stop(0)],
      [{ image: { format: 'webp', source: { bytes: 'AAAA' } } }],
      [{ type: 'image', choice: 0, url: 'data:image/webp;base64,AAAA' }],
    ],
  ])('%s', async (_, streamed, content, expected) => {
    if (streamed.length > 0) {
      const { events, error } = await read([START, ...streamed, finish('end_turn'), USAGE])
      expect(error).toBeUndefined()
      expect(within(events)).toEqual(expected)
    }
    if (content.length > 0) expect(within((await readBody(bodyOf(content))).events)).toEqual(expected)
  })
})

test('usage: cached tokens are counted apart; unknown fields are carried', async () => {
  const usage = {
    inputTokens: 10,
    outputTokens: 5,
    totalTokens: 1_125,
    cacheReadInputTokens: 1_000,
    cacheWriteInputTokens: 110,
    cacheDetails: [
      { ttl: '1h', inputTokens: 80 },
      { ttl: '5m', inputTokens: 30 },
    ],
  }
  const reply = await read([
    START,
    HI,
    finish('end_turn'),
    { metadata: { usage, serviceTier: { type: 'priority' } } },
  ])
  expect(reply.usage).toMatchObject({
    inputTokens: 10,
    cacheReadTokens: 1_000,
    cacheWriteTokens: 110,
    cacheWriteHourTokens: 80,
    outputTokens: 5,
    native: { dialect: 'converse', fields: { cacheDetails: usage.cacheDetails } },
  })
  expect(reply.events).toContainEqual(expect.objectContaining({ type: 'usage', serviceTier: 'priority' }))
})

test.each<[what: string, reported: JsonObject, hour: number | undefined]>([
  ['all of it', { cacheDetails: [{ ttl: '1h', inputTokens: 110 }] }, 110],
  [
    'at several points',
    {
      cacheDetails: [
        { ttl: '1h', inputTokens: 30 },
        { ttl: '1h', inputTokens: 40 },
      ],
    },
    70,
  ],
  ['more than was written', { cacheDetails: [{ ttl: '1h', inputTokens: 111 }] }, 110],
  ['none of it', { cacheDetails: [{ ttl: '5m', inputTokens: 110 }] }, undefined],
  ['nothing that can be read', { cacheDetails: ['1h', null, { ttl: '1h' }] }, undefined],
  ['no list', { cacheDetails: { ttl: '1h', inputTokens: 110 } }, undefined],
  ['no details', {}, undefined],
])('of 110 tokens, written to a cache for an hour: %s', async (_, reported, hour) => {
  const usage = { inputTokens: 10, outputTokens: 5, cacheWriteInputTokens: 110, ...reported }
  const streamed = await read([START, HI, finish('end_turn'), { metadata: { usage } }])
  const body = await readBody({ ...bodyOf([{ text: 'x' }], 'end_turn'), usage })
  for (const found of [streamed.usage, body.usage]) {
    expect([found?.cacheWriteTokens, found?.cacheWriteHourTokens]).toEqual([110, hour])
  }
})
