/** Messages of any dialect as plain texts, for destinations that take nothing else. */
import { asFilledText, asList, fieldsOf, isObject, textOf } from '../core/json.ts'
import type { ExportContent } from './record.ts'

export interface PlainMessage {
  readonly role: string
  readonly content: string
  readonly toolCalls: readonly PlainToolCall[]
  /** The call that the message answers; undefined: it answers none. */
  readonly toolCallId: string | undefined
}

interface PlainToolCall {
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
}

/** Media are the JSON of what the record has of them: type and size. */
export const plainMessages = (input: ExportContent['input']): readonly PlainMessage[] =>
  'prompt' in input
    ? [{ role: 'user', content: input.prompt, toolCalls: [], toolCallId: undefined }]
    : input.messages.map(plainMessage)

function plainMessage(message: unknown): PlainMessage {
  if (!isObject(message)) return textMessage('user', plainText(message))
  const { type, role } = message
  // Items of the Responses API.
  if (type === 'function_call') return { ...textMessage('assistant', ''), toolCalls: [toolCall(message)] }
  if (type === 'function_call_output') {
    return {
      ...textMessage('tool', plainText(message['output'])),
      toolCallId: asFilledText(message['call_id']),
    }
  }
  const content = message['content'] ?? message['parts']
  const parts = asList(content)
  return {
    role: textOf(role) || 'user',
    // The inputs of images, speech and ranking are objects of their own.
    content: 'content' in message || 'parts' in message ? plainText(content) : JSON.stringify(message),
    toolCalls: [...asList(message['tool_calls']).map(toolCall), ...parts.filter(isToolUse).map(toolCall)],
    toolCallId: asFilledText(message['tool_call_id']) ?? parts.map(answeredCall).find(Boolean),
  }
}

const textMessage = (role: string, content: string): PlainMessage => ({
  role,
  content,
  toolCalls: [],
  toolCallId: undefined,
})

/** The texts of a content, one a line. */
function plainText(content: unknown): string {
  if (content === null || content === undefined) return ''
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return JSON.stringify(content)
  return content
    .filter((part) => !isToolUse(part))
    .map((part) => {
      const fields = fieldsOf(part)
      if (typeof part === 'string') return part
      if (typeof fields['text'] === 'string') return fields['text']
      return fields['type'] === 'tool_result' ? plainText(fields['content']) : JSON.stringify(part)
    })
    .join('\n')
}

const isToolUse = (part: unknown): boolean => {
  const fields = fieldsOf(part)
  return fields['type'] === 'tool_use' || isObject(fields['functionCall'])
}

const answeredCall = (part: unknown): string | undefined => asFilledText(fieldsOf(part)['tool_use_id'])

/** A call as chat, Messages, Responses or Gemini write it. */
function toolCall(call: unknown): PlainToolCall {
  const fields = fieldsOf(call)
  const inner = isObject(fields['function']) ? fields['function'] : fieldsOf(fields['functionCall'] ?? call)
  const given = inner['arguments'] ?? inner['args'] ?? inner['input'] ?? {}
  return {
    id: textOf(fields['call_id']) || textOf(fields['id']) || textOf(inner['id']),
    name: textOf(inner['name']),
    arguments: typeof given === 'string' ? given : JSON.stringify(given),
  }
}
