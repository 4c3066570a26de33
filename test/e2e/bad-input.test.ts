/** What is wrong in a request, through each API: the status and the place are told, in its form, and nobody is asked. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/core/events.ts'
import { MAX_JSON_DEPTH } from '../../src/core/json-bounds.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { type FakeUpstream, startUpstream, unary } from '../upstream.ts'

let gateway: Gateway
let upstream: FakeUpstream

beforeAll(async () => {
  upstream = startUpstream()
  upstream.on('tiny', unary('Hello'))
  const lab = (slug: string, dialect: string, id: string) => ({
    slug,
    dialect,
    base_url: upstream.baseUrl,
    models: [{ id, upstream_id: 'tiny', pricing: { prompt: '0.000001', completion: '0.000002' } }],
  })
  gateway = await startGateway({
    providers: [
      lab('plain', 'chat', 'tiny'),
      lab('claude', 'messages', 'tiny-claude'),
      lab('google', 'gemini', 'tiny-gemini'),
      lab('open', 'responses', 'tiny-o'),
    ],
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})
afterEach(() => {
  upstream.seen.length = 0
})

type Path = '/chat/completions' | '/responses' | '/messages'
const PATHS: readonly Path[] = ['/chat/completions', '/responses', '/messages']

const HI = { role: 'user', content: 'Hi' }
const WORDS = Buffer.from('words, and certainly no picture of anything').toString('base64')
const PDF = Buffer.from('%PDF-1.7 and so on').toString('base64')
const PNG_OF = (base64: string): string => `data:image/png;base64,${base64}`

const chat = (more: JsonObject): JsonObject => ({ messages: [HI], ...more })
const chatParts = (...content: unknown[]): JsonObject => ({ messages: [{ role: 'user', content }] })
const chatCall = { id: 'c1', type: 'function', function: { name: 'tide', arguments: '{}' } }
const chatTool = { type: 'function', function: { name: 'tide', parameters: { type: 'object' } } }

const items = (...input: unknown[]): JsonObject => ({ input })
const itemParts = (...content: unknown[]): JsonObject => items({ role: 'user', content })
const itemTool = { type: 'function', name: 'tide', parameters: { type: 'object' } }
const itemCall = { type: 'function_call', call_id: 'c1', name: 'tide', arguments: '{}' }

const messages = (more: JsonObject): JsonObject => ({ max_tokens: 100, messages: [HI], ...more })
const blocks = (...content: unknown[]): JsonObject => messages({ messages: [{ role: 'user', content }] })
const blockTool = { name: 'tide', input_schema: { type: 'object' } }
const imageBlock = (data: string, media_type = 'image/png'): JsonObject => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
})

interface Row {
  readonly what: string
  readonly path: Path
  readonly body: JsonObject
  /** Default 400. */
  readonly status?: number
  /** How the sentence begins: the place. */
  readonly says: string
}
const row = (what: string, path: Path, body: JsonObject, says: string, status = 400): Row => ({
  what,
  path,
  body,
  says,
  status,
})

