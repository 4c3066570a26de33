import type { JsonObject } from '../../../src/core/events.ts'
import {
  ANSWER,
  type Conversation,
  chatCalls,
  chatResults,
  completeCalls,
  frames,
  listOf,
  pieces,
  plain,
  type Reply,
  SAID,
  sse,
  THOUGHT,
} from './turn.ts'

/** Thoughts of Cohere’s API. */

export const cohere: Reply = (isFirst, isStream) => {
  const usage = {
    billed_units: { input_tokens: 30, output_tokens: 20 },
    tokens: { input_tokens: 300, output_tokens: 25 },
  }
  const finish_reason = isFirst ? 'TOOL_CALL' : 'COMPLETE'
  const calls = chatCalls.map(({ function: { name, arguments: text }, ...call }) => ({
    ...call,
    function: { name, arguments: text === '' ? null : text },
  }))
  const content = isFirst ? [{ type: 'thinking', thinking: THOUGHT }] : [{ type: 'text', text: ANSWER }]
  if (!isStream) {
    const first = { tool_plan: SAID, tool_calls: calls }
    const message = { role: 'assistant', content, ...(isFirst ? first : {}) }
    return Response.json({ id: 'up', finish_reason, message, usage })
  }
  const delta = (message: JsonObject): JsonObject => ({ delta: { message } })
  const [block = { type: 'text' }] = content
  const field = block.type
  const text = isFirst ? THOUGHT : ANSWER
  const events = [
    {
      type: 'message-start',
      id: 'up',
      ...delta({ role: 'assistant', content: [], tool_plan: '', tool_calls: [] }),
    },
    { type: 'content-start', index: 0, ...delta({ content: { type: field, [field]: '' } }) },
    ...pieces(text).map((piece) => ({
      type: 'content-delta',
      index: 0,
      ...delta({ content: { [field]: piece } }),
    })),
    { type: 'content-end', index: 0 },
    ...(isFirst
      ? [
          ...pieces(SAID).map((tool_plan) => ({ type: 'tool-plan-delta', ...delta({ tool_plan }) })),
          ...chatCalls.flatMap(({ function: called, ...call }, index) => [
            {
              type: 'tool-call-start',
              index,
              ...delta({ tool_calls: { ...call, function: { name: called.name, arguments: '' } } }),
            },
            ...pieces(called.arguments).map((piece) => ({
              type: 'tool-call-delta',
              index,
              ...delta({ tool_calls: { function: { arguments: piece } } }),
            })),
            { type: 'tool-call-end', index },
          ]),
        ]
      : []),
    { type: 'message-end', delta: { finish_reason, usage } },
  ]
  return sse(frames(events, true))
}

export const ofCohere = ({ messages }: JsonObject): Conversation =>
  listOf(messages)
    .slice(1)
    .map((message) => (message.role === 'tool' ? { ...message, content: plain(message.content) } : message))
export const forCohere: Conversation = [
  {
    role: 'assistant',
    content: [{ type: 'thinking', thinking: THOUGHT }],
    tool_plan: SAID,
    tool_calls: completeCalls,
  },
  ...chatResults,
]
