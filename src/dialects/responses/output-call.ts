import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { isString, restOf } from '../../core/json.ts'
import { createJsonEnd } from '../json-end.ts'
import { ITEM } from './items.ts'
import { type OutputItem, type Slot, textOf, writeAdded, writeDone } from './output-item.ts'
import { createInputReader, type InputReader } from './partial-input.ts'
import type { NamedTool } from './tool-names.ts'

/** A `function_call` or `custom_tool_call` item while it comes. */
export interface CallOutput extends OutputItem {
  /** A piece of the arguments, or of the free text. */
  add(piece: string): string
}

export interface CallHead {
  readonly callId: string
  readonly name: string
  readonly namespace: string | undefined
  /** A custom tool has free text. `wrapped`: it comes as the argument of a function. */
  readonly form: 'function' | 'custom' | 'wrapped'
  readonly extra: JsonObject | undefined
}

export function openCall(slot: Slot, head: CallHead): { text: string; item: CallOutput } {
  const { events, id, index } = slot
  const isCustom = head.form !== 'function'
  const field = isCustom ? 'input' : 'arguments'
  const event = isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
  const type = isCustom ? 'custom_tool_call' : 'function_call'
  const reader: InputReader | null = head.form === 'wrapped' ? createInputReader() : null
  const shared = {
    ...head.extra,
    ...slot.native,
    id,
    type,
    call_id: head.callId,
    name: head.name,
    ...(head.namespace === undefined ? {} : { namespace: head.namespace }),
  }
  const place = { item_id: id, output_index: index }
  /** What was told of it. */
  let told = ''
  const end = createJsonEnd()
  let whole: JsonObject | null = null

  function tell(delta: string): string {
    if (delta === '') return ''
    told += delta
    end.push(delta)
    return events.write(`${event}.delta`, { ...place, delta })
  }

  /** A call without arguments has an empty object. */
  function finish(native: JsonObject | undefined, isWhole: boolean): { text: string; value: string } {
    if (reader) {
      const { rest, whole: value } = reader.end()
      return { text: tell(rest), value }
    }
    const last = textOf(native?.[field]) || told
    const value = last === '' && !isCustom && isWhole ? '{}' : last
    return { text: value.startsWith(told) ? tell(value.slice(told.length)) : '', value }
  }

  const item: CallOutput = {
    slot,
    type,
    get whole() {
      return whole
    },
    add: (piece) => tell(reader ? reader.push(piece) : piece),
    // Nothing that comes can belong to arguments that are a whole object.
    mayGoOn: () => isCustom || !end.isObject(),
    close(status, native) {
      const { text, value } = finish(native, status === 'completed')
      const name = isCustom ? {} : { name: head.name }
      whole = { ...shared, status, ...native, ...{ id, type, call_id: head.callId, [field]: value } }
      return (
        text + events.write(`${event}.done`, { ...place, ...name, [field]: value }) + writeDone(slot, whole)
      )
    },
  }
  return { text: writeAdded(slot, { ...shared, status: 'in_progress', [field]: '' }), item }
}

/** A call of a provider of another dialect. */
export function headOf(
  { id, name, extra }: Extract<InferenceEvent, { type: 'tool-call-start' }>,
  tools: ReadonlyMap<string, NamedTool>,
): CallHead {
  const tool = tools.get(name)
  const declared = tool?.type === 'custom' ? 'wrapped' : 'function'
  return {
    callId: id,
    name: tool?.name ?? name,
    namespace: tool?.namespace,
    form: extra?.type === 'custom' ? 'custom' : declared,
    extra: extra && restOf(extra, TYPE),
  }
}
const TYPE = new Set(['type'])

/** A call as a provider of this dialect announced it. */
export function nativeHead(native: JsonObject): CallHead {
  const { call_id, id, name, namespace, type } = native
  return {
    callId: [call_id, id].filter(isString).find((each) => each !== '') ?? newToolCallId(),
    name: textOf(name),
    namespace: isString(namespace) ? namespace : undefined,
    form: type === ITEM.customToolCall ? 'custom' : 'function',
    extra: undefined,
  }
}
