import { describe, expect, test } from 'bun:test'
import type { InferenceEvent, JsonObject } from '../../../src/core/events.ts'
import { itemsOfDetails } from '../../../src/dialects/responses/items.ts'
import { REASONING } from '../../e2e/responses-upstream-turn.ts'
import type { Outcome } from '../chat/outcome.ts'
import { completed, fixture, message, streamed, unary, usage } from './replies.ts'

describe('usage', () => {
  test('in disjoint buckets, with the other reported fields', async () => {
    const outcome = await unary([message('x')], {
      service_tier: 'flex',
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30, image_tokens: 4 },
        output_tokens: 50,
        output_tokens_details: { reasoning_tokens: 20, image_tokens: 10 },
        total_tokens: 150,
        cost: 0.5,
        sources: 3,
      },
    })
    expect(outcome.usage).toEqual({
      inputTokens: 6,
      cacheReadTokens: 60,
      cacheWriteTokens: 30,
      audioInputTokens: 0,
      imageInputTokens: 4,
      outputTokens: 20,
      reasoningTokens: 20,
      audioOutputTokens: 0,
      imageOutputTokens: 10,
      providerCostUsd: 0.5,
      native: { dialect: 'responses', fields: { sources: 3 } },
    })
    expect(outcome.events).toContainEqual(expect.objectContaining({ type: 'usage', serviceTier: 'flex' }))
  })

  test.each([
    ['OpenRouter', { usage: { ...usage, server_tool_use_details: { web_search_requests: 4 } } }, 4],
    ['xAI', { usage: { ...usage, server_side_tool_usage_details: { web_search_calls: 2 } } }, 2],
    ['OpenAI', { tool_usage: { web_search: { num_requests: 3 } } }, 3],
    ['their items', {}, 1],
  ])('searches are counted by %s', async (_, more, count) => {
    const searches = [
      { type: 'web_search_call', id: 'a', status: 'completed', action: { type: 'search', query: 'x' } },
      { type: 'web_search_call', id: 'b', status: 'completed', action: { type: 'open_page', url: 'u' } },
    ]
    expect((await unary(searches, more)).usage?.webSearchRequests).toBe(count)
  })

  test('a total that counts reasoning separately', async () => {
    const reported = {
      input_tokens: 12,
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 340 },
      total_tokens: 354,
    }
    expect((await unary([message('x')], { usage: reported })).usage).toMatchObject({
      outputTokens: 2,
      reasoningTokens: 340,
    })
  })
})

