import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../values.ts'
import { type OutputItem, type Slot, textOf, writeAdded, writeDone } from './output-item.ts'
import { createInputReader, type InputReader } from './partial-input.ts'

/** A `function_call` or `custom_tool_call` item while it comes. */
export interface CallOutput extends OutputItem {
  /** A piece of the arguments, or of the free text. */
  add(piece: string): string
  /** The arguments are a whole JSON object: nothing that comes can belong to them. */
  isComplete(): boolean
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
  let whole: JsonObject | null = null

  function tell(delta: string): string {
    if (delta === '') return ''
    told += delta
    return events.write(`${event}.delta`, { ...place, delta })
  }

  /** A call without arguments has an empty object. */
  function end(native: JsonObject | undefined, isWhole: boolean): { text: string; value: string } {
    if (reader) {
      const { rest, whole: value } = reader.end()
      return { text: tell(rest), value }
    }
    const last = native === undefined ? told : textOf(native[field])
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
    isComplete: () => !isCustom && isWholeObject(told),
    close(status, native) {
      const { text, value } = end(native, status === 'completed')
      const name = isCustom ? {} : { name: head.name }
      whole = { ...shared, status, ...native, ...{ id, type, call_id: head.callId, [field]: value } }
      return (
        text + events.write(`${event}.done`, { ...place, ...name, [field]: value }) + writeDone(slot, whole)
      )
    },
  }
  return { text: writeAdded(slot, { ...shared, status: 'in_progress', [field]: '' }), item }
}

function isWholeObject(json: string): boolean {
  if (!json.trimEnd().endsWith('}')) return false
  try {
    return isObject(JSON.parse(json))
  } catch {
    return false
  }
}
