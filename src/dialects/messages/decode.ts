import { asObject, isObject } from '../../core/json.ts'
import { createEventDecoder, type DecodeOptions } from '../event-decoder.ts'
import { isErrorBody } from '../read-error.ts'
import type { ReplyDecoder } from '../reply-decoder.ts'
import { createShortcut } from '../shortcut.ts'
import { createTextForm } from '../text-template.ts'
import { endMessage, isPlainText, newMessage, readEvent, readMessage } from './decode-message.ts'

/** Reads the events of a Messages stream, or one complete `message`. */
export function createMessagesDecoder({ status, fast }: DecodeOptions): ReplyDecoder {
  const state = newMessage(status)

  /** The template of the shortcut belongs to an open block: any event but its text ends it. */
  function onText(text: string): void {
    state.blocks.textLength += text.length
  }

  return createEventDecoder({
    progress: state,
    noun: 'message',
    shortcut: fast ? createShortcut(TEXT_FORM, onText) : undefined,
    isPing,
    isError: (name, event) => name === 'error' || isErrorBody(event),
    readEvent: (event, _, events) => readEvent(event, state, events),
    mayRepeat: isPlainText,
    readBody(body, events) {
      if (isErrorBody(body) || !isObject(body) || !Array.isArray(body['content'])) return false
      readMessage(body, state, events)
      return true
    },
    isFinished: () => state.stopReason !== null,
    isEmpty: () => !state.hasStarted,
    readEnd: (events) => endMessage(state, events),
  })
}

/** Servers that leave out the names of events send hundreds of thousands of them: they are not parsed. */
const isPing = (data: string): boolean => data === '{"type":"ping"}' || data === '{"type": "ping"}'

const TEXT_FORM = createTextForm({
  field: 'text',
  textOf: (event) => (isPlainText(event) ? asObject(asObject(event)?.['delta'])?.['text'] : undefined),
})
