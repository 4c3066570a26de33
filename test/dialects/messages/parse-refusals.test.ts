import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { parseMessages } from '../../../src/dialects/messages/parse.ts'

/** Rejected bodies: a 400 that names the path and the allowed values. */

function refusal(body: JsonObject, headers: Record<string, string> = {}): string {
  try {
    parseMessages(body, new Headers(headers))
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return error.message
    throw error
  }
  throw new Error('it was taken')
}

const HI = { role: 'user', content: 'Hi' }
const withBody = (more: JsonObject): JsonObject => ({ model: 'm', messages: [HI], ...more })
const withBlock = (...content: unknown[]): JsonObject => ({
  model: 'm',
  messages: [{ role: 'user', content }],
})
const asAssistant = (...content: unknown[]): JsonObject => ({
  model: 'm',
  messages: [HI, { role: 'assistant', content }],
})
const CALL = { type: 'tool_use', id: 'a', name: 'f', input: {} }
const TOOL = { name: 'f', input_schema: { type: 'object' } }

const rows: [what: string, body: JsonObject, message: string][] = [
  [
    'an unknown kind of cache mark',
    withBody({ system: [{ type: 'text', text: 'x', cache_control: { type: 'forever' } }] }),
    'system[0].cache_control.type: must be "ephemeral", not "forever"',
  ],
  ['no messages', { model: 'm' }, 'messages: is required and must be a list'],
  ['messages of nothing', withBody({ messages: [] }), 'messages: must have 1 to 20000 entries, not 0'],
  [
    'a role',
    withBody({ messages: [{ role: 'tool', content: '' }] }),
    'messages[0].role: must be one of "user", "assistant", "system", not "tool"',
  ],
  [
    'no content',
    withBody({ messages: [{ role: 'user' }] }),
    'messages[0].content: is required and must be a string or a list',
  ],
  ['a bound', withBody({ max_tokens: -1 }), 'max_tokens: must be a whole number of at least 0, not -1'],
  ['a temperature', withBody({ temperature: 1.5 }), 'temperature: must be a number from 0 to 1, not 1.5'],
  ['top_p', withBody({ top_p: 2 }), 'top_p: must be a number from 0 to 1, not 2'],
  ['top_k', withBody({ top_k: -1 }), 'top_k: must be a whole number of at least 0, not -1'],
  ['stop sequences', withBody({ stop_sequences: 'END' }), 'stop_sequences: must be a list, not "END"'],
  ['an empty stop sequence', withBody({ stop_sequences: [''] }), 'stop_sequences[0]: must not be empty'],
  [
    'a system',
    withBody({ system: [{ type: 'image', text: '' }] }),
    'system[0].type: must be "text", not "image"',
  ],
  [
    'a service tier',
    withBody({ service_tier: 'gold' }),
    'service_tier: must be one of "auto", "standard_only"',
  ],
  ['a speed', withBody({ speed: 'slow' }), 'speed: must be one of "standard", "fast", not "slow"'],
  [
    'a long user',
    withBody({ metadata: { user_id: 'u'.repeat(257) } }),
    'metadata.user_id: must be a string of at most 256 characters, not of 257',
  ],
  [
    'an effort',
    withBody({ output_config: { effort: 'huge' } }),
    'output_config.effort: must be one of "low", "medium", "high", "xhigh", "max", not "huge"',
  ],
  [
    'a format',
    withBody({ output_config: { format: { type: 'xml', schema: {} } } }),
    'output_config.format.type: must be "json_schema", not "xml"',
  ],
  [
    'two formats',
    withBody({
      output_config: { format: { type: 'json_schema', schema: {} } },
      output_format: { type: 'json_schema', schema: {} },
    }),
    'output_format: is the older name of output_config.format',
  ],
  [
    'thinking of another kind',
    withBody({ thinking: { type: 'deep' } }),
    'thinking.type: must be one of "enabled", "disabled", "adaptive", "between_tools", not "deep"',
  ],
  [
    'thinking without a budget',
    withBody({ thinking: { type: 'enabled' } }),
    'thinking.budget_tokens: is required',
  ],
  [
    'a small budget',
    withBody({ thinking: { type: 'enabled', budget_tokens: 10 } }),
    'thinking.budget_tokens: must be a whole number of at least 1024, not 10',
  ],
  [
    'a budget beyond the bound',
    withBody({ max_tokens: 1024, thinking: { type: 'enabled', budget_tokens: 1024 } }),
    'thinking.budget_tokens: must be less than max_tokens, which is 1024, not 1024',
  ],
  [
    'a tool without a name',
    withBody({ tools: [{ input_schema: {} }] }),
    'tools[0].name: is required on a custom tool',
  ],
  [
    'a tool without a schema',
    withBody({ tools: [{ name: 'f' }] }),
    'tools[0].input_schema: is required on a custom tool',
  ],
  [
    'two tools of one name',
    withBody({ tools: [TOOL, TOOL] }),
    'tools[1].name: must be unique; "f" is named twice',
  ],
  [
    'a choice without tools',
    withBody({ tool_choice: { type: 'any' } }),
    'tool_choice: may only be set together with tools',
  ],
  [
    'a choice of another kind',
    withBody({ tools: [TOOL], tool_choice: { type: 'required' } }),
    'tool_choice.type: must be one of "auto", "any", "tool", "none", not "required"',
  ],
  [
    'a choice of no tool',
    withBody({ tools: [TOOL], tool_choice: { type: 'tool', name: 'g' } }),
    'tool_choice.name: must be the name of one of the tools, not "g"',
  ],
  ['fallbacks', withBody({ fallbacks: [{ name: 'm' }] }), 'fallbacks[0].model: is required'],
  [
    'a long session',
    withBody({ session_id: 's'.repeat(257) }),
    'session_id: must be a string of at most 256 characters',
  ],
  ['a plugin', withBody({ plugins: [{ id: 'magic' }] }), 'plugins[0].id: must be one of'],
  ['preferences', withBody({ provider: { sort: 'taste' } }), 'provider.sort: must be'],
  [
    'an unknown block',
    withBlock({ type: 'hologram' }),
    'messages[0].content[0].type: must be one of "text", "image", "document", "search_result", "tool_result"',
  ],
  ['a block without a type', withBlock({ text: 'Hi' }), 'messages[0].content[0].type: is required'],
  ['a block that is not an object', withBlock('Hi'), 'messages[0].content[0]: must be'],
  ['a call of the user', withBlock(CALL), 'messages[0].content[0].type: must be one of'],
  [
    'a thought of the user',
    withBlock({ type: 'thinking', thinking: '' }),
    'messages[0].content[0].type: must be one of',
  ],
  [
    'a result of the assistant',
    asAssistant({ type: 'tool_result', tool_use_id: 'a' }),
    'messages[1].content[0].type: must be one of "text", "image", "thinking", "redacted_thinking", "tool_use"',
  ],
  [
    'an image of another kind',
    withBlock({ type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: 'AA' } }),
    'messages[0].content[0].source.media_type: must be one of "image/jpeg", "image/png", "image/gif", "image/webp", not "image/tiff"',
  ],
  [
    'an invalid image',
    withBlock({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'SGVsbG8gd29ybGQ=' },
    }),
    'messages[0].content[0].source.data: must be the base64 of an image',
  ],
  [
    'an image that is a document',
    withBlock({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'JVBERi0xLjQK' } }),
    'messages[0].content[0].source.data: must be the base64 of an image, not application/pdf',
  ],
  [
    'an image from nowhere',
    withBlock({ type: 'image', source: { type: 'ftp' } }),
    'messages[0].content[0].source.type: must be one of "base64", "url", "file", not "ftp"',
  ],
  [
    'a document of another kind',
    withBlock({ type: 'document', source: { type: 'base64', media_type: 'text/html', data: 'AA' } }),
    'messages[0].content[0].source.media_type: must be "application/pdf", not "text/html"',
  ],
  [
    'a result of no call',
    withBlock({ type: 'tool_result', tool_use_id: 'a' }),
    'messages[0].content[0].tool_use_id: must be the id of a tool_use block of an assistant message before it, not "a"',
  ],
  [
    'a result of a call that comes later',
    {
      model: 'm',
      messages: [
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] },
        { role: 'assistant', content: [CALL] },
      ],
    },
    'messages[0].content[0].tool_use_id: must be',
  ],
  [
    'an invalid image in a result',
    {
      model: 'm',
      messages: [
        { role: 'assistant', content: [CALL] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
            },
          ],
        },
      ],
    },
    'messages[1].content[0].content[0].source.data: must be the base64 of an image',
  ],
  [
    'an unknown block in a result',
    {
      model: 'm',
      messages: [
        { role: 'assistant', content: [CALL] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'hologram' }] }],
        },
      ],
    },
    'messages[1].content[0].content[0].type: must be one of',
  ],
  [
    'two calls of one id',
    asAssistant(CALL, CALL),
    'messages[1].content[1].id: must be unique; "a" is the id of an earlier call',
  ],
  [
    'a call whose input is text',
    asAssistant({ ...CALL, input: '{}' }),
    'messages[1].content[0].input: must be an object, not "{}"',
  ],
  [
    'a call without a name',
    asAssistant({ ...CALL, name: '' }),
    'messages[1].content[0].name: must not be empty',
  ],
]

describe('refused', () => {
  test.each(rows)('%s', (_, body, message) => {
    expect(refusal(body)).toStartWith(message)
  })
})

// The bodies of the tool runner of Anthropic's Python client 2.12.0: it sends the whole conversation after this code.
test.each<JsonObject>([{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }])(
  'a thread, %p, is refused with the code for it',
  (thread) => {
    const parse = () => parseMessages(withBody({ thread }), new Headers())
    expect(parse).toThrow('thread: no conversations are held here; send all messages, without `thread`')
    expect(parse).toThrow(
      expect.objectContaining({
        metadata: {
          error_type: 'invalid_request',
          details: { error_code: 'thread_unsupported_request', unsupported: [] },
        },
      }),
    )
  },
)

test('a null thread is no thread', () => {
  expect(parseMessages(withBody({ thread: null }), new Headers()).models).toEqual(['m'])
})

test('a header that is not a list of betas', () => {
  expect(refusal(withBody({}), { 'anthropic-beta': 'b'.repeat(2001) })).toContain('anthropic-beta')
})

test('long values are not repeated', () => {
  const secret = `secret ${'x'.repeat(100)}`
  expect(refusal(withBody({ speed: secret }))).not.toContain('secret')
})
