import { describe, expect, test } from 'bun:test'
import { body, calls, chunk, data, eventsOf, type Json, stream, unary } from './replies.ts'

describe('tool calls', () => {
  const rows: [
    name: string,
    deltas: Json[],
    expected: [id: string | RegExp, name: string, json: string][],
  ][] = [
    [
      'by index',
      [
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }),
        calls({ index: 1, id: 'b', function: { name: 'g' } }),
        calls({ index: 0, function: { arguments: '{"x"' } }, { index: 1, function: { arguments: '[]' } }),
        calls({ index: 0, function: { arguments: ':1}' } }),
      ],
      [
        ['a', 'f', '{"x":1}'],
        ['b', 'g', '[]'],
      ],
    ],
    [
      'indexes that begin at 3',
      [
        calls({ index: 3, id: 'a', function: { name: 'f', arguments: '{}' } }),
        calls({ index: 7, id: 'b', function: { name: 'g', arguments: '{}' } }),
      ],
      [
        ['a', 'f', '{}'],
        ['b', 'g', '{}'],
      ],
    ],
    [
      'one index for all',
      [
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }),
        calls({ index: 0, function: { arguments: '}' } }),
        calls({ index: 0, id: 'b', function: { name: 'f', arguments: '[]' } }),
        calls({ index: 0, id: '', function: { arguments: ' ' } }),
      ],
      [
        ['a', 'f', '{}'],
        ['b', 'f', '[] '],
      ],
    ],
    [
      'another id at each fragment, without a name',
      [
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }),
        calls({ index: 0, id: 'b', function: { arguments: '}' } }),
      ],
      [['a', 'f', '{}']],
    ],
    [
      'by id',
      [
        calls(
          { id: 'a', function: { name: 'f', arguments: '{' } },
          { id: 'b', function: { name: 'g', arguments: '[' } },
        ),
        calls({ id: 'b', function: { arguments: ']' } }),
        calls({ id: 'a', function: { arguments: '}' } }),
      ],
      [
        ['a', 'f', '{}'],
        ['b', 'g', '[]'],
      ],
    ],
    [
      'by position',
      [
        calls({ function: { name: 'f', arguments: '{' } }, { function: { name: 'g', arguments: '[' } }),
        calls({ function: { arguments: '}' } }, { function: { arguments: ']' } }),
      ],
      [
        [/^call_/, 'f', '{}'],
        [/^call_/, 'g', '[]'],
      ],
    ],
    [
      'complete calls without id or index, one after the other',
      [
        calls({ function: { name: 'f', arguments: '{}' } }),
        calls({ function: { name: 'f', arguments: '[]' } }),
      ],
      [
        [/^call_/, 'f', '{}'],
        [/^call_/, 'f', '[]'],
      ],
    ],
    [
      'one after the other without an index, in fragments without an id',
      [
        calls({ id: 'a', function: { name: 'f', arguments: '' } }),
        calls({ function: { arguments: '{"x"' } }),
        calls({ function: { arguments: ':1}' } }),
        calls({ id: 'b', function: { name: 'g', arguments: '' } }),
        calls({ function: { arguments: '{"y"' } }),
        calls({ function: { arguments: ':2}' } }),
      ],
      [
        ['a', 'f', '{"x":1}'],
        ['b', 'g', '{"y":2}'],
      ],
    ],
    [
      'complete calls with one index and no id',
      [
        calls({ index: 0, function: { name: 'f', arguments: '{"x":1}' } }),
        calls({ index: 0, function: { name: 'g', arguments: '{"y":2}' } }),
        calls({ index: 0, function: { name: 'g', arguments: '' } }),
      ],
      [
        [/^call_/, 'f', '{"x":1}'],
        [/^call_/, 'g', '{"y":2}'],
      ],
    ],
    [
      'a name after the arguments',
      [
        calls({ index: 0, id: 'a', function: { arguments: '{"x"' } }),
        calls({ index: 0, function: { arguments: ':1' } }),
        calls({ index: 0, function: { name: 'f', arguments: '}' } }),
      ],
      [['a', 'f', '{"x":1}']],
    ],
    [
      'an id after the name: the generated one stays',
      [
        calls({ index: 0, id: '', function: { name: 'f', arguments: '' } }),
        calls({ index: 0, id: 'late', function: { arguments: '{}' } }),
      ],
      [[/^call_/, 'f', '{}']],
    ],
    [
      'a name on each fragment',
      [
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }),
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: '}' } }),
      ],
      [['a', 'f', '{}']],
    ],
    [
      'nulls everywhere',
      [
        calls({ index: 0, id: 'a', type: null, function: { name: 'f', arguments: null } }),
        calls({ index: 0, id: null, function: null }),
        calls(null, 7, {}),
      ],
      [['a', 'f', '{}']],
    ],
    [
      'the word null as arguments',
      [
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: 'null' } }),
        calls({ index: 1, id: 'b', function: { name: 'g', arguments: '{"x":' } }),
        calls({ index: 1, function: { arguments: 'null' } }),
        calls({ index: 1, function: { arguments: '}' } }),
        calls({ index: 2, id: 'c', type: 'custom', custom: { name: 'sql', input: 'null' } }),
      ],
      [
        ['a', 'f', '{}'],
        ['b', 'g', '{"x":null}'],
        ['c', 'sql', 'null'],
      ],
    ],
    [
      'arguments as an object',
      [calls({ index: 0, id: 'a', function: { name: 'f', arguments: { x: [1] } } })],
      [['a', 'f', '{"x":[1]}']],
    ],
    [
      'a custom tool',
      [
        calls({ index: 0, id: 'a', type: 'custom', custom: { name: 'sql', input: 'select' } }),
        calls({ index: 0, type: 'custom', custom: { input: ' 1' } }),
      ],
      [['a', 'sql', 'select 1']],
    ],
    [
      'the oldest API',
      [
        { function_call: { name: 'f', arguments: '' } },
        { function_call: { arguments: '{' } },
        { function_call: { name: '', arguments: '}' } },
      ],
      [[/^call_/, 'f', '{}']],
    ],
    ['no arguments at all', [calls({ index: 0, id: 'a', function: { name: 'f' } })], [['a', 'f', '{}']]],
  ]
  test.each(rows)('%s', async (_, deltas, expected) => {
    const outcome = await stream(
      data(...deltas.map((delta) => chunk(delta)), chunk({}, 'tool_calls'), '[DONE]'),
    )
    expect(outcome.error).toBeUndefined()
    expect(outcome.calls.map(({ name, arguments: json }) => [name, json])).toEqual(
      expected.map(([, name, json]) => [name, json]),
    )
    expected.forEach(([id], i) => {
      expect(outcome.calls[i]?.id).toMatch(id)
    })
    expect(new Set(outcome.calls.map((call) => call.id)).size).toBe(outcome.calls.length)
  })

  test('arguments truncated by the bound on tokens are unchanged', async () => {
    const outcome = await stream(
      data(
        chunk(calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x' } })),
        chunk(calls({ index: 1, id: 'b', function: { name: 'g' } }), 'length'),
      ),
    )
    expect(outcome.calls.map((call) => call.arguments)).toEqual(['{"x', ''])
  })

  test('further fields of a call are in its start', async () => {
    const signed = {
      index: 0,
      id: 'a',
      type: 'function',
      extra_content: { google: { thought_signature: 'cw==' } },
      function: { name: 'f', arguments: '{}', strict: true },
    }
    const extra = { extra_content: signed.extra_content, function: { strict: true } }
    for (const outcome of [
      await stream(data(chunk(calls(signed), 'tool_calls'))),
      await unary(body(calls(signed))),
    ]) {
      expect(eventsOf(outcome.events, 'tool-call-start').map((event) => event.extra)).toEqual([extra])
    }
  })

  test('entries of a complete message are separate calls, even with equal ids', async () => {
    const same = { id: 'a', index: 0, type: 'function', function: { name: 'f', arguments: '{}' } }
    expect((await unary(body(calls(same, { ...same, id: '' }, same), 'tool_calls'))).calls).toHaveLength(3)
  })
})
