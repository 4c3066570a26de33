import type { InferenceEvent, JsonObject } from '../../../core/events.ts'
import { isObject } from '../../../core/json.ts'
import { type ArgumentsScan, openArguments } from './arguments.ts'
import type { NativeInput, NativeOutput } from './native-output.ts'

interface Relay extends NativeInput {
  /** Open blocks, by index. */
  readonly open: Map<number, JsonObject>
  /** The input of server tool calls, by block. */
  readonly inputs: Map<number, ArgumentsScan>
  readonly blockOfCall: Map<number, number>
  /** The block that started last; -1 before the first. */
  latest: number
  /** The latest block has had a delta. */
  hasDelta: boolean
  /** The final events, held until the message has ended. */
  readonly last: InferenceEvent[]
}

/**
 * Filters the stream of a Messages provider for a Messages caller. Starts and stops of blocks are forwarded; their deltas
 * are written from the filtered events.
 */
export function createMessagesRelay(input: NativeInput): NativeOutput {
  const relay: Relay = {
    ...input,
    open: new Map(),
    inputs: new Map(),
    blockOfCall: new Map(),
    latest: -1,
    hasDelta: false,
    last: [],
  }
  return {
    take({ data }, out) {
      const message = isObject(data) ? data['message'] : undefined
      if (isObject(message)) takeMessage(relay, message, out)
      const event = isObject(data) ? data['event'] : undefined
      if (!isObject(event)) return
      switch (event['type']) {
        case 'message_start':
          out.push(native(withoutContent(event)))
          return
        case 'content_block_start':
          return begin(relay, event, out)
        case 'content_block_delta':
          return add(relay, event, out)
        case 'content_block_stop':
          return stop(relay, event, out)
        case 'message_delta':
          relay.last.push(native(explained(relay, event)))
          return
        case 'message_stop':
          relay.last.push(native(event))
          return
        default: {
          const next = relay.scanners.scan(event)
          if (isObject(next)) out.push(native(next))
        }
      }
    },
    beside(event, out) {
      if (relay.latest === -1) return
      if (event.type === 'tool-call-start') relay.blockOfCall.set(event.index, relay.latest)
      const repeated = deltaOf(relay, event)
      if (repeated && relay.open.has(repeated.index)) out.push(added(repeated.index, repeated.delta))
    },
    end(out) {
      if (!relay.scanners.isBlocked) {
        out.push(...relay.last)
        return
      }
      for (const index of relay.open.keys()) out.push(native({ type: 'content_block_stop', index }))
    },
  }
}

const native = (event: JsonObject): InferenceEvent => ({
  type: 'native',
  dialect: 'messages',
  data: { event },
})
const added = (index: number, delta: JsonObject): InferenceEvent =>
  native({ type: 'content_block_delta', index, delta })

function begin(relay: Relay, event: JsonObject, out: InferenceEvent[]): void {
  const { content_block: block, index } = event
  if (!isObject(block)) return
  relay.latest = Number(index)
  relay.hasDelta = false
  relay.open.set(relay.latest, block)
  out.push(
    native({
      ...event,
      content_block: NEUTRAL.has(block['type']) ? emptied(block) : relay.scanners.scan(block),
    }),
  )
}

function add(relay: Relay, event: JsonObject, out: InferenceEvent[]): void {
  const { delta } = event
  const { scanners, open, inputs } = relay
  const index = Number(event['index'])
  if (!isObject(delta)) return
  relay.hasDelta = true
  const { type, partial_json: json } = delta
  if (type === 'input_json_delta' && !NEUTRAL.has(open.get(index)?.['type']) && typeof json === 'string') {
    const input = inputs.get(index) ?? openArguments(scanners)
    inputs.set(index, input)
    const passed = input.push(json)
    if (passed !== '') out.push(native({ ...event, delta: { ...delta, partial_json: passed } }))
  } else if (!REWRITTEN.has(type)) {
    out.push(native({ ...event, delta: scanners.scan(delta) }))
  }
}

function stop(relay: Relay, event: JsonObject, out: InferenceEvent[]): void {
  const { scanners, open, inputs } = relay
  const index = Number(event['index'])
  relay.flush(out)
  const rest = inputs.get(index)?.end() ?? ''
  if (rest !== '') out.push(added(index, { type: 'input_json_delta', partial_json: rest }))
  if (scanners.isBlocked) return
  inputs.delete(index)
  open.delete(index)
  out.push(native(event))
}

/** Scans `stop_details`, which contains the text of a refusal. */
function explained({ scanners }: Relay, event: JsonObject): JsonObject {
  const { delta } = event
  if (!isObject(delta) || !isObject(delta['stop_details'])) return event
  return { ...event, delta: { ...delta, stop_details: scanners.scan(delta['stop_details']) } }
}

function takeMessage({ scanners, flush, drop }: Relay, message: JsonObject, out: InferenceEvent[]): void {
  flush(out)
  if (scanners.replaced === 0 && !scanners.isBlocked && scanners.isClean(message)) {
    out.push({ type: 'native', dialect: 'messages', data: { message } })
    return
  }
  const content: unknown = message['content']
  for (const block of Array.isArray(content) ? content : []) {
    if (isObject(block) && !NEUTRAL.has(block['type'])) drop(String(block['type']))
  }
}

function deltaOf(
  { open, latest, hasDelta, blockOfCall }: Relay,
  event: InferenceEvent,
): { index: number; delta: JsonObject } | null {
  switch (event.type) {
    case 'text-delta':
      return open.get(latest)?.['type'] === 'tool_use'
        ? { index: latest, delta: { type: 'input_json_delta', partial_json: event.text } }
        : { index: latest, delta: { type: 'text_delta', text: event.text } }
    case 'reasoning-delta':
      return { index: latest, delta: { type: 'thinking_delta', thinking: event.text } }
    case 'reasoning-detail': {
      const { signature } = event.detail
      if (typeof signature !== 'string' || signature === '') return null
      return { index: latest, delta: { type: 'signature_delta', signature } }
    }
    case 'tool-call-delta':
      // The dialect's reader adds `{}` for a call without arguments; the provider did not send it.
      if (event.json === '{}' && !hasDelta) return null
      return {
        index: blockOfCall.get(event.index) ?? latest,
        delta: { type: 'input_json_delta', partial_json: event.json },
      }
    default:
      return null
  }
}

/** Blocks whose content has neutral events. */
const NEUTRAL = new Set<unknown>(['text', 'thinking', 'redacted_thinking', 'tool_use'])
/** Deltas that are written from neutral events. */
const REWRITTEN = new Set<unknown>(['text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta'])

const withoutContent = (event: JsonObject): JsonObject =>
  isObject(event['message']) ? { ...event, message: { ...event['message'], content: [] } } : event

/** The start of a block without its text, which follows as deltas. */
function emptied(block: JsonObject): JsonObject {
  switch (block['type']) {
    case 'text':
      return { ...block, text: '' }
    case 'thinking':
      return { ...block, thinking: '', signature: '' }
    case 'tool_use':
      return { ...block, input: {} }
    default:
      return block
  }
}
