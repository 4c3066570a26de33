import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/core/events.ts'
import type { GuardrailRecord } from '../../../src/core/guardrail.ts'
import { compileFilters, type PatternEntry } from '../../../src/filters/compile.ts'
import { withFilters } from '../../../src/inference/filters/input/apply.ts'
import { replaceTexts } from '../../../src/inference/filters/input/texts.ts'
import { guardrail } from '../fixture.ts'

/** Which fields of a body are read, and what is made of their texts. */

const shout = (body: JsonObject): JsonObject => replaceTexts(body, (text) => text.replaceAll('x', 'X'))
const user = (content: unknown): JsonObject => ({ messages: [{ role: 'user', content }] })

const rows: [what: string, body: JsonObject, expected: JsonObject | 'as it is'][] = [
  ['a text', user('xy'), user('Xy')],
  [
    'parts',
    user([
      { type: 'text', text: 'x' },
      { type: 'new', words: 'x' },
    ]),
    user([
      { type: 'text', text: 'X' },
      { type: 'new', words: 'X' },
    ]),
  ],
  ['an address of an image', user([{ type: 'image_url', image_url: { url: 'https://x/x' } }]), 'as it is'],
  [
    'an image',
    user([{ type: 'input_image', image_url: 'data:image/png;base64,xx', detail: 'x' }]),
    'as it is',
  ],
  [
    'an image in the text of a result',
    { messages: [{ role: 'tool', tool_call_id: 'a', content: `data:image/png;base64,${'x'.repeat(80)}` }] },
    'as it is',
  ],
  ['a text that begins like one', user('data:a;base64,x and y'), user('data:a;base64,X and y')],
  ['a number that is base64 too', user('data:a;base64,4x'), user('data:a;base64,4X')],
  [
    'what stands beside an image in the arguments',
    { input: [{ type: 'function_call', name: 'f', arguments: '{"type":"image","data":"x","note":"x"}' }] },
    { input: [{ type: 'function_call', name: 'f', arguments: '{"type":"image","data":"x","note":"X"}' }] },
  ],
  ['sound', user([{ type: 'input_audio', input_audio: { data: 'xx', format: 'x' } }]), 'as it is'],
  [
    'a file that is not text',
    user([{ type: 'file', file: { file_data: 'data:application/pdf;base64,xxxx' } }]),
    'as it is',
  ],
  [
    'a file of text',
    user([{ type: 'file', file: { filename: 'a', file_data: `data:text/csv;base64,${btoa('x,y')}` } }]),
    user([{ type: 'file', file: { filename: 'a', file_data: `data:text/csv;base64,${btoa('X,y')}` } }]),
  ],
  [
    'a file of text by any other media type',
    user([{ type: 'file', file: { file_data: `data:application/toml;base64,${btoa('x = 1')}` } }]),
    user([{ type: 'file', file: { file_data: `data:application/toml;base64,${btoa('X = 1')}` } }]),
  ],
  [
    'a file of text in bare base64',
    { input: [{ role: 'user', content: [{ type: 'input_file', file_data: btoa('x,y') }] }] },
    { input: [{ role: 'user', content: [{ type: 'input_file', file_data: btoa('X,y') }] }] },
  ],
  [
    'a file of text that is not base64',
    user([{ type: 'file', file: { file_data: 'data:text/plain,a%20x' } }]),
    user([{ type: 'file', file: { file_data: 'data:text/plain,a%20X' } }]),
  ],
  [
    'a document whose places are counted',
    user([{ type: 'file', file: { file_data: `data:application/pdf;base64,${btoa('%PDF-1.4 x')}` } }]),
    'as it is',
  ],
  ['base64 of Anthropic', user([{ type: 'document', source: { type: 'base64', data: 'xxxx' } }]), 'as it is'],
  ['thoughts', user([{ type: 'thinking', thinking: 'x', signature: 'x' }]), 'as it is'],
  [
    'sealed thoughts',
    { input: [{ type: 'reasoning', summary: [{ text: 'x' }], encrypted_content: 'x' }] },
    'as it is',
  ],
  [
    'thoughts without a signature',
    {
      input: [{ type: 'reasoning', id: 'x', summary: [{ type: 'summary_text', text: 'x' }] }],
      messages: [
        user([{ type: 'thinking', thinking: [{ type: 'text', text: 'x' }] }])['messages'],
        {
          role: 'assistant',
          content: 'y',
          reasoning: 'x',
          reasoning_content: 'x',
          reasoning_details: [
            { type: 'reasoning.text', text: 'x', id: 'x', format: 'x' },
            { type: 'reasoning.text', text: 'x', signature: 'x' },
            { type: 'reasoning.encrypted', data: 'x' },
          ],
        },
      ],
    },
    {
      input: [{ type: 'reasoning', id: 'x', summary: [{ type: 'summary_text', text: 'X' }] }],
      messages: [
        user([{ type: 'thinking', thinking: [{ type: 'text', text: 'X' }] }])['messages'],
        {
          role: 'assistant',
          content: 'y',
          reasoning: 'X',
          reasoning_content: 'X',
          reasoning_details: [
            { type: 'reasoning.text', text: 'X', id: 'x', format: 'x' },
            { type: 'reasoning.text', text: 'x', signature: 'x' },
            { type: 'reasoning.encrypted', data: 'x' },
          ],
        },
      ],
    },
  ],
  [
    'the name of who says it',
    { messages: [{ role: 'user', name: 'x', content: 'y' }] },
    { messages: [{ role: 'user', name: 'X', content: 'y' }] },
  ],
  [
    'what formats say of themselves',
    {
      response_format: {
        json_schema: { name: 'x', description: 'x', schema: { const: 'x', description: 'x' } },
      },
      text: { format: { name: 'x', description: 'x' }, verbosity: 'x' },
      output_config: { format: { schema: { description: 'x' } } },
    },
    {
      response_format: {
        json_schema: { name: 'x', description: 'X', schema: { const: 'x', description: 'X' } },
      },
      text: { format: { name: 'x', description: 'X' }, verbosity: 'x' },
      output_config: { format: { schema: { description: 'X' } } },
    },
  ],
  ['what an image must not show', { negative_prompt: 'x' }, { negative_prompt: 'X' }],
  ['ids and marks', { messages: [{ role: 'tool', tool_call_id: 'x', content: '', name: 'x' }] }, 'as it is'],
  [
    'arguments',
    {
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'x', function: { name: 'x', arguments: '{"url":"x"}' } }] },
      ],
    },
    {
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'x', function: { name: 'x', arguments: '{"url":"X"}' } }] },
      ],
    },
  ],
  [
    'arguments that are not JSON',
    { input: [{ type: 'function_call', name: 'x', arguments: '{"a":x' }] },
    { input: [{ type: 'function_call', name: 'x', arguments: '{"a":X' }] },
  ],
  [
    'a result in parts',
    {
      input: [
        {
          type: 'function_call_output',
          call_id: 'x',
          output: [
            { type: 'input_text', text: 'x' },
            { type: 'input_image', image_url: 'x' },
          ],
        },
      ],
    },
    {
      input: [
        {
          type: 'function_call_output',
          call_id: 'x',
          output: [
            { type: 'input_text', text: 'X' },
            { type: 'input_image', image_url: 'x' },
          ],
        },
      ],
    },
  ],
  [
    'definitions',
    {
      tools: [
        { type: 'mcp', server_url: 'x', authorization: 'x', server_description: 'x', description: 'x' },
      ],
    },
    {
      tools: [
        { type: 'mcp', server_url: 'x', authorization: 'x', server_description: 'x', description: 'X' },
      ],
    },
  ],
  [
    'documents',
    { query: 'x', documents: ['x', { name: 'x', text: 'y' }] },
    { query: 'X', documents: ['X', { name: 'X', text: 'y' }] },
  ],
  [
    'variables',
    { prompt: { id: 'x', variables: { name: 'x' } } },
    { prompt: { id: 'x', variables: { name: 'X' } } },
  ],
  ['tokens', { input: [[1, 2, 41111111]] }, 'as it is'],
  [
    'what is not text of a conversation',
    { model: 'x', user: 'x', metadata: { a: 'x' }, stop: ['x'] },
    'as it is',
  ],
]
test.each(rows)('%s', (_, body, expected) => {
  if (expected === 'as it is') expect(shout(body)).toBe(body)
  else expect(shout(body)).toEqual(expected)
})

