import type { Finish, InferenceEvent, JsonObject } from '../../core/events.ts'
import { asFilledText, asText, isObject, isString, isText, restOf, textOfPart } from '../../core/json.ts'
import { defaultReason, finishReasonOf } from '../finish.ts'
import { createToolCalls, type ToolCalls } from './decode-calls.ts'
import { type Citations, readLogprobs } from './decode-details.ts'

/** The state of one choice between chunks. */
export interface ChoiceState {
  readonly index: number
  /** Null until one comes. */
  calls: ToolCalls | null
  readonly citations: Citations
  /** The provider's own word, once it gave one. */
  finishReason: string | null
  nativeFinishReason: string | null
  hasContent: boolean
  /** Unknown fields that came as null: emitted once. */
  nulls: Set<string> | null
}

export const newChoice = (index: number, citations: Citations): ChoiceState => ({
  index,
  calls: null,
  citations,
  finishReason: null,
  nativeFinishReason: null,
  hasContent: false,
  nulls: null,
})

export function finishOf(choice: ChoiceState): Finish {
  const { finishReason } = choice
  const hasCalls = choice.calls?.has() ?? false
  return {
    choice: choice.index,
    reason: finishReason === null ? defaultReason(hasCalls) : finishReasonOf(finishReason, hasCalls),
    native: choice.nativeFinishReason ?? finishReason,
  }
}

/** Fields of a delta or message that are read here; the others are forwarded unchanged. */
const KNOWN_MESSAGE: ReadonlySet<string> = new Set([
  'index', // Mistral repeats the choice's index here.
  'role',
  'content',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'refusal',
  'tool_calls',
  'function_call',
  'annotations',
  'images',
  'audio',
])

const KNOWN_CHOICE: ReadonlySet<string> = new Set([
  'index',
  'delta',
  'message',
  'finish_reason',
  'native_finish_reason',
  'logprobs',
  'error',
  'usage', // Moonshot's place for it.
])

export interface ChoiceNative {
  index: number
  choice?: JsonObject
  message?: JsonObject
}

/** Reads one entry of `choices` into events; returns the unknown fields. */
export function readChoice(
  raw: JsonObject,
  state: ChoiceState,
  isBody: boolean,
  events: InferenceEvent[],
): ChoiceNative | undefined {
  const message = messageOf(raw, state, isBody)
  const choiceRest = restOf(raw, KNOWN_CHOICE)
  let messageRest: JsonObject | undefined
  if (message) {
    const leftOver = readMessage(message, state, isBody, events)
    messageRest = restOf(message, KNOWN_MESSAGE)
    if (leftOver) messageRest = { ...messageRest, ...leftOver }
  }
  readLogprobs(raw['logprobs'], message?.['content'], state.index, events)
  readFinish(raw, state)
  const choice = choiceRest && (isBody ? choiceRest : withoutRepeatedNulls(choiceRest, 'choice', state))
  const rest = messageRest && (isBody ? messageRest : withoutRepeatedNulls(messageRest, 'message', state))
  if (!choice && !rest) return undefined
  return { index: state.index, ...(choice ? { choice } : {}), ...(rest ? { message: rest } : {}) }
}

/**
 * Perplexity sends both: in a stream `message` is the complete text so far beside the `delta`, in a unary body the
 * `delta` is an empty relic. A stream of one complete message (no `delta`) is read as one.
 */
function messageOf(raw: JsonObject, state: ChoiceState, isBody: boolean): JsonObject | undefined {
  const { delta, message } = raw
  if (isBody && isObject(message)) return message
  if (isObject(delta)) return delta
  return isObject(message) && !state.hasContent ? message : undefined
}

function callsOf(state: ChoiceState): ToolCalls {
  state.calls ??= createToolCalls(state.index)
  return state.calls
}

/** Returns fields that must be forwarded although their names are known. */
function readMessage(
  message: JsonObject,
  state: ChoiceState,
  isBody: boolean,
  events: InferenceEvent[],
): JsonObject | undefined {
  const before = events.length
  const choice = state.index
  const { content } = message
  readReasoning(message, choice, events)
  const unknownParts = Array.isArray(content) ? readParts(content, choice, events) : NONE
  if (isString(content) && content !== '') events.push({ type: 'text-delta', choice, text: content })
  if (isString(message['refusal']) && message['refusal'] !== '') {
    events.push({ type: 'refusal-delta', choice, text: message['refusal'] })
  }
  const calls = message['tool_calls']
  if (Array.isArray(calls)) {
    if (isBody) callsOf(state).addComplete(calls, events)
    else callsOf(state).addFragments(calls, events)
  }
  const legacy = message['function_call']
  const hasLegacy = isObject(legacy) && (isText(legacy['name']) || isText(legacy['arguments']))
  if (hasLegacy) callsOf(state).addLegacy(legacy, events)
  readMedia(message, choice, events)
  if (Array.isArray(message['annotations'])) {
    state.citations.addAnnotations(choice, message['annotations'], events)
  }
  if (events.length > before) state.hasContent = true
  if (!hasLegacy && unknownParts.length === 0) return undefined
  return {
    // Callers of the first API know no `tool_calls`.
    ...(hasLegacy ? { function_call: legacy } : {}),
    ...(unknownParts.length > 0 ? { content_parts: unknownParts } : {}),
  }
}

