import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { egresses } from '../../../src/dialects/index.ts'
import { messagesIngress } from '../../../src/dialects/messages/index.ts'
import { attemptOf } from './attempt.ts'

/** Any body is parsed and can be forwarded in every dialect, or rejected with a 400 that names the path. */

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(null, '', [], {}, -1, 1e99, 'sluice.v1.', 'data:', '__proto__'),
)
const TYPES = [
  'text',
  'image',
  'document',
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'search_result',
  'compaction',
  'x',
]
const block = fc.dictionary(
  fc.constantFrom(
    'type',
    'text',
    'source',
    'id',
    'name',
    'input',
    'tool_use_id',
    'content',
    'thinking',
    'signature',
    'data',
    'citations',
    'title',
  ),
  junk,
)
const typed = fc.tuple(block, fc.constantFrom(...TYPES)).map(([fields, type]) => ({ ...fields, type }))
const message = fc.record({
  role: fc.constantFrom<unknown>('user', 'assistant', 'system', 'tool', 1),
  content: fc.oneof(fc.string(), fc.array(fc.oneof(typed, junk), { maxLength: 3 }), junk),
})
const FIELDS = [
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'max_tokens',
  'metadata',
  'stop_sequences',
  'models',
  'fallbacks',
  'provider',
  'plugins',
  'service_tier',
  'x',
]
const body = fc
  .tuple(fc.dictionary(fc.constantFrom(...FIELDS), junk, { maxKeys: 2 }), fc.array(message, { maxLength: 3 }))
  .map(([fields, messages]): JsonObject => ({ model: 'm', ...fields, messages }))

test('read or refused', () => {
  let taken = 0
  fc.assert(
    fc.property(body, (sent) => {
      const before = JSON.stringify(sent)
      try {
        const request = messagesIngress.parse(sent, new Headers())
        for (const egress of Object.values(egresses)) egress.build(request, attemptOf())
        taken++
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        expect(error.status).toBe(400)
        expect(error.message).toMatch(/^[a-z_]+(\[\d+\]|\.[\w-]+)*: /)
      }
      expect(JSON.stringify(sent)).toBe(before)
    }),
    { numRuns: 3000 },
  )
  expect(taken).toBeGreaterThan(20)
})
