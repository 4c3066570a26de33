import { UpstreamError } from '../../core/errors.ts'
import {
  type Finish,
  type InferenceEvent,
  type InferenceFrame,
  isContent,
  type JsonObject,
} from '../../core/events.ts'
import { asFilledText, asList, fieldsOf, isObject, isString } from '../../core/json.ts'
import { defaultReason, finishReasonOf } from '../finish.ts'
import { errorInReply, isErrorBody } from '../read-error.ts'
import { checkTail, isDone, notJson, parseReply, type ReplyDecoder, unfinished } from '../reply-decoder.ts'
import {
  addArguments,
  addPlan,
  addToBlock,
  type Content,
  endCall,
  newContent,
  readLogprobs,
  startBlock,
  startCall,
} from './decode-content.ts'
import { readUsage } from './usage.ts'

interface ReplyState {
  readonly status: number
  readonly content: Content
  hasStarted: boolean
  hasContent: boolean
  /** After `message-end`, or OpenAI's `[DONE]`, which Cohere sends after it. */
  isTerminated: boolean
  isBody: boolean
  native: string | null
  failure: UpstreamError | null
}

/**
 * Reads the events of a Cohere v2 stream, or one body. `message-end` is the terminal marker; events of unknown
 * types are skipped, `debug` among them.
 */
export function createCohereDecoder(status: number): ReplyDecoder {
  const state: ReplyState = {
    status,
    content: newContent(),
    hasStarted: false,
    hasContent: false,
    isTerminated: false,
    isBody: false,
    native: null,
    failure: null,
  }

  function takeEvent(name: string, data: string): InferenceFrame | undefined {
    if (data.trim() === '' && name !== 'error') return undefined
    if (isDone(data)) {
      state.isTerminated = true
      return undefined
    }
    const event = parseReply(data, status)
    if (name === 'error' || isErrorBody(event)) {
      state.failure = errorInReply(event ?? [data], status)
      return undefined
    }
    if (!isObject(event)) {
      throw notJson(status)
    }
    return frameOf(state, (events) => readEvent(event, state, events))
  }

  return {
    takeEvent,
    takeTail(name, data) {
      checkTail(name, data, status)
      return takeEvent(name, data)
    },
    takeBody(body) {
      if (isErrorBody(body)) {
        state.failure = errorInReply(body, status)
        return undefined
      }
      if (!isObject(body) || !isObject(body['message'])) throw noAnswer(status)
      const { message } = body
      state.isBody = true
      return frameOf(state, (events) => readWhole(body, message, state, events))
    },
    end: () => endReply(state),
    failure: () => state.failure,
    isTerminated: () => state.isTerminated,
    isFinished: () => state.native !== null,
    hasContent: () => state.hasContent,
  }
}

function frameOf(state: ReplyState, read: (events: InferenceEvent[]) => void): InferenceFrame | undefined {
  const events: InferenceEvent[] = []
  read(events)
  state.hasContent ||= events.some(isContent)
  return events.length > 0 ? { events } : undefined
}

function readEvent(event: JsonObject, state: ReplyState, events: InferenceEvent[]): void {
  const { content } = state
  const at = typeof event['index'] === 'number' ? event['index'] : 0
  const delta = fieldsOf(event['delta'])
  const message = fieldsOf(delta['message'])
  switch (event['type']) {
    case 'message-start':
      start(event, state, events)
      break
    case 'content-start':
      startBlock(at, message['content'], content, events)
      break
    case 'content-delta':
      addToBlock(at, message['content'], content, events)
      readLogprobs(event['logprobs'] ?? delta['logprobs'], events)
      break
    case 'tool-plan-delta':
      addPlan(message['tool_plan'], events)
      break
    case 'tool-call-start':
      startCall(at, message['tool_calls'], content, events)
      break
    case 'tool-call-delta':
      addArguments(at, message['tool_calls'], content, events)
      break
    case 'tool-call-end':
      endCall(at, false, content, events)
      break
    case 'citation-start':
      content.citations.add(message['citations'], events)
      break
    case 'message-end':
      state.isTerminated = true
      readEnd(delta, state, events)
  }
}

function readWhole(body: JsonObject, message: JsonObject, state: ReplyState, events: InferenceEvent[]): void {
  const { content } = state
  start(body, state, events)
  addPlan(message['tool_plan'], events)
  const { content: text } = message
  const blocks = isString(text) ? [{ type: 'text', text }] : asList(text)
  for (const [at, block] of blocks.entries()) startBlock(at, block, content, events)
  const calls = asList(message['tool_calls'])
  for (const [at, call] of calls.entries()) startCall(at, call, content, events)
  const cited = asList(message['citations'])
  for (const citation of cited) content.citations.add(citation, events)
  readLogprobs(body['logprobs'], events)
  readEnd(body, state, events)
}

function start({ id }: JsonObject, state: ReplyState, events: InferenceEvent[]): void {
  if (state.hasStarted) return
  state.hasStarted = true
  const upstreamId = asFilledText(id) ?? null
  events.push({ type: 'response-start', upstreamId, model: null, created: null })
}

/** Finish reasons without a complete answer. */
const BROKEN: Readonly<Record<string, 'server' | 'timeout'>> = {
  ERROR: 'server',
  ERROR_LIMIT: 'server',
  USER_CANCEL: 'server',
  TIMEOUT: 'timeout',
}

function readEnd(from: JsonObject, state: ReplyState, events: InferenceEvent[]): void {
  const { finish_reason, usage: raw, error } = from
  const usage = readUsage(raw)
  if (usage) events.push({ type: 'usage', usage })
  if (!isString(finish_reason) || finish_reason === '') return
  state.native = finish_reason
  const kind = BROKEN[finish_reason]
  if (kind === undefined) return
  const reason = asFilledText(error)?.slice(0, 1_000) ?? 'the provider broke the reply off'
  state.failure = new UpstreamError(kind, reason, { status: state.status, code: finish_reason })
}

function endReply(state: ReplyState): InferenceFrame {
  const { content, native, status } = state
  if (!state.hasStarted && !state.hasContent && native === null) throw noAnswer(status)
  if (native === null && !state.isBody && !(state.isTerminated && state.hasContent)) {
    throw unfinished(status)
  }
  const events: InferenceEvent[] = []
  const hasCalls = content.calls.size > 0
  for (const at of content.calls.keys()) endCall(at, native === 'MAX_TOKENS', content, events)
  events.push({ type: 'response-end', finishes: [finishOf(native, hasCalls)] })
  return { events }
}

function finishOf(native: string | null, hasCalls: boolean): Finish {
  if (native === null) return { choice: 0, reason: defaultReason(hasCalls), native }
  const reason = native === 'ERROR_TOXIC' ? 'content_filter' : finishReasonOf(native, hasCalls)
  return { choice: 0, reason, native }
}

/** A 200 with `{}`, or with another dialect's answer. */
const noAnswer = (status: number): UpstreamError =>
  new UpstreamError('malformed', 'the reply holds no message', { status })
