import type { InferenceEvent, JsonObject, ReasoningDetail } from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { isObject, isString, restOf } from '../values.ts'
import type { EventWriter } from './event-writer.ts'
import { ITEM } from './items.ts'
import { type CallOutput, openCall } from './output-call.ts'
import { type ItemStatus, type OutputItem, openPlain, type Slot, writeImage } from './output-item.ts'
import { type MessageOutput, openMessage } from './output-message.ts'
import { openReasoning, type ReasoningOutput, type ThoughtPart } from './output-reasoning.ts'
import type { NamedTool } from './tool-names.ts'

export interface OutputOptions {
  readonly events: EventWriter
  /** Unique for the reply: the ids of items that are made here end in it and their place. */
  readonly unique: string
  readonly hideReasoning: boolean
  readonly withSpecEvents: boolean
  /** The caller's tools by the names under which providers of other dialects call them. */
  readonly tools: ReadonlyMap<string, NamedTool>
}

/** The output of one reply while it comes: each method answers the events to send. */
export interface Output {
  addText(text: string, logprobs: readonly JsonObject[]): string
  /** The same from the JSON text of the string, without logprobs. */
  spliceText(json: string, text: string): string
  addRefusal(text: string): string
  addReasoning(text: string, part: ThoughtPart): string
  addDetail(detail: ReasoningDetail): string
  startCall(call: Extract<InferenceEvent, { type: 'tool-call-start' }>): string
  addToCall(index: number, piece: string): string
  addAnnotation(annotation: Extract<InferenceEvent, { type: 'annotation' }>['annotation']): string
  addImage(url: string): string
  addAudio(audio: JsonObject): string
  /** An event of a provider of this dialect. */
  addNative(event: JsonObject): string
  /** Items that nobody announced and that are whole in this event are announced first, under their own id. */
  isAnnounced(event: JsonObject): boolean
  /** Ends what is open. */
  close(status: ItemStatus): string
  /** The items so far; those that are open are left out. */
  items(): JsonObject[]
}

const PREFIXES: Readonly<Record<string, string>> = {
  [ITEM.message]: 'msg',
  [ITEM.reasoning]: 'rs',
  [ITEM.functionCall]: 'fc',
  [ITEM.customToolCall]: 'ctc',
  [ITEM.imageGenerationCall]: 'ig',
}

/**
 * Items open in the order of `output_index`. What is made here closes as soon as another kind of content comes; a
 * call stays open until its arguments are whole, because some providers mix the pieces of parallel calls. Items of
 * a provider of this dialect open and close when that provider says so.
 */
