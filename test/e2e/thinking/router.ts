import type { JsonObject } from '../../../src/core/events.ts'
import * as turn from './turn.ts'

/** Thoughts of OpenRouter’s chat completions. */

const routerDetails = [
  {
    type: 'reasoning.text',
    text: turn.THOUGHT,
    signature: turn.SIGNATURES.router,
    format: 'anthropic-claude-v1',
    index: 0,
  },
  {
    type: 'reasoning.encrypted',
    data: turn.SIGNATURES.routerRedacted,
    format: 'anthropic-claude-v1',
    index: 1,
  },
]

export const router: turn.Reply = (isFirst, isStream) => {
  const shared = { id: 'gen-up', created: 1_790_000_000, model: 'router-up', provider: 'Anthropic' }
  const usage = { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50 }
  const finish_reason = isFirst ? 'tool_calls' : 'stop'
  if (!isStream) {
    const first = {
      content: turn.SAID,
      reasoning: turn.THOUGHT,
      reasoning_details: routerDetails,
      tool_calls: turn.chatCalls,
    }
    const message = { role: 'assistant', ...(isFirst ? first : { content: turn.ANSWER }) }
    const choices = [{ index: 0, finish_reason, native_finish_reason: finish_reason, message }]
    return Response.json({ ...shared, object: 'chat.completion', choices, usage })
  }
  const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): string => {
    const choices = [{ index: 0, delta: { role: 'assistant', content: '', ...delta }, finish_reason: finish }]
    return `data: ${JSON.stringify({ ...shared, object: 'chat.completion.chunk', choices, ...more })}\n\n`
  }
  const { signature, text, ...open } = routerDetails[0] ?? {}
  const thinking = [
    ...turn
      .pieces(turn.THOUGHT)
      .map((piece) => chunk({ reasoning: piece, reasoning_details: [{ ...open, text: piece }] })),
    chunk({ reasoning: null, reasoning_details: [{ ...open, signature }] }),
    chunk({ reasoning: null, reasoning_details: routerDetails.slice(1) }),
    chunk({ content: turn.SAID }),
    ...turn.chatCalls.flatMap(({ function: called, ...call }, index) => [
      chunk({
        content: null,
        tool_calls: [{ index, ...call, function: { ...called, arguments: '' } }],
      }),
      ...turn
        .pieces(called.arguments)
        .map((piece) => chunk({ content: null, tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ]
  return turn.sse(
    [
      ': OPENROUTER PROCESSING\n\n',
      ...(isFirst ? thinking : turn.pieces(turn.ANSWER).map((content) => chunk({ content }))),
      chunk({}, finish_reason),
      chunk({}, finish_reason, { usage }),
      'data: [DONE]\n\n',
    ].join(''),
  )
}

/** Pieces of one detail that was streamed go back as they came; OpenRouter reads them as one. */
function joinedDetails(details: unknown): JsonObject[] {
  const joined: JsonObject[] = []
  for (const detail of turn.listOf(details)) {
    const last = joined.at(-1)
    if (last?.index !== detail.index) joined.push({ ...detail })
    else if (last) Object.assign(last, detail, { text: `${last.text ?? ''}${detail.text ?? ''}` })
  }
  return joined
}
export const ofRouter = ({ messages }: JsonObject): turn.Conversation =>
  turn
    .listOf(messages)
    .slice(1)
    .map((message) =>
      message.role === 'assistant'
        ? {
            ...turn.pick(message, ['role', 'reasoning', 'tool_calls']),
            content: turn.plain(message.content),
            reasoning_details: joinedDetails(message.reasoning_details),
          }
        : { ...turn.pick(message, ['role', 'tool_call_id']), content: turn.plain(message.content) },
    )

export const forRouter: turn.Conversation = [
  {
    role: 'assistant',
    content: turn.SAID,
    reasoning: turn.THOUGHT,
    reasoning_details: routerDetails,
    tool_calls: turn.completeCalls,
  },
  ...turn.chatResults,
]
