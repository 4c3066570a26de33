import type { JsonObject } from '../../../src/core/events.ts'
import * as turn from './turn.ts'

/** Thoughts of the Responses API, OpenAI’s and OpenRouter’s. */

export const openaiThought = {
  id: 'rs_up',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: turn.THOUGHT }],
  encrypted_content: turn.SIGNATURES.openai,
}
/** OpenRouter's reasoning of Claude in this dialect. */
export const routerThought = {
  id: 'rs_or',
  type: 'reasoning',
  summary: [],
  content: [{ type: 'reasoning_text', text: turn.THOUGHT }],
  signature: turn.SIGNATURES.routerItem,
  format: 'anthropic-claude-v1',
}
const messageItem = (text: string): JsonObject => ({
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const outputItems = (isFirst: boolean, thought: JsonObject): JsonObject[] =>
  isFirst
    ? [
        thought,
        messageItem(turn.SAID),
        ...turn.CALLS.map(({ name, args }, i) => ({
          id: `fc_${i}`,
          type: 'function_call',
          call_id: `call_${i}`,
          name,
          arguments: JSON.stringify(args),
          status: 'completed',
        })),
      ]
    : [messageItem(turn.ANSWER)]

function itemEvents(item: JsonObject, output_index: number): JsonObject[] {
  const at = { item_id: item.id, output_index }
  const done = { type: 'response.output_item.done', output_index, item }
  const added = (fields: JsonObject): JsonObject => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, ...fields },
  })
  const deltas = (type: string, text: string, more: JsonObject): JsonObject[] =>
    turn.pieces(text).map((delta) => ({ type, ...at, ...more, delta }))
  switch (item.type) {
    case 'reasoning': {
      const { encrypted_content, signature, content, ...rest } = item
      const isSummary = content === undefined
      return [
        { type: 'response.output_item.added', output_index, item: { ...rest, summary: [] } },
        ...(isSummary
          ? deltas('response.reasoning_summary_text.delta', turn.THOUGHT, { summary_index: 0 })
          : deltas('response.reasoning_text.delta', turn.THOUGHT, { content_index: 0 })),
        done,
      ]
    }
    case 'message': {
      const text = Array.isArray(item.content) ? item.content[0].text : ''
      const part = { type: 'output_text', text: '', annotations: [] }
      return [
        added({ content: [], status: 'in_progress' }),
        { type: 'response.content_part.added', ...at, content_index: 0, part },
        ...deltas('response.output_text.delta', text, { content_index: 0 }),
        { type: 'response.output_text.done', ...at, content_index: 0, text },
        { type: 'response.content_part.done', ...at, content_index: 0, part: { ...part, text } },
        done,
      ]
    }
    default:
      return [
        added({ arguments: '', status: 'in_progress' }),
        ...deltas('response.function_call_arguments.delta', String(item.arguments), {}),
        { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
        done,
      ]
  }
}

export const responsesOf =
  (thought: JsonObject): turn.Reply =>
  (isFirst, isStream) => {
    const output = outputItems(isFirst, thought)
    const usage = {
      input_tokens: 30,
      output_tokens: 20,
      total_tokens: 50,
      output_tokens_details: { reasoning_tokens: 5 },
    }
    const response = { id: 'resp_up', object: 'response', created_at: 1_790_000_000, model: 'o-up' }
    const complete = { ...response, status: 'completed', output, usage }
    if (!isStream) return Response.json(complete)
    const open = { ...response, status: 'in_progress', output: [], usage: null }
    const events = [
      { type: 'response.created', response: open },
      { type: 'response.in_progress', response: open },
      ...output.flatMap(itemEvents),
      { type: 'response.completed', response: complete },
    ]
    return turn.sse(
      turn.frames(
        events.map((event, sequence_number) => ({ ...event, sequence_number })),
        true,
      ),
    )
  }

const itemFields = ['type', 'summary', 'encrypted_content', 'call_id', 'name', 'arguments', 'output']
export const ofResponses = ({ input }: JsonObject): turn.Conversation =>
  turn
    .listOf(input)
    .slice(1)
    .map((item) => {
      if (item.type === 'reasoning') {
        return turn.pick(item, ['type', 'summary', 'content', 'encrypted_content', 'signature', 'format'])
      }
      return item.role === undefined
        ? turn.pick(item, itemFields)
        : { role: item.role, text: turn.plain(item.content) }
    })
export const forResponses = (thought: JsonObject): turn.Conversation => {
  const { id, ...own } = thought
  return [
    own,
    { role: 'assistant', text: turn.SAID },
    ...turn.CALLS.map(({ name, args }, i) => ({
      type: 'function_call',
      call_id: `call_${i}`,
      name,
      arguments: JSON.stringify(args),
    })),
    ...turn.RESULTS.map((output, i) => ({ type: 'function_call_output', call_id: `call_${i}`, output })),
  ]
}
