import { UpstreamError } from '../../core/errors.ts'
import { type InferenceEvent, type InferenceFrame, isContent } from '../../core/events.ts'
import { asObject, isObject } from '../../core/json.ts'
import { errorInReply, isErrorBody } from '../read-error.ts'
import { checkTail, isDone, notJson, parseReply, type ReplyDecoder, unfinished } from '../reply-decoder.ts'
import { createShortcut } from '../shortcut.ts'
import { createTextForm } from '../text-template.ts'
import { endMessage, isPlainText, newMessage, readEvent, readMessage } from './decode-message.ts'

interface DecodeOptions {
  /** The HTTP status of the reply. */
  status: number
  /** False: every event is parsed. The same events come, without `plainText`. */
  fast: boolean
}

/** Reads the events of a Messages stream, or one complete `message`. */
export function createMessagesDecoder({ status, fast }: DecodeOptions): ReplyDecoder {
  const state = newMessage()
  const shortcut = fast ? createShortcut(TEXT_FORM, onText) : undefined
  let hasContent = false
  let isBody = false
  let failure: UpstreamError | null = null

  function frameOf(events: InferenceEvent[]): InferenceFrame | undefined {
    hasContent ||= events.some(isContent)
    return events.length > 0 ? { events } : undefined
  }

  /** The model of the fast path is of a block that is open: any event but its text makes it void. */
  function onText(text: string): void {
    state.blocks.textLength += text.length
  }

  function takeEvent(name: string, data: string): InferenceFrame | undefined {
    const repeated = name === 'error' ? undefined : shortcut?.repeat(data)
    if (repeated) return repeated
    if (name === 'ping' || isPing(data) || (data.trim() === '' && name !== 'error')) return undefined
    if (isDone(data)) {
      state.isTerminated = true
      return undefined
    }
    const event = parseReply(data, status)
    if (name === 'error' || isErrorBody(event)) {
      failure = errorInReply(event ?? [data], status)
      return undefined
    }
    if (!isObject(event)) {
      throw notJson(status)
    }
    const events: InferenceEvent[] = []
    readEvent(event, state, events)
    const plain = isPlainText(event) ? shortcut?.learn(data, events) : shortcut?.forget()
    const frame = frameOf(events)
    return plain ?? frame
  }

  function takeBody(body: unknown): InferenceFrame | undefined {
    if (isErrorBody(body)) {
      failure = errorInReply(body, status)
      return undefined
    }
    if (!isObject(body) || !Array.isArray(body['content'])) throw noAnswer(status)
    isBody = true
    const events: InferenceEvent[] = []
    readMessage(body, state, events)
    return frameOf(events)
  }

  function end(): InferenceFrame {
    if (!state.hasStarted) throw noAnswer(status)
    if (state.stopReason === null && !isBody && !(state.isTerminated && hasContent)) {
      throw unfinished(status)
    }
    const events: InferenceEvent[] = []
    endMessage(state, events)
    return { events }
  }

  return {
    takeEvent,
    takeTail(name, data) {
      checkTail(name, data, status)
      return takeEvent(name, data)
    },
    takeBody,
    end,
    failure: () => failure,
    isTerminated: () => state.isTerminated,
    isFinished: () => state.stopReason !== null,
    shortcut,
    hasContent: () => hasContent,
  }
}

/** Servers that leave out the names of events send hundreds of thousands of them: they are not parsed. */
const isPing = (data: string): boolean => data === '{"type":"ping"}' || data === '{"type": "ping"}'

const TEXT_FORM = createTextForm({
  field: 'text',
  textOf: (event) => (isPlainText(event) ? asObject(asObject(event)?.['delta'])?.['text'] : undefined),
})

/** A 200 with `{}`, or with another dialect's answer. */
const noAnswer = (status: number): UpstreamError =>
  new UpstreamError('malformed', 'the reply holds no message', { status })
