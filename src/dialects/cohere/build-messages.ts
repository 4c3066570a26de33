import type { JsonObject } from '../../core/events.ts'
import { defined, isString } from '../../core/json.ts'
import type { ContentPart, Message, ToolCall } from '../../core/request.ts'
import { plainThoughts } from '../plain-thoughts.ts'
import { type LeaveOut, REASONING_FORMAT } from './names.ts'

export interface Written {
  messages: JsonObject[]
  /** Files of text: Cohere has a place for them beside the messages. */
  documents: JsonObject[]
}

/**
 * | message | Cohere's |
 * |---|---|
 * | system, developer | `system`, where it stands |
 * | user | `user`: text and images |
 * | assistant | `assistant`: thoughts as `thinking`, text (or refusal), `tool_plan`, `tool_calls` |
 * | tool | `tool`: text |
 */
export function writeMessages(
  messages: readonly Message[],
  takesThoughts: boolean,
  leaveOut: LeaveOut,
): Written {
  const documents: JsonObject[] = []
  const written = messages.flatMap((message): JsonObject[] => {
    const { role, name, extra, toolCallId, content } = message
    if (name !== undefined && role !== 'tool') leaveOut('messages.name')
    for (const key of Object.keys(extra ?? {})) leaveOut(key === 'cache_control' ? key : `messages.${key}`)
    if (role === 'assistant') {
      const turn = writeAssistant(message, takesThoughts, leaveOut)
      return isSilent(message, turn) ? [] : [turn]
    }
    if (role === 'user') {
      return [{ role, content: writeContent(content, (part) => writeUserPart(part, documents, leaveOut)) }]
    }
    const text = writeContent(content, (part) => writeTextPart(part, leaveOut))
    return role === 'tool'
      ? [{ role, tool_call_id: toolCallId, content: text }]
      : [{ role: 'system', content: text }]
  })
  return { messages: written, documents }
}

/** All that the answer had was left out, by name: an empty one would be refused. */
const isSilent = ({ content }: Message, turn: JsonObject): boolean =>
  Array.isArray(content) && content.length > 0 && turn['content'] === '' && Object.keys(turn).length === 2

/** A string stays one; a list without anything to say is an empty string. */
function writeContent(
  content: Message['content'],
  write: (part: ContentPart) => JsonObject[],
): string | JsonObject[] {
  if (!Array.isArray(content)) return content ?? ''
  const parts = content.flatMap(write)
  return parts.length > 0 ? parts : ''
}

function writeTextPart(part: ContentPart, leaveOut: LeaveOut): JsonObject[] {
  if (part.type !== 'text') {
    leaveOut(`content.${nameOf(part)}`)
    return []
  }
  leaveOutExtra(part.extra, leaveOut)
  return part.text === '' ? [] : [{ type: 'text', text: part.text }]
}

function writeUserPart(part: ContentPart, documents: JsonObject[], leaveOut: LeaveOut): JsonObject[] {
  if (part.type === 'image') {
    leaveOutExtra(part.extra, leaveOut)
    return [{ type: 'image_url', image_url: defined({ url: part.url, detail: part.detail }) }]
  }
  if (part.type === 'file') {
    const text = textOfFile(part.data)
    if (text !== undefined) {
      leaveOutExtra(part.extra, leaveOut)
      documents.push({ data: defined({ text, title: part.filename }) })
      return []
    }
  }
  return writeTextPart(part, leaveOut)
}

function leaveOutExtra(extra: JsonObject | undefined, leaveOut: LeaveOut): void {
  for (const name of Object.keys(extra ?? {})) {
    leaveOut(name === 'cache_control' ? name : `messages.content.${name}`)
  }
}

/** The API's word for a part. */
function nameOf(part: ContentPart): string {
  switch (part.type) {
    case 'image':
      return 'image_url'
    case 'audio':
      return 'input_audio'
    case 'video':
      return 'video_url'
    case 'unknown':
      return String(part.data.type)
    default:
      return part.type
  }
}

const TEXT_URL = /^data:(?:text\/|application\/(?:json|xml)\b)[^,]*,/i

/** The text of a data URL that holds some; undefined for any other file. */
function textOfFile(data: string | undefined): string | undefined {
  const head = data === undefined ? null : TEXT_URL.exec(data)
  if (data === undefined || head === null) return undefined
  const rest = data.slice(head[0].length)
  if (/;base64,$/i.test(head[0])) return Buffer.from(rest, 'base64').toString('utf8')
  try {
    return decodeURIComponent(rest)
  } catch {
    return rest
  }
}

function writeAssistant(message: Message, takesThoughts: boolean, leaveOut: LeaveOut): JsonObject {
  const { thoughts, plan } = replayedOf(message, leaveOut)
  if (thoughts.length > 0 && !takesThoughts) leaveOut('messages.reasoning')
  const thinking = takesThoughts ? thoughts.map((text) => ({ type: 'thinking', thinking: text })) : []
  const said = writeContent(message.content, (part) => writeTextPart(part, leaveOut))
  const text = said === '' && message.refusal !== undefined ? message.refusal : said
  const parts = typeof text === 'string' ? (text === '' ? [] : [{ type: 'text', text }]) : text
  const calls = message.toolCalls?.map(writeCall)
  const content = thinking.length > 0 ? [...thinking, ...parts] : text
  return defined({
    role: 'assistant',
    // Beside calls there may be no content at all.
    content: content === '' && calls !== undefined ? undefined : content,
    tool_plan: plan === '' ? undefined : plan,
    tool_calls: calls,
  })
}

const writeCall = ({ id, name, arguments: json }: ToolCall): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: json.trim() === '' ? '{}' : json },
})

/** Former thoughts, and the plan that led to the calls. What others signed or encrypted cannot go back. */
function replayedOf(message: Message, leaveOut: LeaveOut): { thoughts: string[]; plan: string } {
  const { thoughts, rest } = plainThoughts(message, REASONING_FORMAT)
  let plan = ''
  for (const { type, format, summary } of rest) {
    if (format === REASONING_FORMAT && type === 'reasoning.summary' && isString(summary)) plan += summary
    else leaveOut('messages.reasoning_details')
  }
  return { thoughts, plan }
}
