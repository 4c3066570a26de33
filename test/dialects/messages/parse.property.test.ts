import { test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/core/events.ts'
import { messagesIngress } from '../../../src/dialects/messages/index.ts'
import { expectParsedOrRejected } from '../any-body.ts'

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

test('any body is parsed or rejected', () => {
  expectParsedOrRejected(body, (sent) => messagesIngress.parse(sent, new Headers()), {
    path: /^[a-z_]+(\[\d+\]|\.[\w-]+)*: /,
    numRuns: 3000,
  })
})
