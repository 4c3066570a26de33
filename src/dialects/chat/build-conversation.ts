import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, isObject, isString, isText } from '../../core/json.ts'
import type { Message } from '../../core/request.ts'
import type { ChatQuirks } from '../../core/snapshot.ts'
import type { Drop } from '../dropped.ts'
import { mayReason } from '../reasoning.ts'
import { plainThoughts } from '../thoughts.ts'
import { saysSomething, withoutMark } from './build-quirks.ts'

const THOUGHTS = ['reasoning', 'reasoning_content', 'reasoning_details'] as const

/** Makes `messages` those of a vendor that takes the dialect otherwise. The caller's own objects are never changed. */
export function applyConversation(body: JsonObject, attempt: Attempt, quirks: ChatQuirks, drop: Drop): void {
  if (!Array.isArray(body.messages)) return
  let messages: JsonObject[] = body.messages.map((raw: unknown) => {
    const message = isObject(raw) ? { ...raw } : {}
    if (message.role === 'assistant') {
      if (quirks.thinkingParts) writeThinkingParts(message, mayReason(attempt.endpoint), drop)
      if (quirks.thoughtsField) writeThoughts(message, quirks.thoughtsField, attempt, drop)
    }
    leaveOutFields(message, quirks, drop)
    if (quirks.flatParts) writeFlatParts(message)
    if (quirks.toolCallIds) writeIds(message)
    return message
  })
  if (quirks.tools === false) messages = messages.flatMap((message) => withoutCalls(message, drop))
  if (quirks.wordAfterTools)
    messages = messages.flatMap((message, i) => bridged(message, messages[i - 1], drop))
  if (quirks.alternatingRoles) messages = alternating(messages, drop)
  const last = messages.at(-1)
  if (quirks.assistantPrefix && last?.role === 'assistant' && last.tool_calls === undefined) {
    last.prefix ??= true
  }
  body.messages = messages
}

/** Mistral's form of thoughts (recorded 2026): a part of the content before the text. */
function writeThinkingParts(message: JsonObject, takesThoughts: boolean, drop: Drop): void {
  const { thoughts, rest } = plainThoughts(thoughtsOf(message))
  for (const name of THOUGHTS) delete message[name]
  if (rest.length > 0) drop('messages.reasoning_details')
  const { content } = message
  const parts: unknown[] = Array.isArray(content) ? content : textPart(content)
  const isWritten = parts.some((part) => isObject(part) && part.type === 'thinking')
  if (thoughts.length === 0 || isWritten) return
  if (!takesThoughts) {
    drop('messages.reasoning')
    return
  }
  const thinking = thoughts.map((text) => ({ type: 'thinking', thinking: [{ type: 'text', text }] }))
  message.content = [...thinking, ...parts]
}

/**
 * What a caller wrote in the vendor's own field stays as it is. Of a model that is known to reason, a turn with calls
 * gets the field even if no thoughts are left of it (another model's, or cut off by the caller): without it the
 * vendor rejects the conversation.
 */
function writeThoughts(
  message: JsonObject,
  field: NonNullable<ChatQuirks['thoughtsField']>,
  attempt: Attempt,
  drop: Drop,
): void {
  const own = message[field]
  const { thoughts, rest } = plainThoughts(thoughtsOf(message))
  for (const name of THOUGHTS) delete message[name]
  if (isString(own)) {
    message[field] = own
    return
  }
  if (rest.length > 0) drop('messages.reasoning_details')
  if (!mayReason(attempt.endpoint)) {
    if (thoughts.length > 0) drop('messages.reasoning')
    return
  }
  const isWanted = attempt.endpoint.supportedParameters !== null && saysSomething(message.tool_calls)
  if (thoughts.length > 0 || isWanted) message[field] = thoughts.join('\n\n')
}

/** The thoughts of a message, under either name. */
function thoughtsOf({ reasoning, reasoning_content, reasoning_details }: JsonObject): Thoughts {
  const text = reasoning ?? reasoning_content
  return {
    ...(isString(text) ? { reasoning: text } : {}),
    ...(Array.isArray(reasoning_details) ? { reasoningDetails: reasoning_details.filter(isObject) } : {}),
  }
}

type Thoughts = Pick<Message, 'reasoning' | 'reasoningDetails'>

