import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/core/events.ts'
import { geminiIngress } from '../../../src/dialects/gemini/index.ts'
import { canonicalBody } from '../../../src/dialects/gemini/names.ts'
import { expectParsedOrRejected } from '../any-body.ts'

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(null, '', [], {}, -1, 1e99, 'c2x1aWNlLnYx', 'data:', '__proto__'),
)
const call = fc.record({
  name: fc.constantFrom('f', 'g.h'),
  args: fc.object({ maxDepth: 1 }),
  id: fc.constantFrom('a', 'b'),
})
const part = fc.oneof(
  fc.record({ text: fc.string() }),
  fc.record({ text: fc.string(), thought: fc.boolean(), thoughtSignature: fc.string() }),
  fc.record({ functionCall: call, thoughtSignature: fc.constantFrom('c2ln', '') }),
  fc.record({
    function_response: fc.record({ name: fc.constant('f'), response: fc.object({ maxDepth: 1 }) }),
  }),
  fc.record({
    inline_data: fc.record({
      mime_type: fc.constantFrom('text/plain', 'audio/wav', 'x'),
      data: fc.constant('aGk='),
    }),
  }),
  fc.record({
    fileData: fc.record({ fileUri: fc.constantFrom('gs://b/c', 'https://x.example/y', 'files/z') }),
  }),
  fc.dictionary(
    fc.constantFrom('text', 'inlineData', 'fileData', 'functionCall', 'executableCode', 'x'),
    junk,
    {
      maxKeys: 2,
    },
  ),
)
const content = fc.record({
  role: fc.constantFrom<unknown>('user', 'user', 'model', 'model', 'function', 'system', undefined, 'cat', 1),
  parts: fc.oneof({ weight: 6, arbitrary: fc.array(part, { maxLength: 3 }) }, { weight: 1, arbitrary: junk }),
})
const FIELDS = [
  'systemInstruction',
  'system_instruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'safetySettings',
  'cachedContent',
  'provider',
  'plugins',
  'models',
  'x',
]
const config = fc.record(
  {
    temperature: fc.constantFrom<unknown>(0, 1, 3, 'x'),
    thinking_config: fc.record(
      { thinkingBudget: fc.constantFrom(-1, 0, 512), thinkingLevel: fc.constantFrom('LOW', 'x') },
      { requiredKeys: [] },
    ),
    responseMimeType: fc.constantFrom('application/json', 'text/x.enum'),
    responseSchema: fc.object({ maxDepth: 2 }),
    stopSequences: fc.array(fc.string(), { maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const body = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...FIELDS), junk, { maxKeys: 1 }),
    fc.array(content, { maxLength: 4 }),
    fc.option(config, { nil: undefined }),
  )
  .map(
    ([fields, contents, generationConfig]): JsonObject => ({
      ...(generationConfig ? { generationConfig } : {}),
      ...fields,
      contents,
    }),
  )

test('any body is parsed or rejected', () => {
  expectParsedOrRejected(
    body,
    (sent) => geminiIngress.parse({ ...canonicalBody(sent), model: 'm', stream: false }, new Headers()),
    { path: /^[A-Za-z_]+(\[\d+\]|\.[\w-]+)*: /, numRuns: 1500 },
  )
})

test('both spellings of a name are read alike', () => {
  const snake = {
    contents: [{ parts: [{ inline_data: { mime_type: 'image/png', data: 'x' }, thought_signature: 's' }] }],
    generation_config: { max_output_tokens: 5, thinking_config: { include_thoughts: true } },
    tools: [
      {
        function_declarations: [
          {
            name: 'f',
            parameters: { type: 'OBJECT', properties: { any_of: { any_of: [{ min_items: 1 }] } } },
          },
        ],
      },
    ],
    tool_config: { function_calling_config: { allowed_function_names: ['f'] } },
  }
  expect(canonicalBody(snake)).toEqual({
    contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: 'x' }, thoughtSignature: 's' }] }],
    generationConfig: { maxOutputTokens: 5, thinkingConfig: { includeThoughts: true } },
    tools: [
      {
        functionDeclarations: [
          // Names of the caller's own properties stay.
          { name: 'f', parameters: { type: 'OBJECT', properties: { any_of: { anyOf: [{ minItems: 1 }] } } } },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { allowedFunctionNames: ['f'] } },
  })
})

test('a single entry stands for its list, as in the examples of Google', () => {
  const single = {
    contents: { parts: { text: 'Hi' } },
    system_instruction: { parts: { text: 'Be brief.' } },
    tools: { function_declarations: { name: 'f' } },
    safety_settings: { category: 'C', threshold: 'T' },
  }
  expect(canonicalBody(single)).toEqual({
    contents: [{ parts: [{ text: 'Hi' }] }],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    tools: [{ functionDeclarations: [{ name: 'f' }] }],
    safetySettings: [{ category: 'C', threshold: 'T' }],
  })
})
