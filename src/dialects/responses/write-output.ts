import type { InferenceEvent, JsonObject, ReasoningDetail, ServerToolCall } from '../../core/events.ts'
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
  type ServerToolOutput,
  type Slot,
  writeImage,
} from './write-item.ts'
import { type MessageOutput, openMessage } from './write-message.ts'
import { createNatives, type Natives, writeOwnItem } from './write-native.ts'
import {
  openReasoning,
  type ReasoningOptions,
  type ReasoningOutput,
  type ThoughtPart,
} from './write-reasoning.ts'
import { itemTypeOf, openServerTool, withoutResults } from './write-server-tool.ts'

interface OutputOptions {
  readonly events: EventWriter
  /** Unique for the reply: the ids of items that are made here end in it and their place. */
  readonly unique: string
  readonly hideReasoning: boolean
  readonly reasoning: ReasoningOptions
  /** The caller asked for the results of searches in files. */
  readonly showsResults: boolean
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
  addServerTool(call: ServerToolCall): string
  /** A complete item of the provider's own tools. */
  addOwnItem(item: JsonObject): string
  readonly natives: Natives
  /** Ends all open items. */
  close(status: ItemStatus): string
  /** The items so far; those that are open are left out. */
  items(): JsonObject[]
}

/** The open items of one reply, and those that wait. */
interface OutputState {
  readonly items: ReturnType<typeof createItems>
  readonly options: Pick<OutputOptions, 'hideReasoning' | 'reasoning' | 'showsResults'>
  message: MessageOutput | null
  reasoning: ReasoningOutput | null
  /** A call that was announced and whose start has not come. */
  announced: CallOutput | null
  image: OutputItem | null
  serverTool: ServerToolOutput | null
  /** Details that came within a message: the message continues, and they follow it. */
  late: ReasoningDetail[]
  textLength: number
}

/**
 * Items open in the order of `output_index`. An item that this writer opened closes as soon as another kind of content
 * comes; a call stays open until its arguments are complete, because some providers mix the pieces of parallel calls.
 * Items of a Responses provider open and close with that provider's events.
 */
export function createOutput({ events, tools, ...options }: OutputOptions): Output {
  const items = createItems(events, options.unique)
  const calls = new Map<number, CallOutput>()
  const state: OutputState = {
    items,
    options,
    message: null,
    reasoning: null,
    announced: null,
    image: null,
    serverTool: null,
    late: [],
    textLength: 0,
  }

  function addVisible(text: string, write: (item: MessageOutput) => string): string {
    const written = inMessage(state, write)
    state.textLength += text.length
    return written
  }

  return {
    addText: (text, logprobs) => addVisible(text, (item) => item.addText(text, logprobs)),
    spliceText(jsons, text) {
      const { message } = state
      if (!isOpen(message)) return addVisible(text, (item) => item.spliceText(jsons, text))
      state.textLength += text.length
      return message.spliceText(jsons, text)
    },
    addRefusal: (text) => inMessage(state, (item) => item.addRefusal(text)),
    addReasoning: (text, part) => inReasoning(state, (item) => item.addText(text, part)),
    addDetail(detail) {
      const { message } = state
      const isWithin = isOpen(message) && message.slot.native === null && !options.hideReasoning
      if (!isWithin) return inReasoning(state, (item) => item.addDetail(detail))
      state.late.push(detail)
      return ''
    },
    startCall(call) {
      const known = state.announced
      state.announced = null
      if (known !== null) {
        calls.set(call.index, known)
        return ''
      }
      const left = leave(state)
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
    addAnnotation: (annotation) => inMessage(state, (item) => item.addAnnotation(annotation)),
    addImage: (url) => addImage(state, url),
    addAudio: (audio) => inMessage(state, (item) => item.addAudio(audio)),
    addServerTool: (call) => addServerTool(call, state),
    addOwnItem: (item) => addOwnItem(item, state),
    natives: createNatives(events, items, (native) => announce(state, native)),
    close: (status) => items.close(status) + leave(state),
    items: () => items.all.flatMap(({ complete }) => (complete === null ? [] : [complete])),
  }
}

function inMessage(state: OutputState, add: (item: MessageOutput) => string): string {
  const { items, message } = state
  if (isOpen(message)) return add(message)
  const left = items.leave()
  const opened = items.add(openMessage(items.slotOf(ITEM.message, null), state.textLength))
  state.message = opened.item
  return left + opened.text + add(opened.item)
}

function inReasoning(state: OutputState, add: (item: ReasoningOutput) => string): string {
  const { items, options, reasoning } = state
  if (options.hideReasoning) return ''
  if (isOpen(reasoning)) return add(reasoning)
  const left = items.leave()
  const opened = items.add(openReasoning(items.slotOf(ITEM.reasoning, null), options.reasoning))
  state.reasoning = opened.item
  for (const detail of state.late) opened.item.addDetail(detail)
  state.late = []
  return left + opened.text + add(opened.item)
}

/** Ends the items that this writer opened, before an item of another kind. */
function leave(state: OutputState): string {
  const { items, late } = state
  const left = items.leave()
  return late.length === 0 ? left : left + inReasoning(state, () => '') + items.leave()
}

/** The item of a Responses provider shows its image itself. */
function addImage(state: OutputState, url: string): string {
  if (isOpen(state.image)) return ''
  const { items } = state
  const left = leave(state)
  return left + items.add(writeImage(items.slotOf(ITEM.imageGenerationCall, null), url)).text
}

function addServerTool(call: ServerToolCall, state: OutputState): string {
  const left = leave(state)
  const { items, options } = state
  if (call.status !== 'in_progress')
    return left + (state.serverTool?.finish(options.showsResults ? call : withoutResults(call)) ?? '')
  const { text, item } = items.add(openServerTool(items.slotOf(itemTypeOf(call), null), call))
  state.serverTool = item
  return left + text
}

function addOwnItem(item: JsonObject, state: OutputState): string {
  const type = textOf(item.type)
  // The image has an event of its own.
  if (type === ITEM.imageGenerationCall) return ''
  const left = leave(state)
  return left + state.items.add(writeOwnItem(state.items.slotOf(type, item), item)).text
}

function announce(state: OutputState, native: JsonObject): Opened | null {
  const type = textOf(native.type)
  if (type === ITEM.reasoning && state.options.hideReasoning) return null
  const left = leave(state)
  const { items } = state
  const { text, item } = items.add(openNative(state, type, items.slotOf(type, native), native))
  return { text: left + text, item }
}

function openNative(state: OutputState, type: string, slot: Slot, native: JsonObject): Opened {
  if (type === ITEM.message) {
    const opened = openMessage(slot, state.textLength)
    state.message = opened.item
    return opened
  }
  if (type === ITEM.reasoning) {
    const opened = openReasoning(slot, state.options.reasoning)
    state.reasoning = opened.item
    return opened
  }
  if (type === ITEM.functionCall || type === ITEM.customToolCall) {
    const opened = openCall(slot, nativeHead(native))
    state.announced = opened.item
    return opened
  }
  const opened = openPlain(slot, type)
  if (type === ITEM.imageGenerationCall) state.image = opened.item
  return opened
}
