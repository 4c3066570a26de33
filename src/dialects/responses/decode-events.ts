import { UpstreamError } from '../../core/errors.ts'
import type { Finish, InferenceEvent, JsonObject } from '../../core/events.ts'
import { asFilledText, asList, asObject, asText, isObject, isString, textOf } from '../../core/json.ts'
import { newProgress, type ReplyProgress } from '../event-decoder.ts'
import { defaultReason, finishReasonOf } from '../finish.ts'
import { checkItems } from '../reply-decoder.ts'
import {
  addArguments,
  completeArguments,
  finishItem,
  finishPart,
  type Item,
  newItem,
  startItem,
} from './decode-items.ts'
import {
  addAnnotation,
  addLogprobs,
  addPiece,
  addRepeated,
  addRest,
  newReply,
  type Part,
  type PartKind,
  partAt,
  type Reply,
} from './decode-parts.ts'
import { failureOf } from './errors.ts'
import { type ResponsesNative, shownOf } from './items.ts'
import { readUsage } from './usage.ts'

/** The state of one response between its events. */
export interface ResponseState extends ReplyProgress {
  readonly reply: Reply
  /** By `output_index`: some servers give an item another id in each event (GitHub Copilot, 2026). */
  readonly items: Map<unknown, Item>
  hasUsage: boolean
  finish: Finish | null
  /** Of the last delta of visible text. */
  textPart: Part | null
}

export const newResponse = (status: number): ResponseState => ({
  ...newProgress(status),
  reply: newReply(),
  items: new Map(),
  hasUsage: false,
  finish: null,
  textPart: null,
})

/** Deltas and complete texts of parts, by the middle of their event's name: `response.output_text.delta`. */
const PARTS: Readonly<Record<string, { kind: PartKind; index: string; complete: string }>> = {
  output_text: { kind: 'text', index: 'content_index', complete: 'text' },
  refusal: { kind: 'refusal', index: 'content_index', complete: 'refusal' },
  reasoning_text: { kind: 'thought', index: 'content_index', complete: 'text' },
  reasoning_summary_text: { kind: 'summary', index: 'summary_index', complete: 'text' },
}

/** Events without content: OpenAI and its relays send them in long silences. */
const SILENT = new Set(['keepalive', 'ping'])

/**
 * Reads one event of a stream.
 *
 * | event | becomes |
 * |---|---|
 * | `response.created`, `.queued`, `.in_progress` | response-start (the first of them) |
 * | `response.output_item.added`, `.done` | `native`; the parts of the item that no delta had (`decode-items.ts`) |
 * | `….delta` of text, refusal, reasoning, arguments, input | the delta of that kind |
 * | `….done` of the same, and of parts | what the deltas left out |
 * | `response.output_text.annotation.added` | annotation |
 * | `response.completed`, `.incomplete` | usage and the finish |
 * | `response.failed`, `error` | a failure |
 * | any other | `native` |
 */
export function readEvent(event: JsonObject, state: ResponseState, events: InferenceEvent[]): void {
  const type = textOf(event['type'])
  const { subject, step } = partsOf(type)
  const part = Object.hasOwn(PARTS, subject) ? PARTS[subject] : undefined
  if (part && (step === 'delta' || step === 'done')) {
    readText(event, part, step === 'done', state, events)
  } else if (isObject(event['response'])) {
    readProgress(event, event['response'], subject, state, events)
  } else if (type === 'error') {
    state.failure = failureOf(asObject(event['error']) ?? event, state.status)
  } else if (!SILENT.has(type)) {
    readStep(event, `${subject}.${step}`, state, events)
  }
}

/** `response.output_text.delta` → `output_text`, `delta`; `response.completed` → `completed` and nothing. */
function partsOf(type: string): { subject: string; step: string } {
  if (!type.startsWith(PREFIX)) return { subject: '', step: '' }
  const dot = type.indexOf('.', PREFIX.length)
  return dot === -1
    ? { subject: type.slice(PREFIX.length), step: '' }
    : { subject: type.slice(PREFIX.length, dot), step: type.slice(dot + 1) }
}
const PREFIX = 'response.'

/** Reads a complete response. */
export function readResponse(response: JsonObject, state: ResponseState, events: InferenceEvent[]): void {
  emitStart(response, state, events)
  endResponse(response, {}, state, events)
}

function readText(
  event: JsonObject,
  { kind, index, complete }: (typeof PARTS)[string],
  isComplete: boolean,
  state: ResponseState,
  events: InferenceEvent[],
): void {
  const { items, reply } = state
  const { parts } = itemAt(event, kind === 'text' || kind === 'refusal' ? 'message' : 'reasoning', items)
  const part = partAt(kind, event[index], parts, reply)
  if (isComplete) addRest(part, event[complete], parts, reply, events)
  else addPiece(part, event['delta'], parts, reply, events)
  addLogprobs(part, event['logprobs'], isComplete, events)
  if (kind === 'text') state.textPart = part
}

/** The item of an event; created if the server did not announce it. */
function itemAt(event: JsonObject, type: string, items: ResponseState['items']): Item {
  const at = event['output_index']
  const item = items.get(at) ?? newItem({ type, id: event['item_id'] })
  checkItems(items.size)
  items.set(at, item)
  return item
}

