import { describe, expect, test } from 'bun:test'
import type { InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import { detail, frame, text, thought } from './frames.ts'
import { parse, streamed, unary } from './written.ts'

/** Reasoning of other dialects is written into items and returns in `input` unchanged. */

const CLAUDE = 'anthropic-claude-v1'
const GEMINI = 'google-gemini-v1'

const UNKNOWN = {
  type: 'reasoning.server_tool_call',
  tool_name: 't',
  arguments: '{}',
  result: 'r',
  format: CLAUDE,
  index: 0,
}

const rows: [string, InferenceFrame[], JsonObject[]][] = [
  [
    'a signed thought and a redacted one',
    [
      frame(thought('Two '), detail({ type: 'reasoning.text', text: 'Two ', format: CLAUDE, index: 0 })),
      frame(thought('lamps.'), detail({ type: 'reasoning.text', text: 'lamps.', format: CLAUDE, index: 0 })),
      frame(detail({ type: 'reasoning.text', signature: 'c2ln', format: CLAUDE, index: 0 })),
      frame(detail({ type: 'reasoning.encrypted', data: 'cmVk', format: CLAUDE, index: 1 })),
    ],
    [
      { type: 'reasoning.text', text: 'Two lamps.', signature: 'c2ln', format: CLAUDE, index: 0 },
      { type: 'reasoning.encrypted', data: 'cmVk', format: CLAUDE, index: 1 },
    ],
  ],
  [
    'a signature of a call, by the id of the call',
    [
      frame(thought('I ask.'), detail({ type: 'reasoning.text', text: 'I ask.', format: GEMINI, index: 0 })),
      frame(detail({ type: 'reasoning.encrypted', data: 'c2ln', id: 'call_1', format: GEMINI, index: 0 })),
    ],
    [
      { type: 'reasoning.text', text: 'I ask.', format: GEMINI, index: 0 },
      { type: 'reasoning.encrypted', data: 'c2ln', id: 'call_1', format: GEMINI, index: 0 },
    ],
  ],
  [
    'a summary with encrypted content, through a gateway of another dialect',
    [
      frame(
        thought('Sum'),
        detail({
          type: 'reasoning.summary',
          summary: 'Sum',
          id: 'rs_9',
          format: 'openai-responses-v1',
          index: 0,
        }),
      ),
      frame(
        detail({
          type: 'reasoning.encrypted',
          data: 'gAAA',
          id: 'rs_9',
          format: 'openai-responses-v1',
          index: 1,
        }),
      ),
    ],
    [
      { type: 'reasoning.summary', summary: 'Sum', id: 'rs_9', format: 'openai-responses-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'gAAA', id: 'rs_9', format: 'openai-responses-v1', index: 1 },
    ],
  ],
  ['an unknown type', [frame(detail(UNKNOWN))], [UNKNOWN]],
]

describe('a replay has the same details', () => {
  test.each(rows)('%s', async (_, frames, details) => {
    for (const response of [streamed(frames).response, await unary(frames)]) {
      const { output } = response
      if (!Array.isArray(output)) throw new Error('no output')
      const { messages } = parse({ input: [{ role: 'user', content: 'x' }, ...output] })
      expect(messages[1]?.reasoningDetails).toEqual(details)
      // Clients that keep only known fields.
      const known = output.map(({ id, type, encrypted_content, summary }) => ({
        id,
        type,
        encrypted_content,
        summary,
      }))
      expect(parse({ input: known }).messages[0]?.reasoningDetails).toEqual(details)
    }
  })
})

test('thoughts of nothing but text need no seal', () => {
  const { response } = streamed([frame(thought('Hm.')), frame(text('Hi'))])
  expect(response['output']).toMatchObject([
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }], format: 'unknown' },
    {},
  ])
  expect(JSON.stringify(response)).not.toContain('encrypted_content')
  const { output } = response
  if (!Array.isArray(output)) throw new Error('no output')
  expect(parse({ input: output }).messages[0]).toMatchObject({
    content: 'Hi',
    reasoning: 'Hm.',
    reasoningDetails: [{ type: 'reasoning.text', text: 'Hm.', format: 'unknown' }],
  })
})

test('a modified seal is not a detail', () => {
  const item = (encrypted_content: string) => ({
    type: 'reasoning',
    id: 'rs',
    summary: [],
    encrypted_content,
  })
  for (const broken of ['sluice.v1.', 'sluice.v1.bm9wZQ', 'sluice.v1.W10', `sluice.v1.${'x'.repeat(99)}`])
    expect(parse({ input: [item(broken), { role: 'user', content: 'x' }] }).messages).toEqual([
      { role: 'user', content: 'x' },
    ])
})
