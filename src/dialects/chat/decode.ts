import type { InferenceEvent, InferenceFrame, InferenceFrames } from '../../core/events.ts'
import { asList, asObject, isObject } from '../../core/json.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import type { DecodeOptions } from '../event-decoder.ts'
import { errorInReply, isErrorBody } from '../read-error.ts'
import { type ReadOptions as ReplyOptions, readReply } from '../read-reply.ts'
import {
  checkTail,
  isDone,
  noAnswer,
  notJson,
  parseReply,
  type ReplyDecoder,
  unfinished,
} from '../reply-decoder.ts'
import { createShortcut } from '../shortcut.ts'
import { createTextForm } from '../text-template.ts'
import { endReply, isFinished, newReply, readChunk } from './decode-chunk.ts'

function createChatDecoder({ status, fast }: DecodeOptions): ReplyDecoder {
  const state = newReply(status)
  const shortcut = fast ? createShortcut(CONTENT) : undefined
  let isTerminated = false
  let isBody = false

  function takeEvent(name: string, data: string): InferenceFrame | undefined {
    if (name === 'error') return takeErrorEvent(data)
    if (name === 'ping') return undefined
    const repeated = shortcut?.repeat(data)
    if (repeated !== undefined) return repeated
    if (data.trim() === '') return undefined
    if (isDone(data)) {
      isTerminated = true
      return undefined
    }
    const chunk = parseReply(data, status)
    if (chunk === undefined) throw notJson(status)
    const events: InferenceEvent[] = []
    readChunk(chunk, state, false, events)
    // Perplexity has no `[DONE]`.
    if (isObject(chunk) && chunk['object'] === 'chat.completion.done') isTerminated = true
    return (mayRepeat(chunk) ? shortcut?.learn(data, events) : shortcut?.forget()) ?? frameOf(events)
  }

  /** Groq names its errors by the event, so the data can be anything. */
  function takeErrorEvent(data: string): undefined {
    state.failure = errorInReply(parseReply(data, status) ?? [data], status)
  }

  function end(): InferenceFrame {
    if (state.choices.length === 0) throw noAnswer('choices', status)
    const saysSomething = state.choices.some((each) => each.hasContent || each.finishReason !== null)
    if (!isFinished(state) && !(isTerminated && saysSomething) && !isBody) throw unfinished(status)
    return { events: endReply(state) }
  }

  return {
    takeEvent,
    takeTail(name, data) {
      checkTail(name, data, status)
      return takeEvent(name, data)
    },
    takeBody(body) {
      isBody = true
      const only: unknown = Array.isArray(body) && body.length === 1 ? body[0] : body
      if (!isErrorBody(only) && !hasChoices(only)) throw noAnswer('choices', status)
      const events: InferenceEvent[] = []
      readChunk(only, state, true, events)
      return frameOf(events)
    },
    end,
    failure: () => state.failure,
    isTerminated: () => isTerminated,
    isFinished: () => isFinished(state),
    shortcut,
    hasContent: () => state.choices.some((each) => each.hasContent),
  }
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
function mayRepeat(chunk: unknown): boolean {
  const choices = asList(asObject(chunk)?.['choices'])
  const delta = choices.length === 1 ? asObject(choices[0])?.['delta'] : undefined
  if (!isObject(delta) || isObject(delta['function_call'])) return false
  return !Array.isArray(delta['tool_calls']) || delta['tool_calls'].length === 0
}

const frameOf = (events: InferenceEvent[]): InferenceFrame | undefined =>
  events.length > 0 ? { events } : undefined

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
