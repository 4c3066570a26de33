import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { FUNCTION } from './parsed.ts'
import { parse } from './written.ts'

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describe('refused', () => {
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
  const image = (image_url: unknown) => ({
    input: [{ role: 'user', content: [{ type: 'input_image', image_url }] }],
  })
  const rows: [string, JsonObject, RegExp][] = [
    ['no input', {}, /^input: is required/],
    ['an empty input', { input: [] }, /^input: is required/],
    ['a number as input', { input: 5 }, /^input: must be a string or a list/],
    ['an item that is not an object', { input: [5] }, /^input\[0\]/],
    [
      'an unknown item',
      { input: ['x', { type: 'thought' }].slice(1) },
      /^input\[0\]\.type: "thought" is not a type/,
    ],
    [
      'an unknown role',
      { input: [{ role: 'boss', content: 'x' }] },
      /^input\[0\]\.role: must be one of "user"/,
    ],
    [
      'an unknown part',
      { input: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      /^input\[0\]\.content\[0\]\.type: must be one of/,
    ],
    [
      'a part without text',
      { input: [{ role: 'user', content: [{ type: 'input_text' }] }] },
      /^input\[0\]\.content\[0\]\.text: is required/,
    ],
    [
      'a call without an id',
      { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] },
      /^input\[0\]\.call_id: is required/,
    ],
    [
      'arguments as an object',
      { input: [{ ...call, arguments: {} }] },
      /^input\[0\]\.arguments: must be a string/,
    ],
    [
      'an output without its call',
      { input: [call, { type: 'function_call_output', call_id: 'd', output: 'x' }] },
      /^input\[1\]\.call_id: answers "d"/,
    ],
    [
      'an output before its call',
      { input: [{ type: 'custom_tool_call_output', call_id: 'c', output: 'x' }, call] },
      /^input\[0\]\.call_id/,
    ],
    [
      'a shell output without its call',
      { input: [{ type: 'shell_call_output', call_id: 'c', output: [] }] },
      /^input\[0\]\.call_id/,
    ],
    [
      'an output without output',
      { input: [call, { type: 'function_call_output', call_id: 'c' }] },
      /^input\[1\]\.output: is required/,
    ],
    [
      'an unknown reference',
      { input: [{ type: 'item_reference', id: 'msg_9' }] },
      /^input\[0\]\.id: names "msg_9"/,
    ],
    ['an image without anything', image(undefined), /^input\[0\]\.content\[0\]\.image_url: is required/],
    [
      'an image by a path',
      image('/etc/passwd'),
      /^input\[0\]\.content\[0\]\.image_url: must be an https URL or a data URL/,
    ],
    [
      'text as an image',
      image('data:text/plain;base64,aGk='),
      /^input\[0\]\.content\[0\]\.image_url: must be a data URL of an image/,
    ],
    [
      'an invalid image',
      image('data:image/png;base64,aGVsbG8gd29ybGQ='),
      /^input\[0\]\.content\[0\]\.image_url: must be the base64 of an image/,
    ],
    [
      'an invalid image of a tool',
      {
        input: [
          call,
          {
            type: 'function_call_output',
            call_id: 'c',
            output: [{ type: 'input_image', image_url: 'data:image/png;base64,aGk=' }],
          },
        ],
      },
      /^input\[1\]\.output\[0\]\.image_url/,
    ],
    [
      'a file without anything',
      { input: [{ role: 'user', content: [{ type: 'input_file' }] }] },
      /^input\[0\]\.content\[0\]: must have file_data/,
    ],
    [
      'a tool without a name',
      { input: 'x', tools: [{ type: 'function' }] },
      /^tools\[0\]\.name: is required/,
    ],
    ['a tool without a type', { input: 'x', tools: [{ name: 'f' }] }, /^tools\[0\]\.type: is required/],
    [
      'a choice that is not there',
      { input: 'x', tools: [FUNCTION], tool_choice: { type: 'function', name: 'ride' } },
      /^tool_choice\.name: names "ride"/,
    ],
    [
      'a choice without a name',
      { input: 'x', tools: [FUNCTION], tool_choice: { type: 'function' } },
      /^tool_choice\.name: is required/,
    ],
    ['a choice of nothing', { input: 'x', tool_choice: 'maybe' }, /^tool_choice/],
    [
      'allowed tools without tools',
      { input: 'x', tool_choice: { type: 'allowed_tools', mode: 'auto' } },
      /^tool_choice\.tools: is required/,
    ],
    [
      'include',
      { input: 'x', include: ['everything'] },
      /^include\[0\]: must be one of "file_search_call\.results"/,
    ],
    ['truncation', { input: 'x', truncation: 'middle' }, /^truncation: must be one of "auto", "disabled"/],
    ['modalities', { input: 'x', modalities: ['audio'] }, /^modalities\[0\]: must be one of "text", "image"/],
    ['effort', { input: 'x', reasoning: { effort: 'huge' } }, /^reasoning\.effort: must be one of/],
    [
      'effort of an update',
      {
        input: [
          { type: 'configuration_update', reasoning: { effort: 'huge' } },
          { role: 'user', content: 'x' },
        ],
      },
      /effort .* must be one of/,
    ],
    ['service_tier', { input: 'x', service_tier: 'gold' }, /^service_tier: must be one of/],
    ['route', { input: 'x', route: 'north' }, /^route: must be one of/],
    ['format', { input: 'x', text: { format: { type: 'yaml' } } }, /^text\.format\.type: must be one of/],
    [
      'a schema without a name',
      { input: 'x', text: { format: { type: 'json_schema', schema: {} } } },
      /^text\.format\.name: is required/,
    ],
    ['temperature', { input: 'x', temperature: 2.1 }, /^temperature: must be a number from 0 to 2/],
    ['top_p', { input: 'x', top_p: -1 }, /^top_p/],
    ['top_logprobs', { input: 'x', top_logprobs: 21 }, /^top_logprobs: must be a whole number from 0 to 20/],
    [
      'the bound',
      { input: 'x', max_output_tokens: 0 },
      /^max_output_tokens: must be a whole number of at least 1/,
    ],
    ['metadata', { input: 'x', metadata: { 'a[0]': 'b' } }, /^metadata: keys must not have square brackets/],
    [
      'too much metadata',
      { input: 'x', metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v'])) },
      /^metadata/,
    ],
    ['user', { input: 'x', user: 'u'.repeat(257) }, /^user: must be a string of at most 256/],
    ['stop conditions', { input: 'x', stop_server_tools_when: [] }, /^stop_server_tools_when/],
    [
      'both lists of handles',
      { input: 'x', x_search_filter: { allowed_x_handles: ['a'], excluded_x_handles: ['b'] } },
      /^x_search_filter: allowed_x_handles and/,
    ],
    [
      'a date in words',
      { input: 'x', x_search_filter: { from_date: 'yesterday' } },
      /^x_search_filter\.from_date: must be a date that exists, such as 2026-01-31/,
    ],
    [
      'a day that its month does not have',
      { input: 'x', x_search_filter: { to_date: '2026-02-30' } },
      /^x_search_filter\.to_date: must be a date that exists, such as 2026-01-31/,
    ],
    [
      'a time',
      { input: 'x', x_search_filter: { from_date: '2026-01-31T00:00:00Z' } },
      /^x_search_filter\.from_date: must be a date that exists/,
    ],
    [
      'dates in the wrong order',
      { input: 'x', x_search_filter: { from_date: '2026-02-02', to_date: '2026-02-01' } },
      /^x_search_filter\.from_date: must not be after to_date/,
    ],
    [
      'an unknown kind of cache mark',
      {
        input: [
          { role: 'user', content: [{ type: 'input_text', text: 'x', cache_control: { type: 'forever' } }] },
        ],
      },
      /^input\[0\]\.content\[0\]\.cache_control\.type: must be "ephemeral", not "forever"/,
    ],
    ['an unknown plugin', { input: 'x', plugins: [{ id: 'magic' }] }, /^plugins\[0\]\.id: must be one of/],
  ]
  test.each(rows)('%s', (_, body, sentence) => {
    let error: unknown
    try {
      parse(body)
    } catch (caught) {
      error = caught
    }
    if (!(error instanceof GatewayError)) throw new Error(`not refused: ${String(error)}`)
    expect(error.status).toBe(400)
    expect(error.message).toMatch(sentence)
    expect(error.message.length).toBeLessThan(900)
  })

  test('a stored response has the call', () => {
    const input = [{ type: 'function_call_output', call_id: 'c', output: 'x' }]
    expect(parse({ input, previous_response_id: 'resp_1' }).messages).toEqual([
      { role: 'tool', toolCallId: 'c', content: 'x' },
    ])
  })

  test('an image is sent as an image', () => {
    for (const url of [PIXEL, 'https://a.example/b.png', 'data:image/svg+xml;base64,PHN2Zy8+'])
      expect(parse(image(url)).messages[0]?.content).toMatchObject([{ type: 'image', url }])
  })
})
