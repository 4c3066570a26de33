import { UpstreamError } from '../../core/errors.ts'
import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { asList, isObject, isString, isText, restOf } from '../../core/json.ts'
import { ownPiece } from '../own-pieces.ts'
import { checkCalls } from '../reply-decoder.ts'
import {
  addAnnotation,
  addLogprobs,
  addRest,
  detailOf,
  firstContentOf,
  newParts,
  type PartKind,
  type Parts,
  partAt,
  type Reply,
} from './decode-parts.ts'
import { ITEM, isOwnItem, sharedFields } from './items.ts'

/** One item of the output, while it comes. */
export interface Item {
  readonly type: unknown
  readonly id: unknown
  readonly parts: Parts
  readonly call: Call
  isDone: boolean
}

interface Call {
  /** Index among the tool calls; undefined until the start is emitted, which has id and name and precedes arguments. */
  index: number | undefined
  /** Arguments that came before the start was emitted. */
  json: string
  /** UTF-16 units of them that came so far. */
  length: number
}

export const newItem = (raw: JsonObject): Item => ({
  type: raw['type'],
  id: raw['id'],
  parts: newParts(raw),
  call: { index: undefined, json: '', length: 0 },
  isDone: false,
})

/** `custom_tool_call` has free text, `function_call` JSON. */
const isCall = (raw: JsonObject): boolean =>
  raw['type'] === ITEM.functionCall || raw['type'] === ITEM.customToolCall

/** An added item: only a call has content by then, its name. Other content comes in events, and when it is done. */
export function startItem(raw: JsonObject, item: Item, reply: Reply, events: InferenceEvent[]): void {
  if (isCall(raw) && isText(raw['name'])) startCall(raw, item.call, reply, events)
}

/**
 * Emits the content of a complete item that no earlier event had:
 *
 * | item | events |
 * |---|---|
 * | `message` | text and refusal deltas, annotations, logprobs |
 * | `reasoning` | reasoning deltas; details `reasoning.summary`, `.text`, `.encrypted` |
 * | `function_call`, `custom_tool_call` | a tool call; `extra.type` of the latter is `custom` |
 * | `image_generation_call` | an image, as a data URL |
 *
 * `wasTruncated`: the reply ended inside the item, so incomplete arguments stay incomplete.
 */
export function finishItem(
  raw: JsonObject,
  item: Item,
  wasTruncated: boolean,
  reply: Reply,
  events: InferenceEvent[],
): void {
  item.isDone = true
  if (raw['type'] === ITEM.message) finishMessage(raw, item.parts, reply, events)
  if (raw['type'] === ITEM.reasoning) finishReasoning(raw, item.parts, reply, events)
  if (isCall(raw)) finishCall(raw, item.call, wasTruncated || raw['status'] === 'incomplete', reply, events)
  if (raw['type'] === ITEM.imageGenerationCall) addImage(raw, events)
  if (raw['type'] === ITEM.webSearchCall && isSearch(raw)) reply.searches++
  if (isOwnItem(raw)) events.push(ownPiece('responses', raw))
}

/** Opening a search result is not a search. */
const isSearch = ({ action }: JsonObject): boolean =>
  !isObject(action) || action['type'] === undefined || action['type'] === 'search'

function finishMessage({ content }: JsonObject, parts: Parts, reply: Reply, events: InferenceEvent[]): void {
  if (isString(content)) {
    addRest(partAt('text', firstContentOf(parts, 1), parts, reply), content, parts, reply, events)
  }
  if (!Array.isArray(content)) return
  const first = firstContentOf(parts, content.length)
  for (const [index, part] of content.entries()) finishPart(part, first + index, parts, reply, events)
}

/** A complete part of an item's content. */
export function finishPart(
  raw: unknown,
  index: unknown,
  parts: Parts,
  reply: Reply,
  events: InferenceEvent[],
): void {
  if (!isObject(raw)) return
  const kind = KINDS[String(raw['type'])]
  if (kind === undefined) return
  const part = partAt(kind, index, parts, reply)
  addRest(part, kind === 'refusal' ? raw['refusal'] : raw['text'], parts, reply, events)
  addLogprobs(part, raw['logprobs'], true, events)
  const annotations = asList(raw['annotations'])
  for (const annotation of annotations) addAnnotation(part, annotation, events)
}

