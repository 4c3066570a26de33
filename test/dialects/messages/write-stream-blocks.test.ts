import { describe, expect, test } from 'bun:test'
import type { InferenceEvent, JsonObject } from '../../../src/core/events.ts'
import { unseal } from '../../../src/dialects/opaque.ts'
import { choice, json, TEXT, THINKING, text, textDelta, thought, written } from './streamed.ts'
import { replyOf } from './written.ts'

const think = (value: string): InferenceEvent => ({ type: 'reasoning-delta', choice, text: value })

const detail = (fields: JsonObject & { type: string }): InferenceEvent => ({
  type: 'reasoning-detail',
  choice,
  detail: fields,
})

const call = (index: number, id: string, name = 'f'): InferenceEvent => ({
  type: 'tool-call-start',
  choice,
  index,
  id,
  name,
})

const args = (index: number, json: string): InferenceEvent => ({
  type: 'tool-call-delta',
  choice,
  index,
  json,
})

/** Only the blocks, shortened: `[type, ...]` of a start, the delta, or `stop`. */
function blocksOf(frames: InferenceEvent[][], reply = replyOf()): unknown[] {
  return written(frames, {}, reply).flatMap((event) => {
    if (event['type'] === 'content_block_start') return [event['content_block']]
    if (event['type'] === 'content_block_delta') return [event['delta']]
    return event['type'] === 'content_block_stop' ? ['stop'] : []
  })
}

const tool = (id: string, name = 'f') => ({ type: 'tool_use', id, name, input: {} })

const sealed = () => ({
  type: 'signature_delta',
  signature: expect.stringMatching(/^sluice\.v1\./),
})

