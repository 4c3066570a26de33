import { describe, expect, test } from 'bun:test'
import { body, calls, chunk, data, eventsOf, type Json, stream, unary } from './replies.ts'

const TEXT = chunk({ content: 'Ahoy' })
const STOP = chunk({}, 'stop')

describe('other fields of a reply', () => {
  const both = async (message: Json, more: Json = {}) => {
    const streamed = await stream(data(chunk(message, null, more), chunk({}, 'stop'), '[DONE]'))
    const whole = await unary(body(message, 'stop', more))
    return [streamed, whole]
  }

  test('the start has id, model and time of the first chunk with them', async () => {
    const empty = { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [] }
    const { events } = await stream(data(empty, TEXT, STOP))
    expect(eventsOf(events, 'response-start')).toEqual([
      { type: 'response-start', upstreamId: 'fx', model: 'm', created: 5 },
    ])
    const nameless = await stream(
      data({ choices: [{ delta: { content: 'a' }, finish_reason: 'stop' }], created: 0, id: '' }),
    )
    expect(eventsOf(nameless.events, 'response-start')).toEqual([
      { type: 'response-start', upstreamId: null, model: null, created: null },
    ])
  })

  test('reasoning under both names is emitted once', async () => {
    for (const outcome of await both({ content: 'a', reasoning: 'why', reasoning_content: 'why' }))
      expect(outcome.reasoning).toBe('why')
    for (const outcome of await both({ content: 'a', reasoning: '', reasoning_content: 'why' }))
      expect(outcome.reasoning).toBe('why')
  })

  test('reasoning details travel unchanged', async () => {
    const details = [
      { type: 'reasoning.text', text: 'a', signature: 's', format: 'x', index: 0 },
      { type: 'reasoning.encrypted', data: 'AA==', id: 'r', index: 1, more: { deep: [1] } },
    ]
    for (const outcome of await both({ content: 'a', reasoning_details: details })) {
      expect(eventsOf(outcome.events, 'reasoning-detail').map((event) => event.detail)).toEqual(details)
    }
  })

  test('content in parts keeps its order, and parts of unknown types', async () => {
    const reference = { type: 'reference', reference_ids: [1] }
    const content = [
      {
        type: 'thinking',
        thinking: [
          { type: 'text', text: 'Hm' },
          { type: 'text', text: '.' },
        ],
      },
      { type: 'text', text: 'Aye' },
      reference,
      { type: 'image_url', image_url: { url: 'https://a.example/1.png' } },
      { type: 'text', text: '!' },
    ]
    for (const outcome of await both({ content })) {
      expect([outcome.reasoning, outcome.text, outcome.images]).toEqual([
        'Hm.',
        'Aye!',
        ['https://a.example/1.png'],
      ])
      const natives = eventsOf(outcome.events, 'native').map((event) => event.data)
      expect(natives).toEqual([{ choices: [{ index: 0, message: { content_parts: [reference] } }] }])
    }
  })

  test('images, audio, refusals and log probabilities', async () => {
    const message = {
      content: null,
      refusal: 'No.',
      images: [{ type: 'image_url', image_url: { url: 'data:,a' } }, { url: 'data:,b' }, 'data:,c', null],
      audio: { id: 'au', data: 'AA==', transcript: 'No.' },
    }
    for (const outcome of await both(message)) {
      expect([outcome.refusal, outcome.images]).toEqual(['No.', ['data:,a', 'data:,b', 'data:,c']])
      expect(eventsOf(outcome.events, 'audio-delta').map((event) => event.audio)).toEqual([message.audio])
    }
    const logprobs = {
      content: [{ token: 'A', logprob: -0.1, bytes: [65], top_logprobs: [] }],
      refusal: null,
    }
    const outcome = await stream(
      data(
        chunk({ content: 'A' }, null, {}, { logprobs }),
        chunk({}, 'stop', {}, { logprobs: { content: null } }),
      ),
    )
    expect(eventsOf(outcome.events, 'logprobs').map((event) => event.logprobs)).toEqual([logprobs])
  })

  test('logprobs of any form have the fields that clients require', async () => {
    const logprobsOf = async (logprobs: object | number) => {
      const outcome = await stream(data(chunk({ content: 'A' }, 'stop', {}, { logprobs })))
      return eventsOf(outcome.events, 'logprobs').map((event) => event.logprobs)
    }
    const together = { tokens: ['A', 'B'], token_logprobs: [null, -0.5] }
    const [bare, filled] = [
      { token: 'B', logprob: -0.5 },
      { token: 'B', logprob: -0.5, bytes: null, top_logprobs: [] },
    ]
    expect(await logprobsOf(together)).toEqual([{ ...together, content: [filled] }])
    expect(await logprobsOf({ content: [bare] })).toEqual([{ content: [filled] }])
    expect(await logprobsOf({ content: [{ ...bare, top_logprobs: [bare] }] })).toEqual([
      { content: [{ ...filled, top_logprobs: [{ ...bare, bytes: null }] }] },
    ])
    expect(await logprobsOf(-0.5)).toEqual([{ content: [{ ...filled, token: 'A' }] }])
    expect(await logprobsOf({ refusal: [bare] })).toEqual([{ content: null, refusal: [filled] }])
  })

  test('annotations are emitted once, sources of a search as annotations', async () => {
    const mark = {
      type: 'url_citation',
      url_citation: { url: 'https://a.example', title: 'A', content: 'c', start_index: 1, end_index: 4 },
    }
    const file = { type: 'file', file: { hash: 'h' } }
    const sources = {
      citations: ['https://a.example', 'https://b.example'],
      search_results: [{ url: 'https://b.example', title: 'B', snippet: 's' }],
    }
    const { annotations } = await stream(
      data(
        chunk({ content: 'a', annotations: [mark, mark, file] }, null, sources),
        chunk({ annotations: [mark, file] }, null, sources),
        chunk({}, 'stop', sources),
      ),
    )
    expect(annotations).toEqual([
      {
        type: 'url_citation',
        url: 'https://a.example',
        title: 'A',
        content: 'c',
        startIndex: 1,
        endIndex: 4,
      },
      file,
      {
        type: 'url_citation',
        url: 'https://b.example',
        title: 'B',
        content: 's',
        startIndex: 0,
        endIndex: 0,
      },
    ])
  })

  test('several choices', async () => {
    const at = (index: number, delta: Json, finish: string | null = null) => ({
      index,
      delta,
      finish_reason: finish,
    })
    const { events, finishes } = await stream(
      data(
        { id: 'fx', model: 'm', choices: [at(1, { content: 'b' }), at(0, { content: 'a' })] },
        {
          choices: [
            at(0, calls({ index: 4, id: 'x', function: { name: 'f', arguments: '{}' } }), 'tool_calls'),
          ],
        },
        {
          choices: [at(1, calls({ index: 9, id: 'y', function: { name: 'g', arguments: '{}' } }), 'length')],
        },
      ),
    )
    expect(eventsOf(events, 'text-delta').map(({ choice, text }) => [choice, text])).toEqual([
      [1, 'b'],
      [0, 'a'],
    ])
    expect(eventsOf(events, 'tool-call-start').map(({ choice, index }) => [choice, index])).toEqual([
      [0, 0],
      [1, 0],
    ])
    expect(finishes.map(({ choice, reason }) => [choice, String(reason)])).toEqual([
      [0, 'tool_calls'],
      [1, 'length'],
    ])
  })

  test('usage is replaced, with the tier that was used', async () => {
    const usage = (n: number, more: Json = {}) => ({
      usage: { prompt_tokens: 9, completion_tokens: n, total_tokens: 9 + n },
      ...more,
    })
    const { events } = await stream(
      data(
        chunk({ content: 'a' }, null, usage(1)),
        chunk({ content: 'b' }, 'stop', usage(2, { service_tier: 'flex' })),
        { choices: [], ...usage(0) },
      ),
    )
    expect(eventsOf(events, 'usage').map((event) => [event.usage.outputTokens, event.serviceTier])).toEqual([
      [1, null],
      [2, 'flex'],
      [0, 'flex'],
    ])
    const groq = await stream(data(TEXT, chunk({}, 'stop', { x_groq: usage(4) })))
    expect(groq.usage?.outputTokens).toBe(4)
    for (const usage of [null, {}, [], 'none', { prompt_tokens: null }, { prompt_tokens: -1 }]) {
      expect((await stream(data(chunk({ content: 'a' }, 'stop', { usage })))).usage).toBeNull()
    }
    expect(
      (
        await stream(
          data(chunk({ content: 'a' }, 'stop', { usage: { prompt_tokens: 0, completion_tokens: 0 } })),
        )
      ).usage?.inputTokens,
    ).toBe(0)
  })
})