export function createOutput(options: OutputOptions): Output {
  const { events, hideReasoning, tools } = options
  const items: OutputItem[] = []
  const calls = new Map<number, CallOutput>()
  /** By upstream's `output_index`; null: hidden. */
  const natives = new Map<unknown, OutputItem | null>()
  let message: MessageOutput | null = null
  let reasoning: ReasoningOutput | null = null
  /** A call that was announced and whose start has not come. */
  let announced: CallOutput | null = null
  /** Pieces without text that came within a message: it goes on, and they follow it. */
  let late: ReasoningDetail[] = []
  let textLength = 0
  let nativeImage: OutputItem | null = null

  function slotOf(type: string, native: JsonObject | null): Slot {
    const index = items.length
    const told = isString(native?.id) ? native.id : ''
    // xAI gives several items of one reply the same id (2026); clients tell items apart by it.
    const isFree = told !== '' && items.every(({ slot }) => slot.id !== told)
    const id = isFree ? told : `${PREFIXES[type] ?? 'item'}_${options.unique}_${index}`
    return { events, index, id, native }
  }

  function open<T extends OutputItem>({ text, item }: { text: string; item: T }): { text: string; item: T } {
    items.push(item)
    return { text, item }
  }

  /** Ends what was made here, but for calls that may go on. */
  function leave(): string {
    let text = ''
    for (const item of items) {
      if (item.whole !== null || item.slot.native !== null) continue
      if ('isComplete' in item && !isCompleteCall(item)) continue
      text += item.close('completed')
    }
    if (message?.whole) message = null
    if (reasoning?.whole) reasoning = null
    return text
  }

  function inMessage(add: (item: MessageOutput) => string): string {
    if (message !== null && message.whole === null) return add(message)
    const left = leave()
    const opened = open(openMessage(slotOf(ITEM.message, null), textLength))
    message = opened.item
    return left + opened.text + add(opened.item)
  }

  function inReasoning(add: (item: ReasoningOutput) => string): string {
    if (hideReasoning) return ''
    if (reasoning !== null && reasoning.whole === null) return add(reasoning)
    const left = leave()
    const opened = open(openReasoning(slotOf(ITEM.reasoning, null), options.withSpecEvents))
    reasoning = opened.item
    for (const detail of late) opened.item.addDetail(detail)
    late = []
    return left + opened.text + add(opened.item)
  }

  function tellLate(): string {
    return late.length === 0 ? '' : inReasoning(() => '') + leave()
  }

  function announce(native: JsonObject): { text: string; item: OutputItem | null } {
    const type = isString(native.type) ? native.type : ''
    if (type === ITEM.reasoning && hideReasoning) return { text: '', item: null }
    const left = leave() + tellLate()
    const slot = slotOf(type, native)
    const opened = openNative(type, slot, native)
    return { text: left + opened.text, item: opened.item }
  }

  function openNative(type: string, slot: Slot, native: JsonObject): { text: string; item: OutputItem } {
    switch (type) {
      case ITEM.message: {
        const opened = open(openMessage(slot, textLength))
        message = opened.item
        return opened
      }
      case ITEM.reasoning: {
        const opened = open(openReasoning(slot, options.withSpecEvents))
        reasoning = opened.item
        return opened
      }
      case ITEM.functionCall:
      case ITEM.customToolCall: {
        const opened = open(openCall(slot, nativeHead(native)))
        announced = opened.item
        return opened
      }
      default: {
        const opened = open(openPlain(slot, type))
        if (type === ITEM.imageGenerationCall) nativeImage = opened.item
        return opened
      }
    }
  }

  function endNative(event: JsonObject, native: JsonObject): string {
    const known = natives.get(event.output_index)
    if (known === null) return ''
    if (known !== undefined && known.whole === null) return known.close(statusOf(native), native)
    const own = items.find(
      (item) => item.whole === null && item.slot.native === null && item.type === native.type,
    )
    if (own) return own.close(statusOf(native), native)
    const { text, item } = announce(skeletonOf(native))
    natives.set(event.output_index, item)
    return text + (item?.close(statusOf(native), native) ?? '')
  }

  /** Upstream's places become ours; an event of an item that is not shown is not shown. */
  function pass(event: JsonObject): string {
    const { type, sequence_number: _, ...fields } = event
    if (!isString(type) || type === '') return ''
    if (fields.output_index === undefined) return events.write(type, fields)
    const item = natives.get(fields.output_index)
    if (!item) return ''
    const place = { output_index: item.slot.index, ...('item_id' in fields ? { item_id: item.slot.id } : {}) }
    return events.write(type, { ...fields, ...place })
  }

  return {
    addText: (text, logprobs) => {
      const written = inMessage((item) => item.addText(text, logprobs))
      textLength += text.length
      return written
    },
    spliceText: (json, text) => {
      const written = inMessage((item) => item.spliceText(json, text))
      textLength += text.length
      return written
    },
    addRefusal: (text) => inMessage((item) => item.addRefusal(text)),
    addReasoning: (text, part) => inReasoning((item) => item.addText(text, part)),
    addDetail(detail) {
      const isWithin = message !== null && message.whole === null && message.slot.native === null
      if (!isWithin || hideReasoning) return inReasoning((item) => item.addDetail(detail))
      late.push(detail)
      return ''
    },
    startCall(call) {
      if (announced !== null) {
        calls.set(call.index, announced)
        announced = null
        return ''
      }
      const left = leave() + tellLate()
      const head = headOf(call, tools)
      const type = head.form === 'function' ? ITEM.functionCall : ITEM.customToolCall
      const opened = open(openCall(slotOf(type, null), head))
      calls.set(call.index, opened.item)
      return left + opened.text
    },
    addToCall(index, piece) {
      const call = calls.get(index)
      return call === undefined || call.whole !== null ? '' : call.add(piece)
    },
    addAnnotation: (annotation) => inMessage((item) => item.addAnnotation(annotation)),
    addImage(url) {
      // The item of a provider of this dialect shows it itself.
      if (nativeImage !== null && nativeImage.whole === null) return ''
      const left = leave() + tellLate()
      return left + open(writeImage(slotOf(ITEM.imageGenerationCall, null), url)).text
    },
    addAudio: (audio) => inMessage((item) => item.addAudio(audio)),
    addNative(event) {
      const { type, item: native, output_index } = event
      if (type === 'response.output_item.added' && isObject(native)) {
        const { text, item } = announce(native)
        natives.set(output_index, item)
        return text
      }
      if (type === 'response.output_item.done' && isObject(native)) return endNative(event, native)
      return pass(event)
    },
    isAnnounced: ({ output_index, item: native }) =>
      natives.has(output_index) ||
      items.some(
        (item) =>
          item.whole === null && item.slot.native === null && isObject(native) && item.type === native.type,
      ),
    close(status) {
      let text = ''
      for (const item of items) if (item.whole === null) text += item.close(status)
      return text + tellLate()
    },
    items: () => items.flatMap(({ whole }) => (whole === null ? [] : [whole])),
  }
}

const isCompleteCall = (item: OutputItem & { isComplete: unknown }): boolean =>
  typeof item.isComplete === 'function' && item.isComplete() === true

const statusOf = ({ status }: JsonObject): ItemStatus =>
  status === 'incomplete' ? 'incomplete' : 'completed'

function headOf(
  { id, name, extra }: Extract<InferenceEvent, { type: 'tool-call-start' }>,
  tools: ReadonlyMap<string, NamedTool>,
) {
  const tool = tools.get(name)
  const isFreeText = extra?.type === 'custom'
  return {
    callId: id,
    name: tool?.name ?? name,
    namespace: tool?.namespace,
    form: isFreeText
      ? ('custom' as const)
      : tool?.type === 'custom'
        ? ('wrapped' as const)
        : ('function' as const),
    extra: extra && restOf(extra, TYPE),
  }
}
const TYPE = new Set(['type'])

function nativeHead(native: JsonObject) {
  const { call_id, id, name, namespace, type } = native
  return {
    callId: [call_id, id].filter(isString).find((each) => each !== '') ?? newToolCallId(),
    name: isString(name) ? name : '',
    namespace: isString(namespace) ? namespace : undefined,
    form: type === ITEM.customToolCall ? ('custom' as const) : ('function' as const),
    extra: undefined,
  }
}

/** A whole item as it would have been announced. */
export function skeletonOf(item: JsonObject): JsonObject {
  const announced: JsonObject = { ...item, status: 'in_progress' }
  for (const name of CONTENT) delete announced[name]
  return announced
}
const CONTENT = [
  'content',
  'summary',
  'encrypted_content',
  'signature',
  'arguments',
  'input',
  'result',
  'action',
  'outputs',
]
