import { dataOf, namedOf } from '../e2e/replies.ts'
import { type Answer, sse, streamed, unary } from '../upstream.ts'

/** Replies of providers of each dialect with the same text, complete or in pieces. */

const messages = (content: object[]) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
})

const messagesEvents = (pieces: readonly string[]): object[] => [
  { type: 'message_start', message: { ...messages([]), stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 5 },
  },
  { type: 'message_stop' },
]

const gemini = (text: string, isLast = true) => ({
  candidates: [
    { content: { role: 'model', parts: [{ text }] }, index: 0, ...(isLast ? { finishReason: 'STOP' } : {}) },
  ],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  modelVersion: 'm',
})

const item = (text: string, status: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status,
  content: status === 'completed' ? [{ type: 'output_text', text, annotations: [] }] : [],
})
const response = (text: string, status: string) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  model: 'm',
  status,
  output: status === 'completed' ? [item(text, status)] : [],
  usage: status === 'completed' ? { input_tokens: 10, output_tokens: 5, total_tokens: 15 } : null,
})

function responsesEvents(pieces: readonly string[]): object[] {
  const text = pieces.join('')
  const place = { output_index: 0, content_index: 0, item_id: 'msg_1' }
  const events = [
    { type: 'response.created', response: response('', 'in_progress') },
    { type: 'response.output_item.added', output_index: 0, item: item('', 'in_progress') },
    {
      type: 'response.content_part.added',
      ...place,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
    { type: 'response.output_text.done', ...place, text },
    { type: 'response.content_part.done', ...place, part: { type: 'output_text', text, annotations: [] } },
    { type: 'response.output_item.done', output_index: 0, item: item(text, 'completed') },
    { type: 'response.completed', response: response(text, 'completed') },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

type Reply = (pieces: readonly string[], stream: boolean) => Answer

/** By the dialect that the provider speaks. */
export const REPLIES: Readonly<Record<string, Reply>> = {
  chat: (pieces, stream) => (stream ? streamed(pieces) : unary(pieces.join(''))),
  responses: (pieces, stream) =>
    stream
      ? () => sse(responsesEvents(pieces).map(namedOf))
      : () => Response.json(response(pieces.join(''), 'completed')),
  messages: (pieces, stream) =>
    stream
      ? () => sse(messagesEvents(pieces).map(namedOf))
      : () => Response.json(messages([{ type: 'text', text: pieces.join('') }])),
  gemini: (pieces, stream) =>
    stream
      ? () => sse(pieces.map((piece, i) => dataOf(gemini(piece, i === pieces.length - 1))))
      : () => Response.json(gemini(pieces.join(''))),
}

/** One provider for each dialect, whose only model is named after it. */
export const providersOf = (baseUrl: string, more: Record<string, unknown> = {}) =>
  Object.keys(REPLIES).map((dialect) => ({
    slug: `lab-${dialect}`,
    dialect,
    base_url: baseUrl,
    models: [{ id: dialect, pricing: { prompt: '0.000001', completion: '0.000002' }, ...more }],
  }))