function readStep(event: JsonObject, step: string, state: ResponseState, events: InferenceEvent[]): void {
  const { items, reply } = state
  switch (step) {
    case 'output_item.added':
    case 'output_item.done':
      readItem(event, step === 'output_item.done', state, events)
      return
    case 'content_part.added':
    case 'content_part.done':
    case 'reasoning_summary_part.added':
    case 'reasoning_summary_part.done': {
      const isSummary = step.startsWith('reasoning')
      const { parts } = itemAt(event, isSummary ? 'reasoning' : 'message', items)
      finishPart(event['part'], event[isSummary ? 'summary_index' : 'content_index'], parts, reply, events)
      return
    }
    case 'output_text.annotation.added': {
      const { parts } = itemAt(event, 'message', items)
      addAnnotation(partAt('text', event['content_index'], parts, reply), event['annotation'], events)
      return
    }
    case 'reasoning.delta':
      addRepeated(event['delta'], itemAt(event, 'reasoning', items).parts, events)
      return
    case 'reasoning.done':
      return
    case 'function_call_arguments.delta':
    case 'custom_tool_call_input.delta':
      addArguments(itemAt(event, 'function_call', items).call, event['delta'], events)
      return
    case 'function_call_arguments.done':
      completeArguments(itemAt(event, 'function_call', items).call, event['arguments'], events)
      return
    case 'custom_tool_call_input.done':
      completeArguments(itemAt(event, 'custom_tool_call', items).call, event['input'], events)
      return
    default:
      emitNative({ event }, events)
  }
}

function readItem(event: JsonObject, isDone: boolean, state: ResponseState, events: InferenceEvent[]): void {
  const { item: raw, output_index: at } = event
  if (!isObject(raw)) return
  const { items, reply } = state
  const former = items.get(at)
  const item = former && (isDone || !former.isDone) ? former : newItem(raw)
  checkItems(items.size)
  items.set(at, item)
  if (isDone) finishItem(raw, item, false, reply, events)
  emitNative({ event }, events)
  if (!isDone) startItem(raw, item, reply, events)
}

/** An event that contains the response object. */
function readProgress(
  event: JsonObject,
  response: JsonObject,
  subject: string,
  state: ResponseState,
  events: InferenceEvent[],
): void {
  emitStart(response, state, events)
  if (subject === 'created' || subject === 'in_progress' || subject === 'queued') return
  // The event's name decides how the response ended, whatever its status field is.
  endResponse(ENDS.has(subject) ? { ...response, status: subject } : response, event, state, events)
}

const ENDS = new Set(['completed', 'incomplete', 'failed', 'cancelled'])

function emitStart(response: JsonObject, state: ResponseState, events: InferenceEvent[]): void {
  if (state.hasStarted) return
  state.hasStarted = true
  const { id, model, created_at } = response
  events.push({
    type: 'response-start',
    upstreamId: asFilledText(id) ?? null,
    model: asFilledText(model) ?? null,
    created: typeof created_at === 'number' ? Math.floor(created_at) : null,
  })
  if (!isOver(response['status'])) emitNative({ response: shownOf(response, {}) }, events)
}

const isOver = (status: unknown): boolean => status !== 'in_progress' && status !== 'queued'

function endResponse(
  response: JsonObject,
  event: JsonObject,
  state: ResponseState,
  events: InferenceEvent[],
): void {
  const { status, error } = response
  if (!isOver(status)) return
  const isFailed = status === 'failed' || status === 'cancelled'
  if (!isFailed) finishItems(response, state, events)
  emitNative({ response: shownOf(response, event) }, events)
  const usage = readUsage(response, state.reply.searches)
  const { service_tier } = response
  state.hasUsage = usage !== undefined
  if (usage) events.push({ type: 'usage', usage, serviceTier: asText(service_tier) ?? null })
  if (isFailed || (isObject(error) && isString(error['message']))) {
    state.failure = status === 'cancelled' ? cancelled(state.status) : failureOf(error, state.status)
  } else {
    state.finish = finishOf(response, state.reply.calls > 0)
    state.isTerminated = true
  }
}

const cancelled = (status: number): UpstreamError =>
  new UpstreamError('server', 'the provider cancelled the response', { status })

/**
 * The items of a complete response; in a stream, those that did not complete. If nothing was streamed, the last
 * event has all of them.
 */
function finishItems(response: JsonObject, state: ResponseState, events: InferenceEvent[]): void {
  const { items, reply } = state
  const output = asList(response['output'])
  const wasTruncated = response['status'] === 'incomplete'
  const isNew = items.size === 0
  for (const [at, raw] of output.entries()) {
    if (!isObject(raw)) continue
    const item = isNew ? newItem(raw) : items.get(at)
    if (item === undefined || item.isDone || item.type !== raw['type']) continue
    checkItems(items.size)
    items.set(at, item)
    finishItem(raw, item, wasTruncated, reply, events)
    emitNative({ event: { type: 'response.output_item.done', output_index: at, item: raw } }, events)
  }
  for (const item of items.values()) {
    if (!item.isDone && item.call.index !== undefined) {
      finishItem({ type: item.type, name: 'reported' }, item, wasTruncated, reply, events)
    }
  }
}

/** There is no status for calls: a response with calls that wait for their results is `completed`. */
function finishOf({ status, incomplete_details }: JsonObject, hasCalls: boolean): Finish {
  if (status !== 'incomplete') {
    return { choice: 0, reason: defaultReason(hasCalls), native: asText(status) ?? null }
  }
  const reported = asObject(incomplete_details)?.['reason']
  if (!isString(reported)) return { choice: 0, reason: 'length', native: status }
  const reason = finishReasonOf(reported, false)
  return { choice: 0, reason: reason === 'stop' ? 'length' : reason, native: reported }
}

function emitNative(data: ResponsesNative, events: InferenceEvent[]): void {
  events.push({ type: 'native', dialect: 'responses', data })
}
