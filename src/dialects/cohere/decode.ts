import { UpstreamError } from '../../core/errors.ts'
import type { Finish, InferenceEvent, JsonObject } from '../../core/events.ts'
import { asFilledText, asList, fieldsOf, isObject, isString } from '../../core/json.ts'
import { createEventDecoder, newProgress, type ReplyProgress } from '../event-decoder.ts'
import { defaultReason, finishReasonOf } from '../finish.ts'
import { isErrorBody } from '../read-error.ts'
import type { ReplyDecoder } from '../reply-decoder.ts'
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

interface ReplyState extends ReplyProgress {
  readonly content: Content
  /** The finish reason in Cohere's words. */
  native: string | null
}

/**
 * Reads the events of a Cohere v2 stream, or one body. `message-end` is the terminal marker; Cohere sends OpenAI's
 * `[DONE]` after it. Events of unknown types are skipped, `debug` among them.
 */
export function createCohereDecoder(status: number): ReplyDecoder {
  const state: ReplyState = { ...newProgress(status), content: newContent(), native: null }
  return createEventDecoder({
    progress: state,
    noun: 'message',
    isError: (name, event) => name === 'error' || isErrorBody(event),
    readEvent: (event, _, events) => readEvent(event, state, events),
    readBody(body, events) {
      if (isErrorBody(body) || !isObject(body) || !isObject(body['message'])) return false
      readReply(body, body['message'], state, events)
      return true
    },
    isFinished: () => state.native !== null,
    isEmpty: () => !state.hasStarted && !state.hasContent && state.native === null,
    readEnd: (events) => readLast(state, events),
  })
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

function readReply(body: JsonObject, message: JsonObject, state: ReplyState, events: InferenceEvent[]): void {
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

function readLast({ content, native }: ReplyState, events: InferenceEvent[]): void {
  const hasCalls = content.calls.size > 0
  for (const at of content.calls.keys()) endCall(at, native === 'MAX_TOKENS', content, events)
  events.push({ type: 'response-end', finishes: [finishOf(native, hasCalls)] })
}

function finishOf(native: string | null, hasCalls: boolean): Finish {
  const reason = native === null ? defaultReason(hasCalls) : finishReasonOf(native, hasCalls)
  return { choice: 0, reason, native }
}
