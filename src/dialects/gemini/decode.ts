import { UpstreamError } from '../../core/errors.ts'
import type { InferenceEvent, InferenceFrame, JsonObject } from '../../core/events.ts'
import { asCount, asFilledText, asText, fieldsOf, isObject, objectsIn } from '../../core/json.ts'
import { errorInReply, isErrorBody } from '../read-error.ts'
import {
  checkTail,
  isDone,
  noAnswer,
  notJson,
  parseReply,
  type ReplyDecoder,
  unfinished,
} from '../reply-decoder.ts'
import { type CandidateState, finishOf, newCandidate, readCandidate } from './decode-candidate.ts'
import { brokenOff } from './errors.ts'
import { readServiceTier, readUsage } from './usage.ts'

/** Google returns far fewer candidates. The bound keeps a reply from filling the memory. */
const MAX_CANDIDATES = 64

interface ReplyState {
  readonly status: number
  readonly candidates: CandidateState[]
  hasStarted: boolean
  hasUsage: boolean
  /** Why the prompt was not answered. */
  blockReason: string | null
  failure: UpstreamError | null
}

/**
 * Reads the chunks of `streamGenerateContent`, as events or as one JSON list, and the body of `generateContent`. They
 * have no terminal marker: a reply is complete when each candidate has its reason, or the prompt was blocked, and the body
 * ends. A reset after that counts as an end only if usage was reported: older models say STOP on every chunk.
 */
export function createGeminiDecoder(status: number): ReplyDecoder {
  const state: ReplyState = {
    status,
    candidates: [],
    hasStarted: false,
    hasUsage: false,
    blockReason: null,
    failure: null,
  }
  let isOneBody = false

  function takeEvent(name: string, data: string): InferenceFrame | undefined {
    // Relays end with OpenAI's marker.
    if (data.trim() === '' || isDone(data)) return undefined
    const chunk = parseReply(data, status)
    if (chunk === undefined && name !== 'error') throw notJson(status)
    if (name === 'error') state.failure = errorInReply(chunk ?? [data], status)
    else return takeChunks(chunk)
    return undefined
  }

  /** Without `alt=sse` a stream is one list of chunks; an error may be its only entry. */
  function takeChunks(value: unknown): InferenceFrame | undefined {
    const events: InferenceEvent[] = []
    for (const chunk of Array.isArray(value) ? value : [value]) {
      if (state.failure === null) readChunk(chunk, state, events)
    }
    return events.length > 0 ? { events } : undefined
  }

  return {
    takeEvent,
    takeTail(name, data) {
      checkTail(name, data, status)
      return takeEvent(name, data)
    },
    takeBody(body) {
      // A list is a stream, which may have been truncated between its chunks.
      isOneBody = isObject(body)
      return takeChunks(body)
    },
    end: () => endReply(state, isOneBody),
    failure: () => state.failure,
    isTerminated: () => false,
    isFinished: () => state.hasUsage && isFinished(state),
    hasContent: () => state.candidates.some((candidate) => candidate.hasContent),
  }
}

/** An error goes to `failure`; content that came with it is read as well. */
function readChunk(chunk: unknown, state: ReplyState, events: InferenceEvent[]): void {
  if (!isObject(chunk)) {
    state.failure = new UpstreamError('malformed', 'an event of the stream is not an object', state)
    return
  }
  const entries = objectsIn(chunk['candidates'])
  if (isObject(chunk['error']) || (entries.length === 0 && isErrorBody(chunk))) {
    state.failure = errorInReply(chunk, state.status)
  }
  readStart(chunk, entries.length > 0, state, events)
  entries.forEach((entry, position) => {
    const candidate = candidateAt(entry, position, state)
    readCandidate(entry, candidate, events)
    if (candidate.native === null) return
    candidate.calls.close(events)
    state.failure ??= brokenOff(candidate.native, entry['finishMessage'], state.status)
  })
  readFeedback(chunk['promptFeedback'], state)
  readUsageOf(chunk['usageMetadata'], state, events)
  if (state.failure === null) events.push({ type: 'native', dialect: 'gemini', data: { chunk } })
}

function readStart(
  chunk: JsonObject,
  hasEntries: boolean,
  state: ReplyState,
  events: InferenceEvent[],
): void {
  if (state.hasStarted) return
  const upstreamId = asFilledText(chunk['responseId']) ?? null
  if (!hasEntries && upstreamId === null) return
  state.hasStarted = true
  const seconds = Math.floor(Date.parse(asText(chunk['createTime']) ?? '') / 1000)
  const created = Number.isSafeInteger(seconds) && seconds > 0 ? seconds : null
  events.push({
    type: 'response-start',
    upstreamId,
    model: asFilledText(chunk['modelVersion']) ?? null,
    created,
  })
}

function candidateAt(
  { index: raw }: JsonObject,
  position: number,
  { candidates, status }: ReplyState,
): CandidateState {
  const index = asCount(raw) ?? position
  const known = candidates.find((each) => each.index === index)
  if (known) return known
  if (candidates.length >= MAX_CANDIDATES) {
    throw new UpstreamError('malformed', 'the reply has too many candidates', { status })
  }
  const candidate = newCandidate(index)
  candidates.push(candidate)
  return candidate
}

function readFeedback(feedback: unknown, state: ReplyState): void {
  const reason = asFilledText(fieldsOf(feedback)['blockReason'])
  if (reason !== undefined && reason !== 'BLOCK_REASON_UNSPECIFIED') state.blockReason = reason
}

function readUsageOf(raw: unknown, state: ReplyState, events: InferenceEvent[]): void {
  const usage = readUsage(raw)
  if (!usage) return
  state.hasUsage = true
  const searches = state.candidates.reduce((sum, { grounding }) => sum + grounding.searches(), 0)
  if (searches > 0) usage.webSearchRequests = searches
  const serviceTier = readServiceTier(fieldsOf(raw))
  events.push({ type: 'usage', usage, ...(serviceTier === undefined ? {} : { serviceTier }) })
}

const isFinished = ({ candidates, blockReason }: ReplyState): boolean =>
  candidates.length > 0 ? candidates.every(({ native }) => native !== null) : blockReason !== null

function endReply(state: ReplyState, isOneBody: boolean): InferenceFrame {
  const { candidates, blockReason, status } = state
  if (candidates.length === 0 && blockReason === null) throw noAnswer('candidates', status)
  const saysSomething = candidates.some(({ hasContent }) => hasContent)
  if (!isFinished(state) && !(isOneBody && saysSomething)) throw unfinished(status)
  const events: InferenceEvent[] = []
  for (const { calls } of candidates) calls.close(events)
  const finishes =
    candidates.length > 0
      ? candidates.toSorted((a, b) => a.index - b.index).map(finishOf)
      : [{ choice: 0, reason: 'content_filter' as const, native: blockReason }]
  events.push({ type: 'response-end', finishes })
  return { events }
}
