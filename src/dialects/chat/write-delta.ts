import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { addAudio, addLogprobs } from '../../core/pieces.ts'
import {
  type ChatNative,
  foreignMessage,
  reasoningTextDetail,
  typeOfCall,
  viewAnnotation,
  viewCalled,
  viewImage,
} from './write-message.ts'

/** What one upstream frame adds to one choice, as it is collected from the frame's events. */
export interface ChoiceDelta {
  readonly index: number
  text?: string
  reasoning?: string
  details?: JsonObject[]
  refusal?: string
  toolCalls?: Map<number, ToolCallDelta>
  annotations?: JsonObject[]
  images?: JsonObject[]
  audio?: JsonObject
  logprobs?: JsonObject
  native?: { readonly choice: JsonObject; readonly message: JsonObject }
}

interface ToolCallDelta {
  start?: { id: string; name: string; extra?: JsonObject }
  json: string
}

/** The state of one choice: what the stream has sent so far. */
export interface ChoiceState {
  hasRole: boolean
  /** Upstream sends its own reasoning details, so none is made from the text. */
  hasOwnDetails: boolean
  /** The type of each tool call, by its index. */
  callTypes: Map<number, string>
}

export const newChoiceState = (): ChoiceState => ({
  hasRole: false,
  hasOwnDetails: false,
  callTypes: new Map(),
})

type ChoiceEvent = Extract<InferenceEvent, { choice: number }>

export function addEvent(delta: ChoiceDelta, event: ChoiceEvent): void {
  switch (event.type) {
    case 'text-delta':
      delta.text = (delta.text ?? '') + event.text
      return
    case 'reasoning-delta':
      delta.reasoning = (delta.reasoning ?? '') + event.text
      return
    case 'reasoning-detail':
      delta.details ??= []
      delta.details.push(event.detail)
      return
    case 'refusal-delta':
      delta.refusal = (delta.refusal ?? '') + event.text
      return
    case 'tool-call-start':
      toolCallOf(delta, event.index).start = event
      return
    case 'tool-call-delta':
      toolCallOf(delta, event.index).json += event.json
      return
    case 'annotation':
      delta.annotations ??= []
      delta.annotations.push(viewAnnotation(event.annotation))
      return
    case 'image':
      delta.images ??= []
      delta.images.push(viewImage(event.url))
      return
    case 'audio-delta':
      delta.audio ??= {}
      addAudio(delta.audio, event.audio)
      return
    case 'logprobs':
      delta.logprobs ??= {}
      addLogprobs(delta.logprobs, event.logprobs)
  }
}

export function addNative(delta: ChoiceDelta, native: NonNullable<ChatNative['choices']>[number]): void {
  delta.native ??= { choice: {}, message: {} }
  Object.assign(delta.native.choice, native.choice)
  Object.assign(delta.native.message, native.message)
}

function toolCallOf(delta: ChoiceDelta, index: number): ToolCallDelta {
  delta.toolCalls ??= new Map()
  const existing = delta.toolCalls.get(index)
  if (existing) return existing
  const added: ToolCallDelta = { json: '' }
  delta.toolCalls.set(index, added)
  return added
}

/** One entry of a chunk's `choices`; undefined if it has no content. */
export function writeChoice(
  delta: ChoiceDelta,
  state: ChoiceState,
  hideReasoning: boolean,
): JsonObject | undefined {
  const foreign = foreignMessage(delta.native?.message, hideReasoning) ?? {}
  const body: JsonObject = {
    ...(hideReasoning ? {} : writeReasoning(delta, state)),
    ...(delta.refusal ? { refusal: delta.refusal } : {}),
    ...(delta.toolCalls ? { tool_calls: writeToolCalls(delta.toolCalls, state) } : {}),
    ...(delta.annotations ? { annotations: delta.annotations } : {}),
    ...(delta.images ? { images: delta.images } : {}),
    ...(delta.audio ? { audio: delta.audio } : {}),
  }
  const choiceFields = {
    ...delta.native?.choice,
    ...(delta.logprobs ? { logprobs: { refusal: null, ...delta.logprobs } } : {}),
  }
  if (!delta.text && isEmpty(foreign) && isEmpty(body) && isEmpty(choiceFields)) return undefined
  return {
    index: delta.index,
    delta: { ...foreign, ...writeHead(delta, state, body), ...body },
    finish_reason: null,
    ...withoutOwn(choiceFields),
  }
}

/** The first chunk of a choice has the role. `content` is there with text, a role or reasoning. */
function writeHead(delta: ChoiceDelta, state: ChoiceState, body: JsonObject): JsonObject {
  const role = state.hasRole ? {} : { role: 'assistant' }
  const hasContent = !state.hasRole || delta.text || 'reasoning' in body || 'reasoning_details' in body
  state.hasRole = true
  return hasContent ? { ...role, content: delta.text ?? '' } : role
}

function writeReasoning(delta: ChoiceDelta, state: ChoiceState): JsonObject {
  if (delta.details) state.hasOwnDetails = true
  const made = delta.reasoning && !state.hasOwnDetails ? [reasoningTextDetail(delta.reasoning)] : undefined
  const details = delta.details ?? made
  return {
    ...(delta.reasoning ? { reasoning: delta.reasoning } : {}),
    ...(details ? { reasoning_details: details } : {}),
  }
}

/** The first fragment of a call carries id, type and name; later ones arguments only. */
function writeToolCalls(calls: ReadonlyMap<number, ToolCallDelta>, { callTypes }: ChoiceState): JsonObject[] {
  return [...calls].map(([index, { start, json }]) => {
    if (!start) return { index, ...viewCalled(callTypes.get(index) ?? 'function', undefined, json) }
    const type = typeOfCall(start.extra)
    callTypes.set(index, type)
    return { ...start.extra, index, id: start.id, type, ...viewCalled(type, start.name, json) }
  })
}

const isEmpty = (object: JsonObject): boolean => Object.keys(object).length === 0

const withoutOwn = (fields: JsonObject): JsonObject => {
  const { index: _index, delta: _delta, message: _message, finish_reason: _finish, ...rest } = fields
  return rest
}