/** `reasoning` and `reasoning_content` are two names of one thing: where both come they are equal. */
function readReasoning(message: JsonObject, choice: number, events: InferenceEvent[]): void {
  const { reasoning, reasoning_content, reasoning_details } = message
  const text = asFilledText(reasoning) ?? asText(reasoning_content) ?? ''
  if (text !== '') events.push({ type: 'reasoning-delta', choice, text })
  if (!Array.isArray(reasoning_details)) return
  for (const detail of reasoning_details) {
    if (!isObject(detail) || !isString(detail['type'])) continue
    events.push({ type: 'reasoning-detail', choice, detail: { ...detail, type: detail['type'] } })
  }
}

const NONE: readonly unknown[] = []

/** Returns the parts of unknown types. */
function readParts(content: readonly unknown[], choice: number, events: InferenceEvent[]): unknown[] {
  const unknownParts: unknown[] = []
  for (const part of content) {
    if (!readPart(part, choice, events)) unknownParts.push(part)
  }
  return unknownParts
}

/** Mistral's content becomes a list of parts when the model thinks. False for a part of an unknown type. */
function readPart(part: unknown, choice: number, events: InferenceEvent[]): boolean {
  if (isString(part)) {
    if (part !== '') events.push({ type: 'text-delta', choice, text: part })
    return true
  }
  if (!isObject(part)) return part === null
  const { text, thinking, image_url, refusal } = part
  if (part['type'] === 'thinking' && (isString(thinking) || Array.isArray(thinking))) {
    const thought = isString(thinking) ? thinking : thinking.map(textOfPart).join('')
    if (thought !== '') events.push({ type: 'reasoning-delta', choice, text: thought })
    return true
  }
  if ((part['type'] === 'text' || part['type'] === 'output_text') && isString(text)) {
    if (text !== '') events.push({ type: 'text-delta', choice, text })
    return true
  }
  if (part['type'] === 'refusal' && isString(refusal)) {
    if (refusal !== '') events.push({ type: 'refusal-delta', choice, text: refusal })
    return true
  }
  const url = urlOf(image_url)
  if (part['type'] === 'image_url' && url !== undefined) {
    events.push({ type: 'image', choice, url })
    return true
  }
  return false
}

function readMedia(message: JsonObject, choice: number, events: InferenceEvent[]): void {
  const { images, audio } = message
  if (Array.isArray(images)) {
    for (const image of images) {
      const url = isObject(image) ? (urlOf(image['image_url']) ?? urlOf(image)) : urlOf(image)
      if (url !== undefined) events.push({ type: 'image', choice, url })
    }
  }
  // Snowflake pads messages with an audio object of empty fields.
  if (isObject(audio) && Object.values(audio).some(Boolean))
    events.push({ type: 'audio-delta', choice, audio })
}

/** The first reason counts: OpenRouter repeats it on its usage chunk. Snowflake's '' does not count. */
function readFinish(raw: JsonObject, state: ChoiceState): void {
  const { finish_reason, native_finish_reason } = raw
  if (isText(finish_reason)) state.finishReason ??= finish_reason
  if (isText(native_finish_reason)) state.nativeFinishReason ??= native_finish_reason
}

/** Fields that are remembered; others are emitted each time. */
export const MOST_REPORTED = 100

function withoutRepeatedNulls(rest: JsonObject, place: string, state: ChoiceState): JsonObject | undefined {
  let kept: [string, unknown][] | undefined
  for (const [key, value] of Object.entries(rest)) {
    if (value === null) {
      const reported = `${place}.${key}`
      state.nulls ??= new Set()
      if (state.nulls.has(reported)) continue
      if (state.nulls.size < MOST_REPORTED) state.nulls.add(reported)
    }
    kept ??= []
    kept.push([key, value])
  }
  return kept && Object.fromEntries(kept)
}

const urlOf = (value: unknown): string | undefined => {
  const url = isObject(value) ? value['url'] : value
  return asFilledText(url)
}
