import type { InferenceEvent, JsonObject } from '../../../core/events.ts'
import { isObject } from '../../../core/json.ts'
import { type ArgumentsScan, openArguments } from './arguments.ts'
import type { NativeInput, NativeOutput } from './native-output.ts'

/**
 * The events of a provider that speaks the caller's dialect, Messages, in a stream. Blocks begin and end as they came;
 * what is added to them is written anew from what the filters let pass.
 */
export function createMessagesRelay({ scanners, leave, drop }: NativeInput): NativeOutput {
  /** The blocks that were begun and not ended, by index. */
  const open = new Map<number, JsonObject>()
  /** The input of calls that the provider itself makes. */
  const inputs = new Map<number, ArgumentsScan>()
  const blockOfCall = new Map<number, number>()
  let latest = -1
  /** Something has been added to the latest block. */
  let hasDelta = false
  /** How the message ended, until it is known that it did. */
  const last: InferenceEvent[] = []

  const native = (event: JsonObject): InferenceEvent => ({
    type: 'native',
    dialect: 'messages',
    data: { event },
  })
  const added = (index: number, delta: JsonObject): InferenceEvent =>
    native({ type: 'content_block_delta', index, delta })

  function begin(event: JsonObject, out: InferenceEvent[]): void {
    const { content_block: block, index } = event
    if (!isObject(block)) return
    latest = Number(index)
    hasDelta = false
    open.set(latest, block)
    out.push(
      native({ ...event, content_block: TOLD.has(block['type']) ? emptied(block) : scanners.whole(block) }),
    )
  }

  function add(event: JsonObject, out: InferenceEvent[]): void {
    const { delta } = event
    const index = Number(event['index'])
    if (!isObject(delta)) return
    hasDelta = true
    const { type, partial_json: json } = delta
    if (type === 'input_json_delta' && !TOLD.has(open.get(index)?.['type']) && typeof json === 'string') {
      const input = inputs.get(index) ?? openArguments(scanners)
      inputs.set(index, input)
      const said = input.push(json)
      if (said !== '') out.push(native({ ...event, delta: { ...delta, partial_json: said } }))
    } else if (!RETOLD.has(type)) {
      out.push(native({ ...event, delta: scanners.whole(delta) }))
    }
  }

  function stop(event: JsonObject, out: InferenceEvent[]): void {
    const index = Number(event['index'])
    leave(out)
    const rest = inputs.get(index)?.end() ?? ''
    if (rest !== '') out.push(added(index, { type: 'input_json_delta', partial_json: rest }))
    if (scanners.isBlocked) return
    inputs.delete(index)
    open.delete(index)
    out.push(native(event))
  }

  /** The reason of a refusal is repeated here. */
  function explained(event: JsonObject): JsonObject {
    const { delta } = event
    if (!isObject(delta) || !isObject(delta['stop_details'])) return event
    return { ...event, delta: { ...delta, stop_details: scanners.whole(delta['stop_details']) } }
  }

  function takeMessage(message: JsonObject, out: InferenceEvent[]): void {
    leave(out)
    if (scanners.replaced === 0 && !scanners.isBlocked && scanners.isClean(message)) {
      out.push({ type: 'native', dialect: 'messages', data: { message } })
      return
    }
    const content: unknown = message['content']
    for (const block of Array.isArray(content) ? content : []) {
      if (isObject(block) && !TOLD.has(block['type'])) drop(String(block['type']))
    }
  }

  function deltaOf(event: InferenceEvent): { index: number; delta: JsonObject } | null {
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
        // A reader makes `{}` of a call without arguments; the provider did not send it.
        if (event.json === '{}' && !hasDelta) return null
        return {
          index: blockOfCall.get(event.index) ?? latest,
          delta: { type: 'input_json_delta', partial_json: event.json },
        }
      default:
        return null
    }
  }

  return {
    take({ data }, out) {
      const message = isObject(data) ? data['message'] : undefined
      if (isObject(message)) takeMessage(message, out)
      const event = isObject(data) ? data['event'] : undefined
      if (!isObject(event)) return
      switch (event['type']) {
        case 'message_start':
          out.push(native(begun(event)))
          return
        case 'content_block_start':
          return begin(event, out)
        case 'content_block_delta':
          return add(event, out)
        case 'content_block_stop':
          return stop(event, out)
        case 'message_delta':
          last.push(native(explained(event)))
          return
        case 'message_stop':
          last.push(native(event))
          return
        default: {
          const next = scanners.whole(event)
          if (isObject(next)) out.push(native(next))
        }
      }
    },
    beside(event, out) {
      if (latest === -1) return
      if (event.type === 'tool-call-start') blockOfCall.set(event.index, latest)
      const said = deltaOf(event)
      if (said && open.has(said.index)) out.push(added(said.index, said.delta))
    },
    end(out) {
      if (!scanners.isBlocked) {
        out.push(...last)
        return
      }
      for (const index of open.keys()) out.push(native({ type: 'content_block_stop', index }))
    },
  }
}

/** Blocks whose content neutral events tell. */
const TOLD = new Set<unknown>(['text', 'thinking', 'redacted_thinking', 'tool_use'])
/** What is added in these is written anew. */
const RETOLD = new Set<unknown>(['text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta'])

const begun = (event: JsonObject): JsonObject =>
  isObject(event['message']) ? { ...event, message: { ...event['message'], content: [] } } : event

/** The start of a block without its text, which passes as deltas. */
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