const CONTRADICTIONS: readonly Row[] = [
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

const UNKNOWN: readonly Row[] = [
  row(
    'an item',
    '/responses',
    items({ type: 'hologram' }),
    'input[0].type: "hologram" is no type of an item',
  ),
  row('a part', '/responses', itemParts({ type: 'hologram' }), 'input[0].content[0].type: must be one of'),
  row(
    'a part that is chat’s',
    '/responses',
    itemParts({ type: 'image_url', image_url: { url: PNG_OF(WORDS) } }),
    'input[0].content[0].type: must be one of',
  ),
  row(
    'an item that nobody stored',
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

const RESULTS: readonly Row[] = [
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

const IMAGES: readonly Row[] = [
  row(
    'words',
    '/chat/completions',
    chatParts({ type: 'text', text: 'See' }, { type: 'image_url', image_url: { url: PNG_OF(WORDS) } }),
    'messages[0].content[1].image_url.url: must be the base64 of an image',
  ),
  row(
    'a PDF',
    '/chat/completions',
    chatParts({ type: 'image_url', image_url: { url: PNG_OF(PDF) } }),
    'messages[0].content[0].image_url.url: must be the base64 of an image, not application/pdf',
  ),
  row(
    'text that says so',
    '/chat/completions',
    chatParts({ type: 'image_url', image_url: { url: 'data:text/plain;base64,aGVsbG8=' } }),
    'messages[0].content[0].image_url.url: must be a data URL of an image',
  ),
  row(
    'nothing',
    '/chat/completions',
    chatParts({ type: 'image_url', image_url: { url: PNG_OF('') } }),
    'messages[0].content[0].image_url.url: must be the base64 of an image',
  ),
  row(
    'a word',
    '/chat/completions',
    chatParts({ type: 'image_url', image_url: 'picture' }),
    'messages[0].content[0].image_url: must be an https URL or a data URL',
  ),
  row(
    'an address of this machine',
    '/chat/completions',
    chatParts({ type: 'image_url', image_url: { url: 'http://127.0.0.1/x.png' } }),
    'messages[0].content[0].image_url.url: ',
  ),
  row(
    'words',
    '/responses',
    itemParts({ type: 'input_image', image_url: PNG_OF(WORDS) }),
    'input[0].content[0].image_url: must be the base64 of an image',
  ),
  row(
    'words that a tool gave',
    '/responses',
    items(itemCall, {
      type: 'function_call_output',
      call_id: 'c1',
      output: [{ type: 'input_image', image_url: PNG_OF(WORDS) }],
    }),
    'input[1].output[0].image_url: must be the base64 of an image',
  ),
  row(
    'no address',
    '/responses',
    itemParts({ type: 'input_image' }),
    'input[0].content[0].image_url: is required',
  ),
  row(
    'an address of this machine',
    '/responses',
    itemParts({ type: 'input_image', image_url: 'http://[::1]/x.png' }),
    'input[0].content[0].image_url: ',
  ),
  row(
    'words',
    '/messages',
    blocks(imageBlock(WORDS)),
    'messages[0].content[0].source.data: must be the base64',
  ),
  row(
    'a PDF',
    '/messages',
    blocks(imageBlock(PDF)),
    'messages[0].content[0].source.data: must be the base64',
  ),
  row(
    'text that says so',
    '/messages',
    blocks(imageBlock('aGVsbG8=', 'text/plain')),
    'messages[0].content[0].source.media_type: must be one of',
  ),
  row(
    'an address of this machine',
    '/messages',
    blocks({ type: 'image', source: { type: 'url', url: 'http://localhost/x.png' } }),
    'messages[0].content[0].source.url: ',
  ),
]

async function expectRefusal(
  response: Response,
  { path, status = 400, says }: Pick<Row, 'path' | 'status' | 'says'>,
): Promise<void> {
  const told = await response.json()
  expect([response.status, told.error.message]).toEqual([status, expect.stringContaining(says)])
  expect(told.error.message.indexOf(says)).toBe(0)
  if (path === '/messages') {
    const type = { 404: 'not_found_error', 413: 'request_too_large' }[status] ?? 'invalid_request_error'
    expect(told).toMatchObject({ type: 'error', error: { type } })
  } else expect(told.error.code).toBe(status)
  expect(upstream.seen).toEqual([])
  expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
}

describe.each([
  ['contradicting fields', CONTRADICTIONS],
  ['unknown types', UNKNOWN],
  ['results of tools', RESULTS],
  ['images that are none', IMAGES],
] as const)('%s', (_, rows) => {
  // Who would answer makes no difference.
  const models = ['tiny', 'tiny-claude', 'tiny-gemini', 'tiny-o']
  test.each(rows.map((each) => [each.what, each.path, each] as const))('%s, by %s', async (_, path, bad) => {
    for (const model of models) {
      await expectRefusal(await gateway.call(path, { model, ...bad.body }), bad)
      // What is refused is refused before a stream begins.
      await expectRefusal(await gateway.call(path, { model, ...bad.body, stream: true }), bad)
    }
  })
})

describe('a conversation of somebody else', () => {
  const gone = 'previous_response_id: there is no stored response with this id'

  test('another workspace’s is not found, as one that never was', async () => {
    const made = await gateway.manage('POST', '/workspaces', { name: 'Other', slug: 'other' })
    const { data } = await made.json()
    const { key } = await gateway.makeKey({ workspace_id: data.id })
    const first = await gateway.call('/responses', { model: 'tiny', input: 'Hi', store: true })
    const { id } = await first.json()
    upstream.seen.length = 0
    const ask = (previous_response_id: string, headers: Record<string, string>, more: JsonObject = {}) =>
      gateway.call('/responses', { model: 'tiny', input: 'And?', previous_response_id, ...more }, headers)
    const stranger = { authorization: `Bearer ${key}` }
    for (const more of [{}, { stream: true }, { background: true }]) {
      await expectRefusal(await ask(id, stranger, more), { path: '/responses', status: 404, says: gone })
      await expectRefusal(await ask('resp_never', {}, more), { path: '/responses', status: 404, says: gone })
    }
    const shown = await gateway.call(`/responses/${id}`, undefined, stranger)
    expect(shown.status).toBe(404)
    expect((await ask(id, {})).status).toBe(200)
  })
})

describe('bodies that are none', () => {
  const deep = '['.repeat(MAX_JSON_DEPTH + 1) + ']'.repeat(MAX_JSON_DEPTH + 1)
  const rows: readonly (readonly [what: string, body: string, status: number, says: string])[] = [
    [
      '21 MB',
      `{"model":"tiny","input":"${'x'.repeat(21_000_000)}"}`,
      413,
      'The request body is larger than 20 MB',
    ],
    ['too deep', `{"model":"tiny","x":${deep}}`, 400, 'The request body is nested deeper than 64 levels'],
    ['cut off', '{"model":"tiny"', 400, 'The request body is malformed JSON'],
    ['a list', '[]', 400, 'The request body must be a JSON object, not an array'],
    ['nothing', '', 400, 'The request body is empty'],
  ]
  test.each(PATHS.flatMap((path) => rows.map((each) => [each[0], path, each] as const)))(
    '%s, by %s',
    async (_, path, [, body, status, says]) => {
      await expectRefusal(await gateway.call(path, body), { path, status, says })
    },
  )
})
