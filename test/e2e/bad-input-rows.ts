import type { JsonObject } from '../../src/core/events.ts'

/** Requests with fields, types and tool results that each API rejects, with the first words of the error. */

export type Path = '/chat/completions' | '/responses' | '/messages'
export const PATHS: readonly Path[] = ['/chat/completions', '/responses', '/messages']

const HI = { role: 'user', content: 'Hi' }
export const WORDS = Buffer.from('words, and certainly no picture of anything').toString('base64')
export const PDF = Buffer.from('%PDF-1.7 and so on').toString('base64')
export const PNG_OF = (base64: string): string => `data:image/png;base64,${base64}`

const chat = (more: JsonObject): JsonObject => ({ messages: [HI], ...more })
export const chatParts = (...content: unknown[]): JsonObject => ({ messages: [{ role: 'user', content }] })
const chatCall = { id: 'c1', type: 'function', function: { name: 'tide', arguments: '{}' } }
const chatTool = { type: 'function', function: { name: 'tide', parameters: { type: 'object' } } }

export const items = (...input: unknown[]): JsonObject => ({ input })
export const itemParts = (...content: unknown[]): JsonObject => items({ role: 'user', content })
const itemTool = { type: 'function', name: 'tide', parameters: { type: 'object' } }
export const itemCall = { type: 'function_call', call_id: 'c1', name: 'tide', arguments: '{}' }

const messages = (more: JsonObject): JsonObject => ({ max_tokens: 100, messages: [HI], ...more })
export const blocks = (...content: unknown[]): JsonObject =>
  messages({ messages: [{ role: 'user', content }] })
const blockTool = { name: 'tide', input_schema: { type: 'object' } }
export const imageBlock = (data: string, media_type = 'image/png'): JsonObject => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
})

export interface Row {
  readonly what: string
  readonly path: Path
  readonly body: JsonObject
  /** Default 400. */
  readonly status?: number
  /** The first words of the message: the place. */
  readonly says: string
}
export const row = (what: string, path: Path, body: JsonObject, says: string, status = 400): Row => ({
  what,
  path,
  body,
  says,
  status,
})

