import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'

/** A whole message as the events of a stream, for a provider that does not stream although it was asked to. */
export function eventsOfMessage(message: JsonObject): JsonObject[] {
  const { content, stop_reason, stop_sequence, stop_details, container, context_management, ...start } =
    message
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  const delta = { stop_reason, stop_sequence, stop_details, container }
  return [
    { type: 'message_start', message: start },
    ...blocks.flatMap(eventsOfBlock),
    {
      type: 'message_delta',
      delta: Object.fromEntries(Object.entries(delta).filter(([, value]) => value !== undefined)),
      ...(context_management === undefined ? {} : { context_management }),
    },
    { type: 'message_stop' },
  ]
}

function eventsOfBlock(block: JsonObject, index: number): JsonObject[] {
  const { begun, deltas } = pieces(block)
  return [
    { type: 'content_block_start', index, content_block: begun },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

/** A block as it begins in a stream, and what is added to it; blocks of other types come whole. */
function pieces(block: JsonObject): { begun: JsonObject; deltas: JsonObject[] } {
  const { text, thinking, signature, input, citations } = block
  if (block.type === 'text') {
    const cited = Array.isArray(citations) ? citations : []
    return {
      begun: { ...block, text: '', citations: null },
      deltas: [
        { type: 'text_delta', text },
        ...cited.map((citation) => ({ type: 'citations_delta', citation })),
      ],
    }
  }
  if (block.type === 'thinking') {
    return {
      begun: { ...block, thinking: '', signature: '' },
      deltas: [
        ...(isString(thinking) && thinking !== '' ? [{ type: 'thinking_delta', thinking }] : []),
        { type: 'signature_delta', signature },
      ],
    }
  }
  if (isObject(input) && Object.keys(input).length > 0) {
    const partial_json = JSON.stringify(input)
    return { begun: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json }] }
  }
  return { begun: block, deltas: [] }
}
