import { expect, test } from 'bun:test'
import type { InferenceEvent } from '../../../src/core/events.ts'
import { messagesIngress } from '../../../src/dialects/messages/index.ts'
import { parseMessages } from '../../../src/dialects/messages/parse.ts'
import { closingOf } from '../replies.ts'
import { eventsOf, replyOf } from './written.ts'

const LONG = 'mcp__plugin_chrome-devtools-mcp_chrome-devtools__performance_analyze_insight'
const body = {
  model: 'm',
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: LONG, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }] },
  ],
  tools: [LONG, `${LONG}s`, 'Read'].map((name) => ({ name, input_schema: { type: 'object' } })),
  tool_choice: { type: 'tool', name: LONG },
}

test('a name that only Anthropic accepts is shortened for other dialects, the same way everywhere', () => {
  const request = parseMessages(body, new Headers())
  const names = request.tools.map((tool) => (tool.type === 'function' ? tool.name : ''))
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  expect(new Set(names).size).toBe(3)
  expect(names[2]).toBe('Read')
  expect(request.toolChoice).toEqual({ type: 'function', name: String(names[0]) })
  expect(request.messages[1]?.toolCalls?.[0]?.name).toBe(names[0])
  expect(request.body).toBe(body)
})

test('the caller gets its own name back', () => {
  const request = parseMessages(body, new Headers())
  const [first] = request.tools
  const name = first?.type === 'function' ? first.name : ''
  const called: InferenceEvent = { type: 'tool-call-start', choice: 0, index: 0, id: 'c', name }
  const writer = messagesIngress.writeStream({ ...replyOf(), request })
  const events = eventsOf(writer.write({ events: [called] }) + writer.end(closingOf({})))
  expect(events.find(({ type }) => type === 'content_block_start')?.content_block).toEqual({
    type: 'tool_use',
    id: 'c',
    name: LONG,
    input: {},
  })
})