describe('blocks', () => {
  const CITED = {
    type: 'url_citation' as const,
    url: 'https://a.example',
    title: 'A',
    startIndex: 0,
    endIndex: 2,
  }
  const citation = {
    type: 'citations_delta',
    citation: {
      type: 'web_search_result_location',
      url: 'https://a.example',
      title: 'A',
      cited_text: '',
      encrypted_index: expect.stringMatching(/^sluice\.v1\./),
    },
  }
  const cite: InferenceEvent = { type: 'annotation', choice, annotation: CITED }
  const rows: [what: string, frames: InferenceEvent[][], expected: unknown[]][] = [
    [
      'a thought, then text',
      [[think('hm')], [think('m')], [text('Hi')]],
      [THINKING, thought('hm'), thought('m'), sealed(), 'stop', TEXT, textDelta('Hi'), 'stop'],
    ],
    [
      'a thought of Claude keeps its signature',
      [
        [
          think('hm'),
          detail({ type: 'reasoning.text', text: 'hm', format: 'anthropic-claude-v1', index: 0 }),
        ],
        [detail({ type: 'reasoning.text', signature: 's', format: 'anthropic-claude-v1', index: 0 })],
        [detail({ type: 'reasoning.encrypted', data: 'zz', format: 'anthropic-claude-v1', index: 1 })],
        [text('Hi')],
      ],
      [
        THINKING,
        thought('hm'),
        { type: 'signature_delta', signature: 's' },
        'stop',
        { type: 'redacted_thinking', data: 'zz' },
        'stop',
        TEXT,
        textDelta('Hi'),
        'stop',
      ],
    ],
    [
      'thoughts of two indexes are two blocks',
      [
        [detail({ type: 'reasoning.summary', summary: 'a', format: 'x', index: 0 })],
        [detail({ type: 'reasoning.summary', summary: 'b', format: 'x', index: 0 })],
        [detail({ type: 'reasoning.summary', summary: 'c', format: 'x', index: 1 })],
      ],
      [THINKING, thought('a'), thought('b'), sealed(), 'stop', THINKING, thought('c'), sealed(), 'stop'],
    ],
    [
      'text of thoughts that is repeated in the next frame is written once',
      [
        [think('a ')],
        [detail({ type: 'reasoning.summary', summary: 'a ', format: 'x', index: 0 })],
        [think('b')],
        [detail({ type: 'reasoning.summary', summary: 'b', format: 'x', index: 0 })],
      ],
      [THINKING, thought('a '), thought('b'), sealed(), 'stop'],
    ],
    [
      'calls: in pieces, complete, without arguments',
      [
        [call(0, 'a')],
        [args(0, '{"x":')],
        [args(0, '1}')],
        [call(1, 'b'), args(1, '{"y":2}')],
        [call(2, 'c'), args(2, '{}')],
        [call(3, 'd')],
      ],
      [
        tool('a'),
        json('{"x":'),
        json('1}'),
        'stop',
        tool('b'),
        json('{"y":2}'),
        'stop',
        tool('c'),
        json('{}'),
        'stop',
        tool('d'),
        'stop',
      ],
    ],
    [
      'calls that interleave come one after the other, and so does text between their pieces',
      [[call(0, 'a'), call(1, 'b')], [args(1, '{"y"')], [text('Hi')], [args(0, '{}')], [args(1, ':2}')]],
      [
        tool('a'),
        json('{}'),
        'stop',
        tool('b'),
        json('{"y"'),
        json(':2}'),
        'stop',
        TEXT,
        textDelta('Hi'),
        'stop',
      ],
    ],
    [
      'thoughts come before the call that follows from them',
      [
        [
          call(0, 'a'),
          detail({ type: 'reasoning.encrypted', data: 'd', format: 'x', id: 'a' }),
          args(0, '{}'),
        ],
      ],
      [
        { type: 'redacted_thinking', data: expect.stringMatching(/^sluice\.v1\./) },
        'stop',
        tool('a'),
        json('{}'),
        'stop',
      ],
    ],
    [
      'free text for a call is the only field of an object',
      [
        [
          {
            ...call(0, 'a'),
            type: 'tool-call-start',
            choice,
            index: 0,
            id: 'a',
            name: 'f',
            extra: { type: 'custom' },
          },
        ],
        [args(0, 'SELECT "')],
        [args(0, 'x"')],
        [text('Hi')],
      ],
      [
        tool('a'),
        json('{"input":"SELECT \\"'),
        json('x\\"'),
        json('"}'),
        'stop',
        TEXT,
        textDelta('Hi'),
        'stop',
      ],
    ],
    [
      'a refusal is text',
      [[{ type: 'refusal-delta', choice, text: 'No.' }]],
      [TEXT, textDelta('No.'), 'stop'],
    ],
    ['a citation in its text', [[text('Hi')], [cite]], [TEXT, textDelta('Hi'), citation, 'stop']],
    ['a citation before its text', [[cite], [text('Hi')]], [TEXT, citation, textDelta('Hi'), 'stop']],
    ['a citation of nothing', [[cite]], [TEXT, citation, 'stop']],
    [
      'another kind of citation of Anthropic, unchanged',
      [
        [text('Hi')],
        [{ type: 'annotation', choice, annotation: { type: 'page_location', start_page_number: 2 } }],
      ],
      [
        TEXT,
        textDelta('Hi'),
        { type: 'citations_delta', citation: { type: 'page_location', start_page_number: 2 } },
        'stop',
      ],
    ],
    [
      'a kind of citation that Anthropic does not have is left out',
      [[text('Hi')], [{ type: 'annotation', choice, annotation: { type: 'file_citation', file_id: 'f' } }]],
      [TEXT, textDelta('Hi'), 'stop'],
    ],
    [
      'images',
      [
        [{ type: 'image', choice, url: 'data:image/png;base64,AAAA' }],
        [{ type: 'image', choice, url: 'https://a.example/i.png' }],
      ],
      [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        'stop',
        { type: 'image', source: { type: 'url', url: 'https://a.example/i.png' } },
        'stop',
      ],
    ],
    ['another choice is left out', [[{ ...text('no'), type: 'text-delta', text: 'no', choice: 1 }]], []],
  ]
  test.each(rows)('%s', (_, frames, expected) => {
    expect(blocksOf(frames)).toEqual(expected)
  })

  test('a signature seals the detail without its text', () => {
    const blocks = blocksOf([
      [think('hm'), detail({ type: 'reasoning.text', text: 'hm', format: 'x', id: 'r', index: 3 })],
    ])
    const { signature } = JSON.parse(JSON.stringify(blocks[2]))
    expect(unseal(signature)).toEqual({ detail: { type: 'reasoning.text', format: 'x', id: 'r', index: 3 } })
  })

  test('hidden thoughts leave their signatures, which the next turn needs', () => {
    const claudes = {
      type: 'reasoning.text',
      text: 'hm',
      signature: 's',
      format: 'anthropic-claude-v1',
      index: 0,
    }
    const others = { type: 'reasoning.text', text: 'so', format: 'x', index: 1 }
    const frames = [
      [think('plain')],
      [think('hm'), detail(claudes)],
      [think('so'), detail(others)],
      [text('Hi')],
    ]
    expect(blocksOf(frames, replyOf({ hideReasoning: true }))).toEqual([
      THINKING,
      { type: 'signature_delta', signature: 's' },
      'stop',
      THINKING,
      sealed(),
      'stop',
      TEXT,
      textDelta('Hi'),
      'stop',
    ])
  })
})