test('numbers of arguments are read too', () => {
  const call = (n: unknown) => ({
    messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', input: { n, m: 12 } }] }],
  })
  const replace = (text: string): string => (text === '4111111111111111' ? 'card' : text)
  expect(replaceTexts(call(4_111_111_111_111_111), replace)).toEqual(call('card'))
})

const guardrailOf = (id: string, patterns: PatternEntry[]) =>
  guardrail({ id, name: id, filters: compileFilters([], patterns) })
const redact = (pattern: string, label?: string): PatternEntry => ({
  pattern,
  action: 'redact',
  ...(label && { label }),
})
const through = async (text: string, ...guardrails: GuardrailRecord[]): Promise<unknown> =>
  (await withFilters({ input: text }, { key: { guardrails } }, false)).body['input']

describe('redaction', () => {
  test.each([
    ['apart', 'abc def', [redact('abc', '1'), redact('def', '2')], '1 2'],
    ['side by side', 'abcdef', [redact('abc', '1'), redact('def', '2')], '12'],
    ['one in the other', 'abcdef', [redact('bc', '1'), redact('abcdef', '2')], '2'],
    ['overlapping', 'xabcdefx', [redact('abcd', '1'), redact('cdef', '2')], 'x1x'],
    ['a chain', 'abcdefgh', [redact('abcd', '1'), redact('cdef', '2'), redact('efgh', '3')], '1'],
    ['without a label', 'abc', [redact('b')], 'a[REDACTED]c'],
    ['case as it is written', 'ABC abc', [redact('abc', '1')], 'ABC 1'],
    ['case that does not matter', 'ABC abc', [redact('(?i)abc', '1')], '1 1'],
    ['a name that looks like a pattern of replacement', 'abc', [redact('b', '$&')], 'a$&c'],
    ['between halves of a character', 'a😀b', [redact('😀', '1')], 'a1b'],
  ])('%s', async (_, text, patterns, expected) => {
    expect(await through(text, guardrailOf('a', patterns))).toBe(expected)
    // The same whichever guardrails they come from.
    const each = patterns.map((pattern, index) => guardrailOf(String(index), [pattern]))
    expect(await through(text, ...each)).toBe(expected)
  })

  test('changes nothing but what matches', async () => {
    const own = guardrailOf('a', [redact('a+b', '<1>'), redact('\\d{2,}', '<2>')])
    const texts = fc.string({
      unit: fc.constantFrom('a', 'b', ' ', '1', '2', 'é', '😀', '\n'),
      maxLength: 40,
    })
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        expect(await through(text, own)).toBe(text.replace(/a+b/g, '<1>').replace(/(?<!<)\d{2,}/g, '<2>'))
      }),
      { numRuns: 1000, seed: 6 },
    )
  })

  test('a body in which nothing matches is the same one', async () => {
    const own = guardrailOf('a', [redact('\\x00', 'never')])
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom('messages', 'input', 'prompt', 'tools', 'other'), fc.jsonValue()),
        async (json) => {
          const body: JsonObject = { ...json }
          expect(
            JSON.stringify(body).includes('\\u0000') ||
              (await withFilters(body, { key: { guardrails: [own] } }, false)).body === body,
          ).toBe(true)
        },
      ),
      { numRuns: 500, seed: 6 },
    )
  })
})
