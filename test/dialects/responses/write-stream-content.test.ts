import { describe, expect, test } from 'bun:test'
import { call, detail, frame, piece, text, thought } from './frames.ts'
import { ended, itemsOf, reply, streamed, typesOf } from './written.ts'

test('tokens with their probabilities', () => {
  const token = {
    token: 'é',
    logprob: -0.5,
    bytes: null,
    top_logprobs: [{ token: 'e', logprob: -1, bytes: [101] }],
  }
  const shown = {
    token: 'é',
    logprob: -0.5,
    bytes: [195, 169],
    top_logprobs: [{ token: 'e', logprob: -1, bytes: [101] }],
  }
  const stream = streamed([
    frame(text('é'), { type: 'logprobs', choice: 0, logprobs: { content: [token] } }),
    frame(text('!')),
  ])
  const deltas = stream.events.filter(({ type }) => type === 'response.output_text.delta')
  expect(deltas.map(({ logprobs }) => logprobs)).toEqual([[shown], []])
  expect(itemsOf(stream)).toMatchObject([{ content: [{ logprobs: [shown] }] }])
})

test('the position of a citation counts from the start of its message', () => {
  const annotation = {
    type: 'url_citation' as const,
    url: 'https://a.example',
    title: 'A',
    content: 'c',
    startIndex: 7,
    endIndex: 9,
  }
  const stream = streamed([
    frame(text('first ')),
    frame(call(0, 'f'), piece(0, '{}')),
    frame(text('second')),
    frame({ type: 'annotation', choice: 0, annotation }),
  ])
  expect(itemsOf(stream)[2]).toMatchObject({
    content: [
      {
        annotations: [
          {
            type: 'url_citation',
            url: 'https://a.example',
            title: 'A',
            content: 'c',
            start_index: 1,
            end_index: 3,
          },
        ],
      },
    ],
  })
})

test('a signature within the text follows it; the text is not split', () => {
  const stream = streamed([
    frame(text('{"a":')),
    frame(detail({ type: 'reasoning.encrypted', data: 'sig', format: 'google-gemini-v1', index: 0 })),
    frame(text('1}')),
  ])
  expect(itemsOf(stream).map(({ type }) => type)).toEqual(['message', 'reasoning'])
  expect(stream.response['output_text']).toBe('{"a":1}')
})

describe('custom tools', () => {
  const asked = {
    tools: [
      { type: 'custom', name: 'patch' },
      { type: 'namespace', name: 'crm', tools: [{ type: 'function', name: 'find', parameters: {} }] },
    ],
  }

  test('of a provider with functions only: the argument is the text', () => {
    const json = JSON.stringify({ input: 'a "b"\n\\ü\u{1f600}' })
    const frames = [frame(call(0, 'patch')), ...[...json].map((unit) => frame(piece(0, unit)))]
    const stream = streamed(frames, reply(asked), ended('tool_calls'))
    expect(itemsOf(stream)).toEqual([
      {
        id: 'ctc_1_0',
        type: 'custom_tool_call',
        call_id: 'call_0',
        name: 'patch',
        status: 'completed',
        input: 'a "b"\n\\ü\u{1f600}',
      },
    ])
    expect(typesOf(stream).filter((type) => type === 'custom_tool_call_input.delta').length).toBeGreaterThan(
      5,
    )
  })

  test('of a provider with custom tools: the text is unchanged', () => {
    const frames = [frame(call(0, 'patch', { extra: { type: 'custom' } }), piece(0, '{"not": json'))]
    expect(itemsOf(streamed(frames, reply(asked)))).toMatchObject([
      { type: 'custom_tool_call', input: '{"not": json' },
    ])
  })

  test('the namespace is separated from the name', () => {
    const frames = [frame(call(0, 'crm__find'), piece(0, '{}'))]
    expect(itemsOf(streamed(frames, reply(asked)))).toMatchObject([
      { type: 'function_call', name: 'find', namespace: 'crm' },
    ])
  })
})

test('text can never end an event', () => {
  const evil = 'a\n\nb\u2028c\u2029d\u0085e data: [DONE]\n\n'
  expect(
    streamed([frame(text(evil)), frame(thought(evil)), frame(call(0, evil), piece(0, evil))]).response[
      'output_text'
    ],
  ).toBe(evil)
})
