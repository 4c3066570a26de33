import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { OWN_ITEMS, OWN_OUTPUTS } from '../../../src/dialects/responses/schema-items.ts'
import { parse } from './written.ts'

/** Any body is parsed, or rejected with a 400 and a message; the body stays unchanged. */

const junk = fc.oneof(
  fc.constantFrom<unknown>(null, '', 'x', 0, -1, true, [], {}, [[]], [null], {
    type: 'input_text',
    text: 'x',
  }),
  fc.anything({ maxDepth: 2, withBigInt: false }),
)
/** Now and then something else. */
const mostly = (good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 24, arbitrary: good }, { weight: 1, arbitrary: junk })
const few = mostly(fc.constantFrom<unknown>(null, undefined))
const types = [
  ...OWN_ITEMS,
  ...OWN_OUTPUTS,
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'additional_tools',
  'agent_message',
  'configuration_update',
  'openrouter:bash',
]
const word = mostly(fc.constantFrom('x', 'a'))
const part = fc.record({
  type: mostly(
    fc.constantFrom('input_text', 'output_text', 'refusal', 'input_image', 'input_file', 'input_audio'),
  ),
  text: word,
  refusal: word,
  image_url: mostly(fc.constant('https://a.example/i.png')),
  file_data: word,
  input_audio: mostly(fc.constant({ data: 'AA==', format: 'wav' })),
})
const content = mostly(fc.oneof(fc.string(), fc.array(part, { maxLength: 2 })))
const item = fc.record({
  type: mostly(fc.constantFrom(...types, 'message', 'message', 'function_call', 'reasoning')),
  role: mostly(fc.constantFrom('user', 'assistant', 'system', 'developer')),
  content,
  call_id: word,
  name: word,
  arguments: mostly(fc.constant('{}')),
  input: word,
  output: content,
  summary: mostly(fc.constantFrom([], [{ type: 'summary_text', text: 'x' }], ['x'])),
  encrypted_content: mostly(fc.constantFrom('sluice.v1.e30', 'gAAA')),
  tools: mostly(fc.constantFrom([], [{ type: 'custom', name: 'x' }])),
  reasoning: mostly(fc.constantFrom({}, { effort: 'low' })),
  id: word,
})
const odd = fc.constantFrom(
  { type: '__proto__' },
  { type: 'constructor' },
  { type: 'item_reference', id: 'x' },
)
const tool = fc.record({
  type: mostly(fc.constantFrom('function', 'custom', 'namespace', 'mcp')),
  name: word,
  parameters: few,
  tools: mostly(fc.constant([])),
})
const body = fc.record({
  input: mostly(fc.array(fc.oneof({ weight: 20, arbitrary: item }, odd), { maxLength: 3 })),
  tools: mostly(fc.array(tool, { maxLength: 2 })),
  tool_choice: mostly(
    fc.constantFrom(
      'auto',
      { type: 'function', name: 'x' },
      { type: 'allowed_tools', mode: 'auto', tools: [{ name: 'x' }] },
    ),
  ),
  text: few,
  reasoning: few,
  include: few,
  metadata: few,
  instructions: word,
  previous_response_id: mostly(fc.constantFrom(null, 'resp_1')),
  plugins: few,
  prompt: few,
})

test('any body is parsed or rejected', () => {
  let taken = 0
  fc.assert(
    fc.property(body, (fields) => {
      const asked: JsonObject = fields
      const before = Bun.inspect(asked)
      try {
        const request = parse(asked)
        taken += 1
        for (const { role } of request.messages) expect(role).toBeString()
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        expect(error.status).toBe(400)
        expect(error.message).toMatch(/\S/)
      }
      expect(Bun.inspect(asked)).toBe(before)
    }),
    { numRuns: 2_000 },
  )
  expect(taken).toBeGreaterThan(100)
})
