import type { JsonObject } from '../../../src/core/events.ts'
import { callId, piecesOf, type Turn } from '../script.ts'

const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }
const head = { id: 'chatcmpl-scripted', created: 1_790_000_000, model: 'scripted' }

const callsOf = (turn: Turn): JsonObject =>
  'call' in turn
    ? {
        tool_calls: [
          {
            index: 0,
            id: callId(turn.call),
            type: 'function',
            function: { name: turn.call.name, arguments: JSON.stringify(turn.call.arguments) },
          },
        ],
      }
    : {}

export function chatEvents(turn: Turn): string[] {
  const event = (choice: JsonObject): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] })}\n\n`
  const delta = (fields: JsonObject): string => event({ delta: fields, finish_reason: null })
  const first = delta({ role: 'assistant', content: '' })
  if ('cut' in turn) return [first, ...piecesOf(turn.cut).map((content) => delta({ content }))]
  const isCall = 'call' in turn
  const middle = isCall ? [delta(callsOf(turn))] : piecesOf(turn.text).map((content) => delta({ content }))
  const last = `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\n`
  return [
    first,
    ...middle,
    event({ delta: {}, finish_reason: isCall ? 'tool_calls' : 'stop' }),
    last,
    'data: [DONE]\n\n',
  ]
}

export const chatReply = (turn: Turn): JsonObject => ({
  ...head,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'text' in turn ? turn.text : null, ...callsOf(turn) },
      finish_reason: 'call' in turn ? 'tool_calls' : 'stop',
    },
  ],
  usage,
})
