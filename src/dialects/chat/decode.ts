import type { InferenceFrames, JsonObject } from '../../core/events.ts'
import { asList, asObject, isObject } from '../../core/json.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import { createEventDecoder, type DecodeOptions } from '../event-decoder.ts'
import { isErrorBody } from '../read-error.ts'
import { type ReadOptions as ReplyOptions, readReply } from '../read-reply.ts'
import type { ReplyDecoder } from '../reply-decoder.ts'
import { createShortcut } from '../shortcut.ts'
import { createTextForm } from '../text-template.ts'
import { endReply, isFinished, newReply, readChunk } from './decode-chunk.ts'

function createChatDecoder({ status, fast }: DecodeOptions): ReplyDecoder {
  const state = newReply(status)
  return createEventDecoder({
    progress: state,
    noun: 'choices',
    shortcut: fast ? createShortcut(CONTENT) : undefined,
    // Groq names its errors by the event. The error of a chunk is read with the chunk.
    isError: (name) => name === 'error',
    readEvent(chunk, _, events) {
      readChunk(chunk, state, false, events)
      // Perplexity has no `[DONE]`.
      if (chunk['object'] === 'chat.completion.done') state.isTerminated = true
    },
    mayRepeat,
    readBody(body, events) {
      const only: unknown = Array.isArray(body) && body.length === 1 ? body[0] : body
      if (!isErrorBody(only) && !hasChoices(only)) return false
      readChunk(only, state, true, events)
      return true
    },
    isFinished: () => isFinished(state),
    isEmpty: () => state.choices.length === 0,
    readEnd: (events) => endReply(state, events),
  })
}

const CONTENT = createTextForm({
  field: 'content',
  textOf(chunk) {
    const choices = asList(asObject(chunk)?.['choices'])
    const delta = asObject(choices[0])?.['delta']
    return asObject(delta)?.['content']
  },
})

/** Only fragments of calls change the state each time that they repeat. */
function mayRepeat(chunk: JsonObject): boolean {
  const choices = asList(chunk['choices'])
  const delta = choices.length === 1 ? asObject(choices[0])?.['delta'] : undefined
  if (!isObject(delta) || isObject(delta['function_call'])) return false
  return !Array.isArray(delta['tool_calls']) || delta['tool_calls'].length === 0
}

const hasChoices = (body: unknown): boolean =>
  isObject(body) &&
  Array.isArray(body['choices']) &&
  body['choices'].some((entry) => isObject(entry) && Object.keys(entry).length > 0)

interface ReadOptions extends ReplyOptions {
  /** False: every chunk is parsed. The same events come, without `plainText`. */
  fast?: boolean
}

/** Reads a 2xx reply of an OpenAI-shaped provider; see `readReply`. */
export const readChat = (
  reply: UpstreamReply,
  streamed: boolean,
  options: ReadOptions = {},
): InferenceFrames =>
  readReply(
    reply,
    streamed,
    createChatDecoder({ status: reply.status, fast: streamed && options.fast !== false }),
    options,
  )
