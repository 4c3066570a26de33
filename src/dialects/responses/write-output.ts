import type { InferenceEvent, JsonObject, ReasoningDetail } from '../../core/events.ts'
import { textOf } from '../../core/json.ts'
import { ITEM } from './items.ts'
import type { NamedTool } from './tool-names.ts'
import { type CallOutput, headOf, nativeHead, openCall } from './write-call.ts'
import type { EventWriter } from './write-events.ts'
import {
  createItems,
  type ItemStatus,
  isOpen,
  type Opened,
  type OutputItem,
  openPlain,
  type Slot,
  writeImage,
} from './write-item.ts'
import { type MessageOutput, openMessage } from './write-message.ts'
import { createNatives, type Natives } from './write-native.ts'
import {
  openReasoning,
  type ReasoningOptions,
  type ReasoningOutput,
  type ThoughtPart,
} from './write-reasoning.ts'

interface OutputOptions {
  readonly events: EventWriter
  /** Unique for the reply: the ids of items that are made here end in it and their place. */
  readonly unique: string
  readonly hideReasoning: boolean
  readonly reasoning: ReasoningOptions
  /** The caller's tools by the names under which providers of other dialects call them. */
  readonly tools: ReadonlyMap<string, NamedTool>
}

/** The output of one reply while it comes: each method answers the events to send. */
export interface Output {
  addText(text: string, logprobs: readonly JsonObject[]): string
  /** The same from the JSON texts of its pieces, without logprobs. */
  spliceText(jsons: readonly string[], text: string): string
  addRefusal(text: string): string
  addReasoning(text: string, part: Partial<ThoughtPart>): string
  addDetail(detail: ReasoningDetail): string
  startCall(call: Extract<InferenceEvent, { type: 'tool-call-start' }>): string
  addToCall(index: number, piece: string): string
  addAnnotation(annotation: Extract<InferenceEvent, { type: 'annotation' }>['annotation']): string
  addImage(url: string): string
  addAudio(audio: JsonObject): string
  readonly natives: Natives
  /** Ends what is open. */
  close(status: ItemStatus): string
  /** The items so far; those that are open are left out. */
  items(): JsonObject[]
}

/**
 * Items open in the order of `output_index`. What is made here closes as soon as another kind of content comes; a
 * call stays open until its arguments are complete, because some providers mix the pieces of parallel calls. Items of
 * a Responses provider open and close with that provider's events.
 */
export function createOutput({ events, hideReasoning, tools, ...options }: OutputOptions): Output {
  const items = createItems(events, options.unique)
  const calls = new Map<number, CallOutput>()
  let message: MessageOutput | null = null
  let reasoning: ReasoningOutput | null = null
  /** A call that was announced and whose start has not come. */
  let announced: CallOutput | null = null
  let image: OutputItem | null = null
  /** Pieces without text that came within a message: it goes on, and they follow it. */
  let late: ReasoningDetail[] = []
  let textLength = 0

  function inMessage(add: (item: MessageOutput) => string): string {
    if (isOpen(message)) return add(message)
    const left = items.leave()
    const opened = items.add(openMessage(items.slotOf(ITEM.message, null), textLength))
    message = opened.item
    return left + opened.text + add(opened.item)
  }

  function inReasoning(add: (item: ReasoningOutput) => string): string {
    if (hideReasoning) return ''
    if (isOpen(reasoning)) return add(reasoning)
    const left = items.leave()
    const opened = items.add(openReasoning(items.slotOf(ITEM.reasoning, null), options.reasoning))
    reasoning = opened.item
    for (const detail of late) opened.item.addDetail(detail)
    late = []
    return left + opened.text + add(opened.item)
  }

  /** Ends what was made here, before an item of another kind. */
  function leave(): string {
    const left = items.leave()
    return late.length === 0 ? left : left + inReasoning(() => '') + items.leave()
  }

  function announce(native: JsonObject): Opened | null {
    const type = textOf(native.type)
    if (type === ITEM.reasoning && hideReasoning) return null
    const left = leave()
    const { text, item } = items.add(openNative(type, items.slotOf(type, native), native))
    return { text: left + text, item }
  }

  function openNative(type: string, slot: Slot, native: JsonObject): Opened {
    if (type === ITEM.message) {
      const opened = openMessage(slot, textLength)
      message = opened.item
      return opened
    }
    if (type === ITEM.reasoning) {
      const opened = openReasoning(slot, options.reasoning)
      reasoning = opened.item
      return opened
    }
    if (type === ITEM.functionCall || type === ITEM.customToolCall) {
      const opened = openCall(slot, nativeHead(native))
      announced = opened.item
      return opened
    }
    const opened = openPlain(slot, type)
    if (type === ITEM.imageGenerationCall) image = opened.item
    return opened
  }

  function addVisible(text: string, write: (item: MessageOutput) => string): string {
    const written = inMessage(write)
    textLength += text.length
    return written
  }

  return {
    addText: (text, logprobs) => addVisible(text, (item) => item.addText(text, logprobs)),
    spliceText(jsons, text) {
      if (!isOpen(message)) return addVisible(text, (item) => item.spliceText(jsons, text))
      textLength += text.length
      return message.spliceText(jsons, text)
    },
    addRefusal: (text) => inMessage((item) => item.addRefusal(text)),
    addReasoning: (text, part) => inReasoning((item) => item.addText(text, part)),
    addDetail(detail) {
      const isWithin = isOpen(message) && message.slot.native === null && !hideReasoning
      if (!isWithin) return inReasoning((item) => item.addDetail(detail))
      late.push(detail)
      return ''
    },
    startCall(call) {
      const known = announced
      announced = null
      if (known !== null) {
        calls.set(call.index, known)
        return ''
      }
      const left = leave()
      const head = headOf(call, tools)
      const type = head.form === 'function' ? ITEM.functionCall : ITEM.customToolCall
      const { text, item } = items.add(openCall(items.slotOf(type, null), head))
      calls.set(call.index, item)
      return left + text
    },
    addToCall(index, piece) {
      const call = calls.get(index) ?? null
      if (!isOpen(call)) return ''
      items.touch(call)
      return call.add(piece)
    },
    addAnnotation: (annotation) => inMessage((item) => item.addAnnotation(annotation)),
    addImage(url) {
      // The item of a provider of this dialect shows it itself.
      if (isOpen(image)) return ''
      const left = leave()
      return left + items.add(writeImage(items.slotOf(ITEM.imageGenerationCall, null), url)).text
    },
    addAudio: (audio) => inMessage((item) => item.addAudio(audio)),
    natives: createNatives(events, items, announce),
    close: (status) => items.close(status) + leave(),
    items: () => items.all.flatMap(({ whole }) => (whole === null ? [] : [whole])),
  }
}