const textPart = (content: unknown): JsonObject[] =>
  isText(content) ? [{ type: 'text', text: content }] : []

function leaveOutFields(message: JsonObject, { refusedMessageFields = [] }: ChatQuirks, drop: Drop): void {
  for (const name of refusedMessageFields) {
    if (message[name] === undefined || (name === 'name' && message.role === 'tool')) continue
    if (saysSomething(message[name])) drop(name === 'cache_control' ? name : `messages.${name}`)
    delete message[name]
  }
  if (refusedMessageFields.includes('cache_control') && Array.isArray(message.content)) {
    message.content = message.content.map((part: unknown) => withoutMark(part, drop))
  }
  if (refusedMessageFields.includes('extra_content') && Array.isArray(message.tool_calls)) {
    message.tool_calls = message.tool_calls.map((call: unknown) => withoutSignature(call, drop))
  }
}

/** A call of Gemini has its signature in a field of Google's. */
function withoutSignature(call: unknown, drop: Drop): unknown {
  if (!isObject(call) || call.extra_content === undefined) return call
  const { extra_content, ...own } = call
  drop('messages.tool_calls.extra_content')
  return own
}

/** Mistral's forms of OpenAI's parts `file` and `input_audio` (its client library, 2026). */
function writeFlatParts(message: JsonObject): void {
  if (!Array.isArray(message.content)) return
  message.content = message.content.map((part: unknown) => {
    if (!isObject(part)) return part
    const { type, file, input_audio: audio } = part
    if (type === 'input_audio' && isObject(audio)) return { type, input_audio: audio.data }
    if (type !== 'file' || !isObject(file)) return part
    const { file_data, file_id, filename } = file
    if (!isString(file_data)) return { type, file_id }
    return defined({ type: 'document_url', document_url: file_data, document_name: filename ?? undefined })
  })
}

function writeIds(message: JsonObject): void {
  if (isString(message.tool_call_id)) message.tool_call_id = nineAlphanumerics(message.tool_call_id)
  if (!Array.isArray(message.tool_calls)) return
  message.tool_calls = message.tool_calls.map((call: unknown) =>
    isObject(call) && isString(call.id) ? { ...call, id: nineAlphanumerics(call.id) } : call,
  )
}

const ALPHANUMERICS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** The id itself if it has the form, else nine characters of its hash: a call and its result still match. */
function nineAlphanumerics(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id
  const hash = new Bun.CryptoHasher('sha256').update(id).digest()
  return Array.from(hash.subarray(0, 9), (byte) => ALPHANUMERICS[byte % ALPHANUMERICS.length]).join('')
}

/** A vendor without tools knows neither calls nor results: results become user messages. */
function withoutCalls(message: JsonObject, drop: Drop): JsonObject[] {
  if (message.role === 'tool') {
    drop('messages.role')
    return [{ role: 'user', content: message.content }]
  }
  const { tool_calls, ...rest } = message
  if (!saysSomething(tool_calls)) return [rest]
  drop('messages.tool_calls')
  return saysSomething(rest.content) ? [rest] : []
}

function bridged(message: JsonObject, former: JsonObject | undefined, drop: Drop): JsonObject[] {
  if (message.role !== 'user' || former?.role !== 'tool') return [message]
  drop('messages.role')
  return [{ role: 'assistant', content: 'OK.' }, message]
}

/** Instructions first, and neighbours of one role in one message. */
function alternating(messages: readonly JsonObject[], drop: Drop): JsonObject[] {
  const isInstruction = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer'
  const start = messages.findIndex((message) => !isInstruction(message))
  if (start !== -1 && messages.slice(start).some(isInstruction)) drop('messages.role')
  const turns: JsonObject[] = []
  for (const message of messages.filter((each) => !isInstruction(each))) {
    const last = turns.at(-1)
    if (last?.role === message.role && last !== undefined) {
      last.content = joined(last.content, message.content)
    } else turns.push({ ...message })
  }
  return [...messages.filter(isInstruction), ...turns]
}

function joined(former: unknown, more: unknown): unknown {
  if (isString(former) && isString(more)) return `${former}\n\n${more}`
  const partsOf = (content: unknown): unknown[] => (Array.isArray(content) ? content : textPart(content))
  return [...partsOf(former), ...partsOf(more)]
}
