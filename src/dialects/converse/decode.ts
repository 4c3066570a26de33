import { UpstreamError } from '../../core/errors.ts'
import { type InferenceEvent, type InferenceFrame, isContent, type JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { ReplyDecoder } from '../reply-decoder.ts'
import { parseReply } from '../reply-json.ts'
import { EXCEPTION } from './event-stream.ts'
import { endMessage, newMessage, readEvent, readReplyBody } from './message.ts'
import { isException, readException } from './read-error.ts'

/** Reads the events of ConverseStream, or the one body of Converse. */
export function createConverseDecoder(status: number): ReplyDecoder {
  const state = newMessage()
  let hasContent = false
  let failure: UpstreamError | null = null

  function frameOf(events: InferenceEvent[]): InferenceFrame | undefined {
    hasContent ||= events.some(isContent)
    return events.length > 0 ? { events } : undefined
  }

  function takeEvent(name: string, data: string): InferenceFrame | undefined {
    const event = parseReply(data, status)
    if (!isObject(event)) {
      throw new UpstreamError('malformed', 'an event of the stream is not JSON', { status })
    }
    if (name === EXCEPTION) {
      failure = readException(event)
      return undefined
    }
    const events: InferenceEvent[] = []
    readEvent(name, event, state, events)
    return frameOf(events)
  }

  function takeBody(body: unknown): InferenceFrame | undefined {
    const message = messageIn(body)
    if (!isObject(body) || message === undefined) {
      if (!isException(body)) throw noAnswer(status)
      failure = readException(isObject(body) ? { ...body, type: body['__type'] } : {})
      return undefined
    }
    const events: InferenceEvent[] = []
    readReplyBody(body, message, state, events)
    return frameOf(events)
  }

  return {
    takeEvent,
    takeTail: takeEvent,
    takeBody,
    end() {
      if (!state.hasStarted) throw noAnswer(status)
      if (state.stopReason === null) {
        throw new UpstreamError('truncated', 'the reply ended without a finish', { status })
      }
      const events: InferenceEvent[] = []
      endMessage(state, events)
      return { events }
    },
    failure: () => failure,
    isTerminated: () => state.isTerminated,
    isFinished: () => state.stopReason !== null,
    hasContent: () => hasContent,
  }
}

function messageIn(body: unknown): JsonObject | undefined {
  const output = isObject(body) ? body['output'] : undefined
  const message = isObject(output) ? output['message'] : undefined
  return isObject(message) && Array.isArray(message['content']) ? message : undefined
}

/** A 200 with `{}`, or with another dialect's answer. */
const noAnswer = (status: number): UpstreamError =>
  new UpstreamError('malformed', 'the reply holds no message', { status })