export const CONTRADICTIONS: readonly Row[] = [
  row(
    'two efforts',
    '/chat/completions',
    chat({ reasoning_effort: 'low', reasoning: { effort: 'high' } }),
    'reasoning_effort: is "low" but reasoning.effort is "high"',
  ),
  row(
    'a choice among no tools',
    '/chat/completions',
    chat({ tool_choice: 'required' }),
    'tool_choice: is "required", and there are no tools',
  ),
  row(
    'a choice of a tool that is not there',
    '/chat/completions',
    chat({ tools: [chatTool], tool_choice: { type: 'function', function: { name: 'moon' } } }),
    'tool_choice.function.name: names "moon"',
  ),
  row(
    'a schema that is not there',
    '/chat/completions',
    chat({ response_format: { type: 'json_schema' } }),
    'response_format.json_schema: is required',
  ),
  row(
    'a call without its function',
    '/chat/completions',
    chat({ messages: [HI, { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function' }] }] }),
    'messages[1].tool_calls[0].function: is required',
  ),
  row(
    'a choice among no tools',
    '/responses',
    { input: 'Hi', tool_choice: 'required' },
    'tool_choice: is "req',
  ),
  row(
    'a choice of a tool that is not there',
    '/responses',
    { input: 'Hi', tools: [itemTool], tool_choice: { type: 'function', name: 'moon' } },
    'tool_choice.name: names "moon"',
  ),
  row(
    'in the background, and not stored',
    '/responses',
    { input: 'Hi', background: true, store: false },
    'store: must not be false together with background',
  ),
  row('nothing asked', '/responses', {}, 'input: is required'),
  row('an empty list', '/responses', items(), 'input: is required'),
  row(
    'handles that are allowed and excluded',
    '/responses',
    { input: 'Hi', x_search_filter: { allowed_x_handles: ['a'], excluded_x_handles: ['b'] } },
    'x_search_filter',
  ),
  row(
    'a choice among no tools',
    '/messages',
    messages({ tool_choice: { type: 'any' } }),
    'tool_choice: may only',
  ),
  row(
    'a choice of a tool that is not there',
    '/messages',
    messages({ tools: [blockTool], tool_choice: { type: 'tool', name: 'moon' } }),
    'tool_choice.name: must be the name of one of the tools, not "moon"',
  ),
  row(
    'more thinking than answer',
    '/messages',
    messages({ max_tokens: 1500, thinking: { type: 'enabled', budget_tokens: 2000 } }),
    'thinking.budget_tokens: must be less than max_tokens, which is 1500',
  ),
  row(
    'two tools of one name',
    '/messages',
    messages({ tools: [blockTool, blockTool] }),
    'tools[1].name: must be unique; "tide" is named twice',
  ),
]

export const UNKNOWN: readonly Row[] = [
  row(
    'an item',
    '/responses',
    items({ type: 'hologram' }),
    'input[0].type: "hologram" is not a type of an item',
  ),
  row('a part', '/responses', itemParts({ type: 'hologram' }), 'input[0].content[0].type: must be one of'),
  row(
    'a part that is chat’s',
    '/responses',
    itemParts({ type: 'image_url', image_url: { url: PNG_OF(WORDS) } }),
    'input[0].content[0].type: must be one of',
  ),
  row(
    'an item that is not stored',
    '/responses',
    items({ type: 'item_reference', id: 'msg_gone' }, HI),
    'input[0].id: there is no item with this id',
    404,
  ),
  row('a role', '/responses', items({ role: 'wizard', content: 'Hi' }), 'input[0].role: must be one of'),
  row(
    'a role',
    '/chat/completions',
    chat({ messages: [{ role: 'wizard', content: 'Hi' }] }),
    'messages[0].role: ',
  ),
  row(
    'a part of no type',
    '/chat/completions',
    chatParts({ text: 'Hi' }),
    'messages[0].content[0].type: is req',
  ),
  row('a tool of no type', '/chat/completions', chat({ tools: [{}] }), 'tools[0].type: is required'),
  row('a block', '/messages', blocks({ type: 'hologram' }), 'messages[0].content[0].type: must be one of'),
  row('a role', '/messages', messages({ messages: [{ role: 'tool', content: 'Hi' }] }), 'messages[0].role: '),
]

export const RESULTS: readonly Row[] = [
  row(
    'of no call at all',
    '/chat/completions',
    chat({ messages: [HI, { role: 'tool', tool_call_id: 'c1', content: 'high' }] }),
    'messages[1].tool_call_id: answers no tool call',
  ),
  row(
    'of another call',
    '/chat/completions',
    chat({
      messages: [
        HI,
        { role: 'assistant', content: null, tool_calls: [chatCall] },
        { role: 'tool', tool_call_id: 'c1', content: 'high' },
        { role: 'tool', tool_call_id: 'c2', content: 'low' },
      ],
    }),
    'messages[3].tool_call_id: answers no tool call',
  ),
  row(
    'before its call',
    '/chat/completions',
    chat({
      messages: [
        HI,
        { role: 'tool', tool_call_id: 'c1', content: 'high' },
        { role: 'assistant', content: null, tool_calls: [chatCall] },
      ],
    }),
    'messages[1].tool_call_id: answers no tool call',
  ),
  row(
    'of no call at all',
    '/responses',
    items(HI, { type: 'function_call_output', call_id: 'c1', output: 'high' }),
    'input[1].call_id: answers "c1"',
  ),
  row(
    'of another call',
    '/responses',
    items(HI, itemCall, { type: 'function_call_output', call_id: 'c2', output: 'high' }),
    'input[2].call_id: answers "c2"',
  ),
  row(
    'of no call at all',
    '/messages',
    blocks({ type: 'tool_result', tool_use_id: 't1', content: 'high' }),
    'messages[0].content[0].tool_use_id: must be the id of a tool_use block',
  ),
  row(
    'of another call',
    '/messages',
    messages({
      messages: [
        HI,
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'tide', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't2', content: 'high' }] },
      ],
    }),
    'messages[2].content[0].tool_use_id: must be the id of a tool_use block',
  ),
]
