import type { JsonObject } from '../../../src/core/events.ts'
import { callId, piecesOf, type ToolCall, type Turn } from '../script.ts'

const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 30,
}
const head = {
  id: 'resp_scripted',
  object: 'response',
  created_at: 1_790_000_000,
  model: 'scripted',
  error: null,
  incomplete_details: null,
}

const messageOf = (text: string): JsonObject => ({
  id: 'msg_scripted',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
})
const callOf = (call: ToolCall): JsonObject => ({
  id: 'fc_scripted',
  type: 'function_call',
  status: 'completed',
  call_id: callId(call),
  name: call.name,
  arguments: JSON.stringify(call.arguments),
})

const itemOf = (turn: Turn): JsonObject =>
  'call' in turn ? callOf(turn.call) : messageOf('text' in turn ? turn.text : turn.cut)

export const responsesReply = (turn: Turn): JsonObject => ({
  ...head,
  status: 'completed',
  output: [itemOf(turn)],
  usage,
})

function textEvents(text: string): JsonObject[] {
  const place = { item_id: 'msg_scripted', output_index: 0, content_index: 0 }
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
  return [
    { type: 'response.content_part.added', ...place, part },
    ...piecesOf(text).map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
  ]
}

function doneEvents(text: string): JsonObject[] {
  const place = { item_id: 'msg_scripted', output_index: 0, content_index: 0 }
  const part = { type: 'output_text', text, annotations: [], logprobs: [] }
  return [
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
  ]
}

function callEvents(call: ToolCall): JsonObject[] {
  const place = { item_id: 'fc_scripted', output_index: 0 }
  const json = JSON.stringify(call.arguments)
  return [
    { type: 'response.function_call_arguments.delta', ...place, delta: json },
    { type: 'response.function_call_arguments.done', ...place, arguments: json, name: call.name },
  ]
}

export function responsesEvents(turn: Turn): string[] {
  const item = itemOf(turn)
  const empty = 'call' in turn ? { arguments: '' } : { content: [] }
  const started = { ...head, status: 'in_progress', output: [], usage: null }
  const events: JsonObject[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, ...empty, status: 'in_progress' },
    },
  ]
  if ('cut' in turn) return written([...events, ...textEvents(turn.cut)])
  const middle = 'call' in turn ? callEvents(turn.call) : [...textEvents(turn.text), ...doneEvents(turn.text)]
  return written([
    ...events,
    ...middle,
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: responsesReply(turn) },
  ])
}

const written = (events: readonly JsonObject[]): string[] =>
  events.map(
    (event, sequence_number) =>
      `event: ${String(event.type)}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
  )
