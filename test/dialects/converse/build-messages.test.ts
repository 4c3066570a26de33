import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { build, GPT_OSS, HI, LLAMA, NOVA, OLD_CLAUDE, TURN } from './built.ts'

describe('messages', () => {
  const sent = (messages: JsonObject[], model?: string) => {
    const { body, dropped } = build({ messages }, model)
    return { system: body['system'], messages: body['messages'], dropped }
  }
  const call = (id: string, name = 'f', json = '{"a":1}') => ({
    id,
    type: 'function',
    function: { name, arguments: json },
  })
  const use = (toolUseId: string, name = 'f', input: JsonObject = { a: 1 }) => ({
    toolUse: { toolUseId, name, input },
  })
  const result = (toolUseId: string, text: string) => ({ toolResult: { toolUseId, content: [{ text }] } })

  test('instructions, at any place', () => {
    expect(
      sent([
        { role: 'system', content: 'A' },
        HI,
        {
          role: 'developer',
          content: [{ type: 'text', text: 'B', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        },
      ]),
    ).toEqual({
      system: [{ text: 'A' }, { text: 'B' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      messages: [TURN],
      dropped: [],
    })
  })

  test('nothing but instructions is a user message', () => {
    expect(sent([{ role: 'system', content: 'Say hello' }])).toMatchObject({
      system: undefined,
      messages: [{ role: 'user', content: [{ text: 'Say hello' }] }],
    })
  })

  test('roles alternate: neighbours of one role are one turn, and blank texts are left out', () => {
    expect(
      sent([
        HI,
        { role: 'user', content: ' \n' },
        { role: 'user', content: 'you' },
        { role: 'assistant', content: '' },
      ]).messages,
    ).toEqual([{ role: 'user', content: [{ text: 'Hi' }, { text: 'you' }] }])
  })

  test('results of parallel calls are in one turn, with the next text of the user', () => {
    expect(
      sent([
        HI,
        { role: 'assistant', content: null, tool_calls: [call('t1'), call('t2', 'files.read', '')] },
        { role: 'tool', tool_call_id: 't1', content: 'one' },
        { role: 'tool', tool_call_id: 't2', content: '', is_error: true },
        { role: 'user', content: 'Well?' },
      ]).messages,
    ).toEqual([
      TURN,
      { role: 'assistant', content: [use('t1'), use('t2', 'files_x2e_read', {})] },
      {
        role: 'user',
        content: [
          result('t1', 'one'),
          { toolResult: { toolUseId: 't2', content: [{ text: '(empty)' }], status: 'error' } },
          { text: 'Well?' },
        ],
      },
    ])
  })

  test('an image in a result, with a marker', () => {
    const content = [
      { type: 'text', text: 'see' },
      {
        type: 'image_url',
        image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' },
        cache_control: { type: 'ephemeral' },
      },
    ]
    const messages = [
      HI,
      { role: 'assistant', content: null, tool_calls: [call('t1')] },
      { role: 'tool', tool_call_id: 't1', content },
    ]
    expect(sent(messages).messages).toMatchObject([
      {},
      {},
      {
        content: [
          {
            toolResult: {
              toolUseId: 't1',
              content: [{ text: 'see' }, { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }],
            },
          },
          { cachePoint: { type: 'default' } },
        ],
      },
    ])
  })

  test('ids of other providers, and arguments that are not an object', () => {
    const messages = [
      HI,
      { role: 'assistant', content: null, tool_calls: [call('call.1', 'f', 'not json')] },
      { role: 'tool', tool_call_id: 'call.1', content: 'one' },
    ]
    const json = JSON.stringify(sent(messages).messages)
    const [id] = /call_1_[0-9a-f]{16}/.exec(json) ?? []
    expect(sent(messages).messages).toEqual([
      TURN,
      { role: 'assistant', content: [use(id ?? '', 'f', { INVALID_JSON: 'not json' })] },
      { role: 'user', content: [result(id ?? '', 'one')] },
    ])
  })

  describe('earlier thoughts', () => {
    const details = [
      { type: 'reasoning.text', text: 'Hm', index: 0 },
      { type: 'reasoning.text', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'EkgSecret==', format: 'anthropic-claude-v1', index: 1 },
    ]
    const answer = { role: 'assistant', content: 'So.', reasoning: 'Hm', reasoning_details: details }

    test('go back to Claude, in order', () => {
      expect(sent([HI, answer, HI])).toMatchObject({
        messages: [
          TURN,
          {
            role: 'assistant',
            content: [
              { reasoningContent: { reasoningText: { text: 'Hm', signature: 'c2ln' } } },
              { reasoningContent: { redactedContent: Buffer.from('EkgSecret==').toString('base64') } },
              { text: 'So.' },
            ],
          },
          TURN,
        ],
        dropped: [],
      })
    })

    test('are dropped by name for other providers', () => {
      const { messages, dropped } = sent([HI, answer, HI], GPT_OSS)
      expect(messages).toEqual([TURN, { role: 'assistant', content: [{ text: 'So.' }] }, TURN])
      expect(dropped).toEqual(['messages.reasoning_details'])
    })

    test('of another provider are not Claude’s', () => {
      const foreign = [{ type: 'reasoning.encrypted', data: 'x', format: 'google-gemini-v1' }]
      expect(sent([HI, { ...answer, reasoning_details: foreign }, HI]).dropped).toEqual([
        'messages.reasoning_details',
      ])
    })
  })

  test('markers are cache points after their content; a marker on the body is one at the end', () => {
    const content = [
      { type: 'text', text: 'long', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'short' },
    ]
    const { body, dropped } = build({
      messages: [{ role: 'user', content }],
      cache_control: { type: 'ephemeral' },
    })
    const point = { cachePoint: { type: 'default' } }
    expect(body['messages']).toEqual([
      { role: 'user', content: [{ text: 'long' }, point, { text: 'short' }, point] },
    ])
    expect(dropped).toEqual([])
    for (const model of [LLAMA, OLD_CLAUDE]) {
      expect(build({ messages: [{ role: 'user', content }] }, model)).toMatchObject({
        body: { messages: [{ content: [{ text: 'long' }, { text: 'short' }] }] },
        dropped: ['cache_control'],
      })
    }
  })

  test('an image in instructions or in an earlier answer is dropped by name', () => {
    const content = [
      { type: 'text', text: 'A' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ]
    expect(sent([{ role: 'system', content }, HI, { role: 'assistant', content }, HI])).toEqual({
      system: [{ text: 'A' }],
      messages: [TURN, { role: 'assistant', content: [{ text: 'A' }] }, TURN],
      dropped: ['messages.content'],
    })
  })

  test('a cache lifetime that a model does not have is dropped by name', () => {
    const messages = [{ ...HI, cache_control: { type: 'ephemeral', ttl: '1h' } }]
    const point = (cachePoint: JsonObject) => [{ role: 'user', content: [{ text: 'Hi' }, { cachePoint }] }]
    expect(sent(messages)).toMatchObject({ messages: point({ type: 'default', ttl: '1h' }), dropped: [] })
    for (const model of [NOVA, 'us.anthropic.claude-3-7-sonnet-20250219-v1:0']) {
      const short = { messages: point({ type: 'default' }), dropped: ['cache_control.ttl'] }
      expect(sent(messages, model)).toMatchObject(short)
    }
  })

  test('a status that a model does not accept is dropped by name', () => {
    const messages = [
      HI,
      { role: 'assistant', content: null, tool_calls: [call('t1')] },
      { role: 'tool', tool_call_id: 't1', content: 'no', is_error: true },
    ]
    const { messages: turns, dropped } = sent(messages, LLAMA)
    expect(turns).toMatchObject([{}, {}, { content: [{ toolResult: { content: [{ text: 'no' }] } }] }])
    expect(JSON.stringify(turns)).not.toContain('status')
    expect(dropped).toEqual(['messages.is_error'])
  })

  test('a prefilled answer ends without white space', () => {
    expect(sent([HI, { role: 'assistant', content: 'So, ' }]).messages).toEqual([
      TURN,
      { role: 'assistant', content: [{ text: 'So,' }] },
    ])
  })

  test('nothing to answer is a 400', () => {
    expect(() => build({ messages: [{ role: 'user', content: ' ' }] })).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringMatching(/^messages: /) }),
    )
  })
})