describe('content', () => {
  const delta = (text: string, at = 0): JsonObject => ({
    type: 'response.output_text.delta',
    output_index: at,
    content_index: 0,
    delta: text,
  })

  test('text that deltas left out is emitted with the complete text', async () => {
    const done = (text: string): JsonObject => ({
      type: 'response.output_text.done',
      output_index: 0,
      content_index: 0,
      text,
    })
    const item = { type: 'response.output_item.done', output_index: 0, item: message('Hello there.') }
    const { events } = await streamed(delta('Hel'), done('Hello'), item, completed([message('Hello there.')]))
    expect(events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))).toEqual([
      'Hel',
      'lo',
      ' there.',
    ])
  })

  test('an item that was never done is completed by the last event', async () => {
    const added = {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'function_call', call_id: 'c', name: 'f', arguments: '' },
    }
    const item = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' }
    expect((await streamed(added, completed([item]))).calls).toEqual([
      { id: 'c', name: 'f', arguments: '{"a":1}' },
    ])
    expect((await streamed(added, completed([]))).calls).toEqual([{ id: 'c', name: 'f', arguments: '{}' }])
  })

  test('a call without an announcement', async () => {
    const { calls } = await streamed(
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a"' },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: ':1}' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' },
      },
      completed(),
    )
    expect(calls).toEqual([{ id: 'c', name: 'f', arguments: '{"a":1}' }])
  })

  test('a call keeps its type and unknown fields', async () => {
    const { events } = await unary([
      { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'SELECT 1', namespace: 'db' },
      { type: 'function_call', id: 'fc', name: 'f', arguments: { a: 1 } },
    ])
    expect(events.filter(({ type }) => type.startsWith('tool-call'))).toEqual([
      {
        type: 'tool-call-start',
        choice: 0,
        index: 0,
        id: 'c',
        name: 'sql',
        extra: { namespace: 'db', type: 'custom' },
      },
      { type: 'tool-call-delta', choice: 0, index: 0, json: 'SELECT 1' },
      { type: 'tool-call-start', choice: 0, index: 1, id: 'fc', name: 'f' },
      { type: 'tool-call-delta', choice: 0, index: 1, json: '{"a":1}' },
    ])
  })

  test('citations count from the start of the complete text, each emitted once', async () => {
    const { annotations } = await fixture('web-search.sse')
    expect(annotations).toEqual([
      { type: 'url_citation', url: 'https://tides.example/a', title: 'Tables', startIndex: 13, endIndex: 22 },
      { type: 'file_citation', file_id: 'file-1', filename: 't.pdf', index: 4 },
    ])
  })

  test('log probabilities are emitted once', async () => {
    const { events } = await fixture('logprobs.sse')
    const tokens = events.flatMap((event) => (event.type === 'logprobs' ? event.logprobs.content : []))
    expect(tokens).toMatchObject([{ token: 'Ebb' }, { token: '.' }])
    const reply = await unary([message('x', { logprobs: [{ token: 'x', logprob: 0 }] })])
    expect(reply.events).toContainEqual({
      type: 'logprobs',
      choice: 0,
      logprobs: { content: [{ token: 'x', logprob: 0 }] },
    })
  })

  test.each([
    ['iVBORw0KGgo=', undefined, 'data:image/png;base64,iVBORw0KGgo='],
    ['/9j/4AAQ', undefined, 'data:image/jpeg;base64,/9j/4AAQ'],
    ['UklGRh4A', undefined, 'data:image/webp;base64,UklGRh4A'],
    ['UklGRh4A', 'png', 'data:image/png;base64,UklGRh4A'],
    ['https://x.example/a.png', undefined, 'https://x.example/a.png'],
  ])('the image %s of format %p', async (result, output_format, url) => {
    const item = { type: 'image_generation_call', id: 'i', status: 'completed', result, output_format }
    expect((await unary([item])).images).toEqual([url])
  })
})

describe('reasoning is replayed unchanged', () => {
  const detailsOf = ({ events }: Outcome) =>
    events.flatMap((event: InferenceEvent) => (event.type === 'reasoning-detail' ? [event.detail] : []))

  test.each(['thinking-tools.sse', 'thinking-tools.json'])('%s', async (file) => {
    expect(itemsOfDetails(detailsOf(await fixture(file)))).toEqual([REASONING])
  })

  test('several items of one id', async () => {
    const items = itemsOfDetails(detailsOf(await fixture('searches.json')))
    expect(items).toEqual([
      { type: 'reasoning', id: 'rs_x', summary: [], encrypted_content: 'b25l' },
      { type: 'reasoning', id: 'rs_x', summary: [], encrypted_content: 'dHdv' },
    ])
  })

  test('raw text, and the format and signature that gateways show', async () => {
    const item = {
      type: 'reasoning',
      id: 'r',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm.' }],
      format: 'anthropic-claude-v1',
      signature: 's',
    }
    const outcome = await unary([item, message('x')])
    expect(outcome.reasoning).toBe('Hm.')
    expect(itemsOfDetails(detailsOf(outcome))).toEqual([item])
  })

  test('a summary of bare strings', async () => {
    const outcome = await unary([{ type: 'reasoning', id: 'r', summary: ['One. ', 'Two.'] }, message('x')])
    expect(outcome.reasoning).toBe('One. Two.')
  })

  test('events of both names emit a text once; so do events of one name', async () => {
    const both = (text: string, order: 1 | -1): JsonObject[] =>
      [
        { type: 'response.reasoning.delta', output_index: 0, delta: text },
        { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: text },
      ].toSorted(() => order)
    for (const order of [1, -1] as const) {
      const { reasoning } = await streamed(...both('One ', order), ...both('two.', order), completed())
      expect(reasoning).toBe('One two.')
    }
    for (const at of [0, 1]) {
      const alone = [both('One ', 1)[at], both('two.', 1)[at]].filter((event) => event !== undefined)
      expect((await streamed(...alone, completed())).reasoning).toBe('One two.')
    }
  })
})