const KINDS: Readonly<Record<string, PartKind>> = {
  output_text: 'text',
  text: 'text',
  refusal: 'refusal',
  summary_text: 'summary',
  reasoning_text: 'thought',
}

function finishReasoning(raw: JsonObject, parts: Parts, reply: Reply, events: InferenceEvent[]): void {
  parts.shared = { ...parts.shared, ...sharedFields(raw) }
  addThoughts('summary', raw['summary'], parts, reply, events)
  addThoughts('thought', raw['content'], parts, reply, events)
  const { signature, encrypted_content } = raw
  if (isText(signature)) {
    const last = [...parts.byName.values()].findLast(({ kind }) => kind === 'thought')
    const index = last?.index ?? reply.thoughts++
    events.push(detailOf({ type: 'reasoning.text', signature, ...parts.shared, index }))
  }
  if (isText(encrypted_content)) {
    const index = reply.thoughts++
    events.push(detailOf({ type: 'reasoning.encrypted', data: encrypted_content, ...parts.shared, index }))
  }
}

/** Parts of a summary are objects, and bare strings at some servers. */
function addThoughts(
  kind: PartKind,
  texts: unknown,
  parts: Parts,
  reply: Reply,
  events: InferenceEvent[],
): void {
  if (!Array.isArray(texts)) return
  const first = kind === 'summary' ? 0 : firstContentOf(parts, texts.length)
  for (const [index, raw] of texts.entries()) {
    const text: unknown = isObject(raw) ? raw['text'] : raw
    if (isText(text)) addRest(partAt(kind, first + index, parts, reply), text, parts, reply, events)
  }
}

const CALL_FIELDS = new Set(['id', 'type', 'status', 'call_id', 'name', 'arguments', 'input'])

function startCall(raw: JsonObject, call: Call, reply: Reply, events: InferenceEvent[]): void {
  if (call.index !== undefined) return
  checkCalls(reply.calls)
  call.index = reply.calls++
  const rest = restOf(raw, CALL_FIELDS)
  const extra = raw['type'] === ITEM.customToolCall ? { ...rest, type: 'custom' } : rest
  events.push({
    type: 'tool-call-start',
    choice: 0,
    index: call.index,
    id: [raw['call_id'], raw['id']].find(isText) ?? newToolCallId(),
    name: String(raw['name']),
    ...(extra ? { extra } : {}),
  })
  if (call.json !== '') emitArguments(call.index, call.json, events)
}

/** A piece of a call's arguments. */
export function addArguments(call: Call, json: unknown, events: InferenceEvent[]): void {
  if (!isText(json)) return
  call.length += json.length
  if (call.index === undefined) call.json += json
  else emitArguments(call.index, json, events)
}

/** Complete arguments, after their pieces or in their place. */
export function completeArguments(call: Call, complete: unknown, events: InferenceEvent[]): void {
  if (isString(complete)) addArguments(call, complete.slice(call.length), events)
}

const emitArguments = (index: number, json: string, events: InferenceEvent[]): void => {
  events.push({ type: 'tool-call-delta', choice: 0, index, json })
}

function finishCall(
  raw: JsonObject,
  call: Call,
  wasTruncated: boolean,
  reply: Reply,
  events: InferenceEvent[],
): void {
  if (!isText(raw['name']) && call.index === undefined) {
    throw new UpstreamError('malformed', 'a tool call of the reply has no name')
  }
  startCall(raw, call, reply, events)
  const isCustom = raw['type'] === ITEM.customToolCall
  const last = isCustom ? raw['input'] : raw['arguments']
  completeArguments(call, isObject(last) ? JSON.stringify(last) : last, events)
  if (call.length === 0 && !isCustom && !wasTruncated) addArguments(call, '{}', events)
}

/** The first letters of base64 by the kind of image, for providers that do not name it. */
const FORMATS = { '/9j/': 'jpeg', UklGR: 'webp', R0lGOD: 'gif' } as const

function addImage({ result, output_format }: JsonObject, events: InferenceEvent[]): void {
  if (!isText(result)) return
  const isUrl = /^(https?|data):/.test(result)
  const known = Object.entries(FORMATS).find(([start]) => result.startsWith(start))?.[1]
  const format = isText(output_format) ? output_format : (known ?? 'png')
  events.push({ type: 'image', choice: 0, url: isUrl ? result : `data:image/${format};base64,${result}` })
}
