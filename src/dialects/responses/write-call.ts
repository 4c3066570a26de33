import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { asText, isObject, isString, parseJson, restOf, textOf } from '../../core/json.ts'
import { createJsonEnd } from '../json-text.ts'
import { ITEM } from './items.ts'
import { CUSTOM_ARGUMENT, type NamedTool } from './tool-names.ts'
import { type OutputItem, type Slot, writeAdded, writeDone } from './write-item.ts'

/** A `function_call` or `custom_tool_call` item while it comes. */
export interface CallOutput extends OutputItem {
  /** A piece of the arguments, or of the free text. */
  add(piece: string): string
}

interface CallHead {
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
  /** The part of it that was written. */
  let sent = ''
  const end = createJsonEnd()
  let complete: JsonObject | null = null

  function emit(delta: string): string {
    if (delta === '') return ''
    sent += delta
    end.push(delta)
    return events.write(`${event}.delta`, { ...place, delta })
  }

  /** A call without arguments has an empty object. */
  function finish(native: JsonObject | undefined, isComplete: boolean): { text: string; value: string } {
    if (reader) {
      const { rest, complete: value } = reader.end()
      return { text: emit(rest), value }
    }
    const last = textOf(native?.[field]) || sent
    const value = last === '' && !isCustom && isComplete ? '{}' : last
    return { text: value.startsWith(sent) ? emit(value.slice(sent.length)) : '', value }
  }

  const item: CallOutput = {
    slot,
    type,
    get complete() {
      return complete
    },
    add: (piece) => emit(reader ? reader.push(piece) : piece),
    // Nothing can follow arguments that are a complete object.
    mayGoOn: () => isCustom || !end.isObject(),
    close(status, native) {
      const { text, value } = finish(native, status === 'completed')
      const name = isCustom ? {} : { name: head.name }
      complete = { ...shared, status, ...native, ...{ id, type, call_id: head.callId, [field]: value } }
      return (
        text +
        events.write(`${event}.done`, { ...place, ...name, [field]: value }) +
        writeDone(slot, complete)
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
    namespace: asText(namespace),
    form: type === ITEM.customToolCall ? 'custom' : 'function',
    extra: undefined,
  }
}

/** The free text of a custom tool out of the arguments of the function that stood for it, while they come. */
interface InputReader {
  /** A piece of the arguments → what it adds to the text. */
  push(json: string): string
  /** The missing rest, and the complete text. Arguments of another form are the text themselves. */
  end(): { rest: string; complete: string }
}

const OPENING = new RegExp(`^\\s*\\{\\s*"${CUSTOM_ARGUMENT}"\\s*:\\s*"`)
/** Ends in an escape that is not complete. */
const HALF_ESCAPE = /(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$/
const CLOSING_QUOTE = /(?<!\\)(?:\\\\)*"/

/** Where the text has not begun by then it is read at the end. */
const MAX_OPENING = 256

export function createInputReader(): InputReader {
  /** All of it, only put together at the end: to look into it at each piece would cost its square. */
  let json = ''
  /** What was not read. */
  let pending = ''
  let sent = ''
  let hasBegun = false
  let isOver = false

  function begin(): void {
    const opening = OPENING.exec(pending)
    hasBegun = opening !== null
    if (opening) pending = pending.slice(opening[0].length)
    else if (pending.length > MAX_OPENING) isOver = true
  }

  /** The JSON text of the string that may be read now. */
  function nextText(): string {
    const end = CLOSING_QUOTE.exec(pending)
    if (!end) return pending.slice(0, pending.length - (HALF_ESCAPE.exec(pending)?.[1]?.length ?? 0))
    isOver = true
    return pending.slice(0, end.index + end[0].length - 1)
  }

  return {
    push(piece) {
      json += piece
      if (isOver) return ''
      pending += piece
      if (!hasBegun) begin()
      if (!hasBegun) return ''
      const text = nextText()
      const read = parseJson(`"${text}"`)
      if (!isString(read)) return ''
      pending = pending.slice(text.length)
      sent += read
      return read
    },
    end() {
      const value = parseJson(json)
      const input = isObject(value) ? value[CUSTOM_ARGUMENT] : undefined
      const complete = isString(input) ? input : sent === '' ? json : sent
      return { rest: complete.startsWith(sent) ? complete.slice(sent.length) : '', complete }
    },
  }
}
