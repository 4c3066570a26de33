import type { JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import * as turn from './turn.ts'

/** Thoughts of Anthropic’s Messages API. */

const claudeBlocks = (isFirst: boolean): JsonObject[] =>
  isFirst
    ? [
        { type: 'thinking', thinking: turn.THOUGHT, signature: turn.SIGNATURES.claude },
        { type: 'redacted_thinking', data: turn.SIGNATURES.redacted },
        { type: 'text', text: turn.SAID },
        ...turn.CALLS.map(({ name, args }, i) => ({ type: 'tool_use', id: `toolu_${i}`, name, input: args })),
      ]
    : [{ type: 'text', text: turn.ANSWER }]

function claudeEvents(block: JsonObject, index: number): JsonObject[] {
  const start = (content_block: JsonObject): JsonObject => ({
    type: 'content_block_start',
    index,
    content_block,
  })
  const delta = (fields: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta: fields })
  const stop = { type: 'content_block_stop', index }
  switch (block.type) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...turn.pieces(String(block.thinking)).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ]
    case 'text':
      return [
        start({ type: 'text', text: '' }),
        ...turn.pieces(String(block.text)).map((text) => delta({ type: 'text_delta', text })),
        stop,
      ]
    case 'tool_use': {
      const text = isObject(block.input) ? turn.json(block.input) : ''
      return [
        start({ ...block, input: {} }),
        ...['', ...turn.pieces(text)].map((partial_json) =>
          delta({ type: 'input_json_delta', partial_json }),
        ),
        stop,
      ]
    }
    default:
      return [start(block), stop]
  }
}

export const claude: turn.Reply = (isFirst, isStream) => {
  const content = claudeBlocks(isFirst)
  const stop_reason = isFirst ? 'tool_use' : 'end_turn'
  const message = { id: 'msg_up', type: 'message', role: 'assistant', model: 'claude-up' }
  const usage = { input_tokens: 30, output_tokens: 20 }
  if (!isStream) return Response.json({ ...message, content, stop_reason, stop_sequence: null, usage })
  return turn.sse(
    turn.frames(
      [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
        { type: 'ping' },
        ...content.flatMap(claudeEvents),
        { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
        { type: 'message_stop' },
      ],
      true,
    ),
  )
}

export const ofClaude = ({ messages }: JsonObject): turn.Conversation =>
  turn
    .listOf(messages)
    .slice(1)
    .map(({ role, content }) => ({
      role,
      content: turn.blocksOf(content).map((block) => ({
        ...turn.pick(block, [
          'type',
          'thinking',
          'signature',
          'data',
          'text',
          'id',
          'name',
          'input',
          'tool_use_id',
        ]),
        ...(block.type === 'tool_result' ? { content: turn.plain(block.content) } : {}),
      })),
    }))
export const forClaude: turn.Conversation = [
  { role: 'assistant', content: claudeBlocks(true) },
  {
    role: 'user',
    content: turn.RESULTS.map((content, i) => ({ type: 'tool_result', tool_use_id: `toolu_${i}`, content })),
  },
]
