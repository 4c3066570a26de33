import { type FrameBatch, type InferenceEvent, type JsonObject, nativeData } from '../../core/events.ts'
import { asList, fieldsOf, isObject, isString, isText, objectsIn, textOf } from '../../core/json.ts'
import { inputOf } from '../claude.ts'
import type { BlockSink } from './write-state.ts'

/**
 * The `data` of `native` events of this dialect, for a writer of the same dialect.
 *
 * `event` is an event of a stream as it came, except for its `index`, which counts the blocks of this reply; starts and
 * stops of blocks that upstream left out are there. Plain text deltas of the block that was started last do not come:
 * their neutral event is complete.
 *
 * `message` is a complete unary reply.
 */
export interface MessagesNative {
  event?: JsonObject
  message?: JsonObject
}

export const isMessagesNative = (data: unknown): data is MessagesNative =>
  isObject(data) &&
  (data.event === undefined || isObject(data.event)) &&
  (data.message === undefined || isObject(data.message))

/** Puts the pieces of blocks together: the `content` of a message. */
export function createCollector(): BlockSink & { readonly content: JsonObject[] } {
  const content: JsonObject[] = []
  let json = ''
  return {
    content,
    start(index, block) {
      content[index] = { ...block, ...listOf(block.citations) }
      json = ''
    },
    delta(index, delta) {
      const block = content[index]
      if (!block) return
      if (delta.type === 'input_json_delta') json += textOf(delta.partial_json)
      else add(block, delta)
    },
    stop(index) {
      const block = content[index]
      if (block && json !== '') block.input = inputOf(json)
      json = ''
    },
  }
}

/** Text grows, citations are listed, and any other field takes the place of the former one. */
function add(block: JsonObject, { type, citation, ...fields }: JsonObject): void {
  if (type === 'citations_delta') {
    if (Array.isArray(block.citations)) block.citations.push(citation)
    else block.citations = [citation]
    return
  }
  for (const [name, value] of Object.entries(fields)) {
    const former = block[name]
    const grows = (name === 'text' || name === 'thinking') && isString(former) && isString(value)
    block[name] = grows ? former + value : value
  }
}

/** A list of its own, since more is added to it. */
const listOf = (citations: unknown): JsonObject =>
  Array.isArray(citations) ? { citations: [...citations] } : {}

/**
 * The streamed reply of a Messages provider in its unary form: with the `message` that its
 * events make, block by block, in place of those events. Any other reply is as it was.
 */
export function gatherMessage(frames: FrameBatch): FrameBatch {
  const collector = createCollector()
  let begun: JsonObject | undefined
  const end: JsonObject = {}
  let started = 0

  function read({ type, ...fields }: JsonObject): void {
    const at = Number(fields.index)
    if (type === 'message_start' && isObject(fields.message)) begun = fields.message
    else if (type === 'content_block_start' && isObject(fields.content_block)) {
      started = at + 1
      collector.start(at, fields.content_block)
    } else if (type === 'content_block_delta' && isObject(fields.delta)) collector.delta(at, fields.delta)
    else if (type === 'content_block_stop') collector.stop(at)
    else if (type === 'message_delta') {
      const { delta, usage: _, ...rest } = fields
      Object.assign(end, rest, fieldsOf(delta))
    }
  }

  for (const { events } of frames) {
    const own = events.flatMap(eventOf)
    for (const event of own) read(event)
    // Plain pieces of text have no event of their own.
    if (own.length === 0) {
      for (const event of events) {
        if (event.type === 'text-delta')
          collector.delta(started - 1, { type: 'text_delta', text: event.text })
      }
    }
  }
  if (begun === undefined || !isString(end.stop_reason)) return frames
  const message = { ...begun, ...end, content: collector.content }
  return [
    ...frames.map(({ events }) => ({ events: events.filter((event) => eventOf(event).length === 0) })),
    { events: [{ type: 'native', dialect: 'messages', data: { message } }] },
  ]
}

function eventOf(event: InferenceEvent): JsonObject[] {
  const own = nativeData(event, 'messages', isMessagesNative)?.event
  return own ? [own] : []
}

/** A complete message as the events of a stream, for a provider that does not stream on request. */
export function eventsOfMessage(message: JsonObject): JsonObject[] {
  const { content, stop_reason, stop_sequence, stop_details, container, context_management, ...start } =
    message
  const blocks = objectsIn(content)
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
  const { begun, deltas } = piecesOf(block)
  return [
    { type: 'content_block_start', index, content_block: begun },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

/** A block as it begins in a stream, and the deltas that follow; blocks of other types come complete. */
export function piecesOf(block: JsonObject): { begun: JsonObject; deltas: JsonObject[] } {
  const { text, thinking, signature, input, citations } = block
  if (block.type === 'text') {
    const cited = asList(citations)
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
        ...(isText(thinking) ? [{ type: 'thinking_delta', thinking }] : []),
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
