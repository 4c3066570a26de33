import type { JsonObject } from '../../../src/core/events.ts'
import { callId, piecesOf, type Turn } from '../script.ts'

const usage = { input_tokens: 20, output_tokens: 10 }
const head = {
  id: 'msg_scripted',
  type: 'message',
  role: 'assistant',
  model: 'scripted',
  stop_sequence: null,
}

const stopOf = (turn: Turn): string => ('call' in turn ? 'tool_use' : 'end_turn')

function blockOf(turn: Turn): JsonObject {
  if (!('call' in turn)) return { type: 'text', text: 'text' in turn ? turn.text : turn.cut }
  return { type: 'tool_use', id: callId(turn.call), name: turn.call.name, input: turn.call.arguments }
}

export const messagesReply = (turn: Turn): JsonObject => ({
  ...head,
  content: [blockOf(turn)],
  stop_reason: stopOf(turn),
  usage,
})

export function messagesEvents(turn: Turn): string[] {
  const delta = (fields: JsonObject): JsonObject => ({ type: 'content_block_delta', index: 0, delta: fields })
  const empty = 'call' in turn ? { input: {} } : { text: '' }
  const started = { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  const deltas =
    'call' in turn
      ? [delta({ type: 'input_json_delta', partial_json: JSON.stringify(turn.call.arguments) })]
      : piecesOf('text' in turn ? turn.text : turn.cut).map((text) => delta({ type: 'text_delta', text }))
  const beginning: JsonObject[] = [
    { type: 'message_start', message: started },
    { type: 'content_block_start', index: 0, content_block: { ...blockOf(turn), ...empty } },
    ...deltas,
  ]
  if ('cut' in turn) return written(beginning)
  return written([
    ...beginning,
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: stopOf(turn), stop_sequence: null },
      usage: { output_tokens: 10 },
    },
    { type: 'message_stop' },
  ])
}

const written = (events: readonly JsonObject[]): string[] =>
  events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)
