import { UpstreamError } from '../../core/errors.ts'
import { type InferenceEvent, type InferenceFrame, isContent } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { defaultReason } from '../finish.ts'
import { errorInReply, isErrorBody } from '../read-error.ts'
import { checkTail, isDone, notJson, parseReply, type ReplyDecoder, unfinished } from '../reply-decoder.ts'
import { createShortcut } from '../shortcut.ts'
import { createTextForm } from '../text-template.ts'
import { newResponse, readEvent, readResponse } from './decode-events.ts'

interface DecodeOptions {
  /** The HTTP status of the reply. */
  status: number
  /** False: every event is parsed. The same events come, without `plainText`. */
  fast: boolean
}

/** Reads the events of a stream of responses, or one complete response. */
export function createResponsesDecoder({ status, fast }: DecodeOptions): ReplyDecoder {
  const state = newResponse(status)
  const shortcut = fast ? createShortcut(DELTA, onText) : undefined
  let hasContent = false
  let hasMarker = false
  let isBody = false

  function frameOf(events: InferenceEvent[]): InferenceFrame | undefined {
    hasContent ||= events.some(isContent)
    return events.length > 0 ? { events } : undefined
  }

  /** The text of the last part goes on. */
  function onText(text: string): void {
    if (state.textPart === null) return
    state.textPart.length += text.length
    state.reply.textLength += text.length
  }

  function takeEvent(name: string, data: string): InferenceFrame | undefined {
    const repeated = shortcut?.repeat(data)
    if (repeated !== undefined) return repeated
    if (name === 'ping' || (data.trim() === '' && name !== 'error')) return undefined
    if (isDone(data)) {
      hasMarker = true
      return undefined
    }
    const event = parseReply(data, status)
    if (!isObject(event) && name !== 'error') {
      throw notJson(status)
    }
    const isNamed = isObject(event) && typeof event['type'] === 'string'
    if (!isObject(event) || (!isNamed && (name === 'error' || isErrorBody(event)))) {
      state.failure = errorInReply(event ?? [data], status)
      return undefined
    }
    const events: InferenceEvent[] = []
    readEvent(isNamed ? event : { ...event, type: name }, state, events)
    const frame = frameOf(events)
    return shortcut?.learn(data, events) ?? frame
  }

  function takeBody(body: unknown): InferenceFrame | undefined {
    const isResponse = isObject(body) && (Array.isArray(body['output']) || body['object'] === 'response')
    if (!isResponse && isErrorBody(body)) {
      state.failure = errorInReply(body, status)
      return undefined
    }
    if (!isResponse) throw noAnswer(status)
    isBody = true
    const events: InferenceEvent[] = []
    readResponse(body, state, events)
    return frameOf(events)
  }

  function end(): InferenceFrame {
    if (!state.hasStarted && !hasContent) throw noAnswer(status)
    if (state.finish !== null) {
      const isEmpty = state.finish.reason === 'stop' && state.items.size === 0 && !state.hasUsage
      if (isEmpty) throw noAnswer(status)
      return { events: [{ type: 'response-end', finishes: [state.finish] }] }
    }
    if (isBody) throw new UpstreamError('truncated', 'the response is still under way', { status })
    if (!hasMarker || !hasContent) {
      throw unfinished(status)
    }
    const reason = defaultReason(state.reply.calls > 0)
    return { events: [{ type: 'response-end', finishes: [{ choice: 0, reason, native: null }] }] }
  }

  return {
    takeEvent,
    takeTail(name, data) {
      checkTail(name, data, status)
      return takeEvent(name, data)
    },
    takeBody,
    end,
    failure: () => state.failure,
    isTerminated: () => hasMarker || state.finish !== null,
    isFinished: () => state.finish !== null,
    shortcut,
    hasContent: () => hasContent,
  }
}

const DELTA = createTextForm({
  field: 'delta',
  counter: 'sequence_number',
  textOf: (event) =>
    isObject(event) && event['type'] === 'response.output_text.delta' ? event['delta'] : undefined,
})

/** A 200 with `{}`, with another dialect's answer, or with nothing in it. */
const noAnswer = (status: number): UpstreamError =>
  new UpstreamError('malformed', 'the reply holds no response', { status })
