import { UpstreamError } from '../../core/errors.ts'
import type { InferenceEvent } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { createEventDecoder, type DecodeOptions } from '../event-decoder.ts'
import { defaultReason } from '../finish.ts'
import { isErrorBody } from '../read-error.ts'
import type { ReplyDecoder } from '../reply-decoder.ts'
import { createShortcut } from '../shortcut.ts'
import { createTextForm } from '../text-template.ts'
import { newResponse, type ResponseState, readEvent, readResponse } from './decode-events.ts'

/** Reads the events of a stream of responses, or one complete response. */
export function createResponsesDecoder({ status, fast }: DecodeOptions): ReplyDecoder {
  const state = newResponse(status)

  /** Continues the last part. */
  function onText(text: string): void {
    if (state.textPart === null) return
    state.textPart.length += text.length
    state.reply.textLength += text.length
  }

  return createEventDecoder({
    progress: state,
    noun: 'response',
    shortcut: fast ? createShortcut(DELTA, onText) : undefined,
    // An event that names its type is read by it, an error too.
    isError: (name, event) =>
      isObject(event)
        ? !isString(event['type']) && (name === 'error' || isErrorBody(event))
        : name === 'error',
    readEvent: (event, name, events) =>
      readEvent(isString(event['type']) ? event : { ...event, type: name }, state, events),
    readBody(body, events) {
      if (!isObject(body) || !(Array.isArray(body['output']) || body['object'] === 'response')) return false
      readResponse(body, state, events)
      return true
    },
    isFinished: () => state.finish !== null,
    isEmpty: () => isEmpty(state),
    readEnd: (events) => readEnd(state, events),
  })
}

const isEmpty = ({ finish, hasStarted, hasContent, items, hasUsage }: ResponseState): boolean =>
  (!hasStarted && !hasContent) || (finish?.reason === 'stop' && items.size === 0 && !hasUsage)

function readEnd({ finish, isBody, status, reply }: ResponseState, events: InferenceEvent[]): void {
  if (finish === null && isBody) {
    throw new UpstreamError('truncated', 'the response is still under way', { status })
  }
  const finishes = [finish ?? { choice: 0, reason: defaultReason(reply.calls > 0), native: null }]
  events.push({ type: 'response-end', finishes })
}

const DELTA = createTextForm({
  field: 'delta',
  counter: 'sequence_number',
  textOf: (event) =>
    isObject(event) && event['type'] === 'response.output_text.delta' ? event['delta'] : undefined,
})
