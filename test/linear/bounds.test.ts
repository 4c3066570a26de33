import { describe, expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import { GatewayError, UpstreamError } from '../../src/core/errors.ts'
import type { JsonObject } from '../../src/core/events.ts'
import { chatIngress } from '../../src/dialects/chat/index.ts'
import { chatBody } from '../../src/dialects/chat/schema.ts'
import type { Ingress } from '../../src/dialects/dialect.ts'
import { innerOf, isOfNumbers, MOST_ENTRIES, MOST_FIELDS } from '../../src/dialects/fields.ts'
import { geminiIngress } from '../../src/dialects/gemini/index.ts'
import { geminiBody } from '../../src/dialects/gemini/schema.ts'
import { messagesIngress } from '../../src/dialects/messages/index.ts'
import { messagesBody } from '../../src/dialects/messages/schema.ts'
import { embeddingsBody } from '../../src/dialects/operations/embeddings.ts'
import { imagesBody } from '../../src/dialects/operations/images.ts'
import { rerankBody } from '../../src/dialects/operations/rerank.ts'
import { MOST_CALLS, MOST_CHARACTERS } from '../../src/dialects/reply-decoder.ts'
import { responsesIngress } from '../../src/dialects/responses/index.ts'
import { documentedBody } from '../../src/dialects/responses/schema.ts'
import { read } from './replies.ts'
import { range } from './samples.ts'

/** The limits on items, fields and calls of a request and a reply, and the messages beyond them. */

const BODIES: [name: string, schema: TSchema][] = [
  ['chat', chatBody],
  ['Responses', documentedBody],
  ['Messages', messagesBody],
  ['Gemini', geminiBody],
  ['embeddings', embeddingsBody],
  ['rerank', rerankBody],
  ['images', imagesBody],
]

test.each(BODIES)('every list and object of %s has a bound', (_, body) => {
  const seen = new Set<TSchema>()
  const visit = (schema: TSchema): void => {
    if (seen.has(schema)) return
    seen.add(schema)
    if (schema.type === 'array' && !isOfNumbers(schema.items)) expect(schema.maxItems).toBeNumber()
    if (schema.type === 'object') expect(schema.maxProperties).toBeNumber()
    innerOf(schema).forEach(visit)
  }
  visit(body)
  expect(seen.size).toBeGreaterThan(10)
})

const user = { role: 'user', content: 'Hi' }
const many = <T>(entry: T): T[] => range(MOST_ENTRIES + 1, () => entry)
const fields = Object.fromEntries(range(MOST_FIELDS + 1, (i) => [`unknown_${i}`, 1]))
const entries = `must have at most ${MOST_ENTRIES} entries, not ${MOST_ENTRIES + 1}`

const ROWS: [field: string, ingress: Ingress, body: JsonObject, message: string][] = [
  [
    'messages of chat',
    chatIngress,
    { messages: many(user) },
    `messages: must have 1 to ${MOST_ENTRIES} entries`,
  ],
  [
    'parts of a message',
    chatIngress,
    { messages: [{ role: 'user', content: many({ type: 'text', text: 'x' }) }] },
    `messages[0].content: ${entries}`,
  ],
  [
    'calls of a message',
    chatIngress,
    {
      messages: [
        { role: 'assistant', tool_calls: many({ id: 'a', function: { name: 'a', arguments: '' } }) },
      ],
    },
    `messages[0].tool_calls: ${entries}`,
  ],
  ['tools', chatIngress, { messages: [user], tools: many({ type: 'new' }) }, `tools: ${entries}`],
  ['items', responsesIngress, { input: many({ type: 'reasoning' }) }, `input: ${entries}`],
  [
    'parts of an item',
    responsesIngress,
    { input: [{ role: 'user', content: many({ type: 'input_text', text: 'x' }) }] },
    `input[0].content: ${entries}`,
  ],
  [
    'blocks',
    messagesIngress,
    { max_tokens: 1, messages: [{ role: 'user', content: many({ type: 'text', text: 'x' }) }] },
    `messages[0].content: ${entries}`,
  ],
  [
    'parts of Gemini',
    geminiIngress,
    { contents: [{ role: 'user', parts: many({ text: 'x' }) }] },
    `contents[0].parts: ${entries}`,
  ],
  ['fields', chatIngress, { messages: [user], ...fields }, `must have at most ${MOST_FIELDS} fields`],
  [
    'fields of a message',
    chatIngress,
    { messages: [{ ...user, ...fields }] },
    `messages[0]: must have at most ${MOST_FIELDS} fields`,
  ],
]

test.each(ROWS)('too many %s: the field and the limit are named', (_, ingress, body, says) => {
  const thrown = outcomeOf(() => ingress.parse(body, new Headers()))
  expect(thrown).toBeInstanceOf(GatewayError)
  expect(thrown).toMatchObject({ status: 400, message: expect.stringContaining(says) })
})

function outcomeOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}

describe('a reply with too many tool calls is malformed', () => {
  const call = (index: number) => ({ index, id: `c${index}`, function: { name: 'a', arguments: '{}' } })
  const calls = range(MOST_CALLS + 1, call)
  const FORMS: [name: string, body: string, isStreamed: boolean][] = [
    [
      'unary',
      JSON.stringify({ choices: [{ message: { tool_calls: calls }, finish_reason: 'stop' }] }),
      false,
    ],
    [
      'streamed',
      calls
        .map((each) => `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [each] } }] })}\n\n`)
        .join(''),
      true,
    ],
  ]
  test.each(FORMS)('%s', async (_, body, isStreamed) => {
    const thrown = await read('chat', body, isStreamed).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(UpstreamError)
    expect(thrown).toMatchObject({
      kind: 'malformed',
      reason: `the reply has more than ${MOST_CALLS} tool calls`,
    })
  })
})

describe('a reply of more characters than any model writes is malformed', () => {
  const part = 'word '.repeat(100_000)
  const deltas = {
    text: { content: part },
    reasoning: { reasoning: part },
    arguments: { tool_calls: [{ index: 0, id: 'c', function: { name: 'a', arguments: part } }] },
  }
  test.each(Object.entries(deltas))('%s', async (_, delta) => {
    const event = `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta }] })}\n\n`
    const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`
    const most = MOST_CHARACTERS / part.length
    await read('chat', event.repeat(most) + end, true)
    const thrown = await read('chat', event.repeat(most + 1) + end, true).catch((error: unknown) => error)
    expect(thrown).toMatchObject({
      kind: 'malformed',
      reason: `the reply has more than ${MOST_CHARACTERS} characters of text, reasoning and arguments`,
    })
  })
})

test('citations of one block of Messages are counted as they come, not when the block ends', async () => {
  const citation = { type: 'web_search_result_location', url: 'https://a.example', title: 'a' }
  const events = [
    { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...range(10_001, () => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'citations_delta', citation },
    })),
  ]
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const thrown = await read('messages', body, true).catch((error: unknown) => error)
  expect(thrown).toMatchObject({ kind: 'malformed', reason: expect.stringContaining('annotations') })
})
