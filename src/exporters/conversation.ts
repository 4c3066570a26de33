/**
 * Contents in the schema of the conventions for generative AI: `gen_ai.system_instructions`, `gen_ai.input.messages` and
 * `gen_ai.output.messages` (github.com/open-telemetry/semantic-conventions-genai, model/gen-ai, November 2026), whatever
 * the dialect of the caller.
 */
import type { JsonObject } from '../core/events.ts'
import { asList, isObject, parseJson, textOf } from '../core/json.ts'
import { type MessagePart, partsOf } from './conversation-parts.ts'
import { jsonText } from './json-text.ts'
import { withoutMedia } from './media.ts'
import type { ExportContent, ExportRecord } from './record.ts'

export interface Message {
  readonly role: string
  readonly parts: readonly MessagePart[]
  readonly finish_reason?: string
}

export interface Conversation {
  /** Instructions that the caller's dialect has beside the messages. */
  readonly system: readonly MessagePart[]
  readonly input: readonly Message[]
  readonly output: readonly Message[]
}

/** Null: the record has no content. Media are named by type and size. */
export function conversationOf(record: ExportRecord): Conversation | null {
  const { content } = record
  if (content === null) return null
  const messages = inputOf(content.input)
  const [first] = messages
  const isBeside = record.apiType !== 'completions' && first?.role === 'system'
  return {
    system: isBeside ? first.parts : [],
    input: isBeside ? messages.slice(1) : messages,
    output: outputOf(content.output, record.finishReason),
  }
}

/** The messages with the instructions first, for vendors that have no other place for them. */
export const promptOf = ({ system, input }: Conversation): readonly Message[] =>
  system.length === 0 ? input : [{ role: 'system', parts: system }, ...input]

function inputOf(input: ExportContent['input']): Message[] {
  if ('prompt' in input) return [{ role: 'user', parts: partsOf(withoutMedia(input.prompt)) }]
  return asList(withoutMedia(input.messages)).map(messageOf)
}

/** A message of chat or Messages, a content of Gemini, or an item of Responses. */
function messageOf(message: unknown): Message {
  if (!isObject(message)) return { role: 'user', parts: partsOf(message) }
  const { role, content, parts, type } = message
  const calls = asList(message['tool_calls']).flatMap(partsOf)
  if (typeof role !== 'string' && content === undefined && parts === undefined) {
    return { role: itemRole(textOf(type)), parts: partsOf(message) }
  }
  const own = partsOf(content ?? parts)
  const name = message['tool_call_id']
  const isResult = role === 'tool' && typeof name === 'string'
  return {
    role: roleOf(role),
    parts: isResult
      ? [{ type: 'tool_call_response', id: name, response: responseOf(own) }]
      : [...reasoningIn(message), ...own, ...calls],
  }
}

/** A text alone is the response itself. */
const responseOf = (parts: readonly MessagePart[]): unknown =>
  parts.length === 1 && parts[0]?.type === 'text' ? parts[0]['content'] : parts

const itemRole = (type: string): string => {
  if (type.endsWith('_output')) return 'tool'
  return type.endsWith('_call') || type === 'reasoning' ? 'assistant' : 'user'
}

const ROLES: Readonly<Record<string, string>> = { model: 'assistant', developer: 'system', function: 'tool' }
const roleOf = (role: unknown): string => ROLES[textOf(role)] ?? (textOf(role) || 'user')

const reasoningIn = (message: JsonObject): MessagePart[] => {
  const content = textOf(message['reasoning']) || textOf(message['reasoning_content'])
  return content === '' ? [] : [{ type: 'reasoning', content }]
}

/** The reply: a text, or as JSON a message of the chat dialect, or a list of messages, one for each choice. */
function outputOf({ completion, reasoning }: ExportContent['output'], finishReason: string): Message[] {
  const replies = completion === null ? [] : repliesOf(completion)
  const thoughts: MessagePart[] = reasoning === null ? [] : [{ type: 'reasoning', content: reasoning }]
  const [first = [], ...others] = replies
  if (replies.length === 0 && thoughts.length === 0) return []
  return [[...thoughts, ...first], ...others].map((parts) => ({
    role: 'assistant',
    parts,
    finish_reason: finishReason === 'tool_calls' ? 'tool_call' : finishReason,
  }))
}

/** A model may answer with JSON itself: that is a text. */
function repliesOf(completion: string): MessagePart[][] {
  const parsed = /^[[{]/.test(completion) ? parseJson(completion) : undefined
  if (parsed === undefined) return [partsOf(withoutMedia(completion))]
  const choices = Array.isArray(parsed) ? parsed : [parsed]
  const swept = withoutMedia(parsed)
  if (choices.length > 0 && choices.every(isReply)) {
    return (Array.isArray(swept) ? swept : [swept]).map(replyParts)
  }
  return [partsOf(Bun.deepEquals(parsed, swept) ? completion : jsonText(swept))]
}

const REPLY = new Set(['index', 'content', 'refusal', 'tool_calls', 'images', 'audio'])
const isReply = (choice: unknown): boolean => {
  if (!isObject(choice) || !('content' in choice)) return false
  const names = Object.keys(choice)
  return names.length > 1 && names.every((name) => REPLY.has(name))
}

function replyParts(choice: unknown): MessagePart[] {
  if (!isObject(choice)) return partsOf(choice)
  const { content, refusal, tool_calls: calls, images, audio } = choice
  return [
    ...partsOf(content),
    ...(typeof refusal === 'string' ? [{ type: 'refusal', content: refusal }] : []),
    ...asList(calls).flatMap(partsOf),
    ...asList(images).flatMap(partsOf),
    ...(isObject(audio) ? partsOf({ type: 'output_audio', ...audio }) : []),
  ]
}
