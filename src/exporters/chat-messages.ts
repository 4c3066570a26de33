import type { JsonObject } from '../core/events.ts'
import type { Message } from './conversation.ts'
import type { MessagePart } from './conversation-parts.ts'
import { jsonText } from './json-text.ts'

/**
 * Messages in the form of OpenAI's chat, which vendors show as a conversation. A message with results of several calls
 * becomes one message for each.
 */
export const chatMessages = (messages: readonly Message[]): JsonObject[] => messages.flatMap(chatMessage)

function chatMessage({ role, parts }: Message): JsonObject[] {
  const results = parts.filter(({ type }) => type === 'tool_call_response')
  const others = parts.filter(({ type }) => type !== 'tool_call_response')
  const answers = results.map((result) => ({
    role: 'tool',
    ...(typeof result['id'] === 'string' ? { tool_call_id: result['id'] } : {}),
    content: textOf(result['response']),
  }))
  return results.length > 0 && others.length === 0 ? answers : [...answers, spoken(role, others)]
}

function spoken(role: string, parts: readonly MessagePart[]): JsonObject {
  const calls = parts.filter(({ type }) => type === 'tool_call')
  const thoughts = parts.filter(({ type }) => type === 'reasoning')
  const shown = parts.filter(({ type }) => type !== 'tool_call' && type !== 'reasoning')
  return {
    role,
    content: contentOf(shown),
    ...(thoughts.length === 0
      ? {}
      : { reasoning: thoughts.map((part) => textOf(part['content'])).join('\n') }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(chatCall) }),
  }
}

const contentOf = (parts: readonly MessagePart[]): unknown => {
  const [only, ...more] = parts
  if (only === undefined) return null
  if (more.length === 0 && only.type === 'text') return only['content']
  return parts.map((part) => (part.type === 'text' ? { type: 'text', text: part['content'] } : part))
}

const chatCall = (call: MessagePart): JsonObject => ({
  ...(typeof call['id'] === 'string' ? { id: call['id'] } : {}),
  type: 'function',
  function: { name: call['name'], arguments: textOf(call['arguments']) },
})

/** A text, or the JSON of another value. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : jsonText(value ?? null))