describe('an unknown field', () => {
  test('is in a native event, at its place; padding is not', async () => {
    const text = data(
      chunk(
        { content: 'a', channel: 'final' },
        null,
        { system_fingerprint: 'fp', x: null, obfuscation: 'q', p: 'ab' },
        { token_ids: null, filter: { ok: true } },
      ),
      chunk({ content: 'b' }, null, { system_fingerprint: 'fp', x: null }, { token_ids: null }),
      chunk({ content: 'c' }, 'stop', { system_fingerprint: 'fp2', x: null }),
    )
    const { events } = await stream(text)
    expect(eventsOf(events, 'native').map((event) => [event.dialect, event.data])).toEqual([
      [
        'chat',
        {
          chunk: { system_fingerprint: 'fp', x: null },
          choices: [
            { index: 0, choice: { token_ids: null, filter: { ok: true } }, message: { channel: 'final' } },
          ],
        },
      ],
      ['chat', { chunk: { system_fingerprint: 'fp2' } }],
    ])
  })

  test('of a unary body keeps its nulls', async () => {
    const { events } = await unary(
      body({ content: 'a', note: null, executed_tools: [1] }, 'stop', { provider: 'P', x: null }),
    )
    expect(eventsOf(events, 'native').map((event) => event.data)).toEqual([
      {
        chunk: { provider: 'P', x: null },
        choices: [{ index: 0, message: { note: null, executed_tools: [1] } }],
      },
    ])
  })

  test('cannot reach a prototype', async () => {
    const text =
      '{"__proto__":{"evil":1},"choices":[{"index":0,"__proto__":{"evil":1},"message":{"__proto__":{"evil":1},"content":"a"},"finish_reason":"stop"}]}'
    const { events } = await unary(text)
    expect(Reflect.get({}, 'evil')).toBeUndefined()
    for (const event of eventsOf(events, 'native'))
      expect(Reflect.get(Object(event.data), 'evil')).toBeUndefined()
  })

  test('a function call of the oldest API is also in the native event', async () => {
    const call = { name: 'f', arguments: '{}' }
    const { events } = await unary(body({ content: null, function_call: call }, 'function_call'))
    expect(eventsOf(events, 'native').map((event) => event.data)).toEqual([
      { choices: [{ index: 0, message: { function_call: call } }] },
    ])
  })
})
