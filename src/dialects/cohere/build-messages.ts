import type { JsonObject } from '../../core/events.ts'
import { defined, isString } from '../../core/json.ts'
import type { ContentPart, FunctionTool, InferenceRequest, Message, ToolCall } from '../../core/request.ts'
import { type Drop, dropExtras, dropFields } from '../dropped.ts'
import { plainThoughts } from '../thoughts.ts'

/** The format of this dialect's reasoning details. */
export const REASONING_FORMAT = 'cohere-v2'

interface Written {
  messages: JsonObject[]
  /** Text files, which Cohere takes beside the messages. */
  documents: JsonObject[]
}

/**
 * | message | Cohere's |
 * |---|---|
 * | system, developer | `system`, at the same place |
 * | user | `user`: text and images |
 * | assistant | `assistant`: thoughts as `thinking`, text (or refusal), `tool_plan`, `tool_calls` |
 * | tool | `tool`: text |
 */
export function writeMessages(messages: readonly Message[], takesThoughts: boolean, drop: Drop): Written {
  const documents: JsonObject[] = []
  dropExtras(messages, NO_EXTRAS, drop)
  const written = messages.flatMap((message): JsonObject[] => {
    const { role, name, toolCallId, content } = message
    if (name !== undefined && role !== 'tool') drop('messages.name')
    if (role === 'assistant') {
      const turn = writeAssistant(message, takesThoughts, drop)
      return isSilent(message, turn) ? [] : [turn]
    }
    if (role === 'user') {
      return [{ role, content: writeContent(content, (part) => writeUserPart(part, documents, drop)) }]
    }
    const text = writeContent(content, (part) => writeTextPart(part, drop))
    return role === 'tool'
      ? [{ role, tool_call_id: toolCallId, content: text }]
      : [{ role: 'system', content: text }]
  })
  return { messages: written, documents }
}

const NONE: readonly string[] = []
const NO_EXTRAS = { message: NONE, part: NONE }

/** True if all content of the answer was dropped: Cohere rejects an empty message. */
const isSilent = ({ content }: Message, turn: JsonObject): boolean =>
  Array.isArray(content) && content.length > 0 && turn['content'] === '' && Object.keys(turn).length === 2

/** A string stays a string; a list without content becomes an empty string. */
function writeContent(
  content: Message['content'],
  write: (part: ContentPart) => JsonObject[],
): string | JsonObject[] {
  if (!Array.isArray(content)) return content ?? ''
  const parts = content.flatMap(write)
  return parts.length > 0 ? parts : ''
}

function writeTextPart(part: ContentPart, drop: Drop): JsonObject[] {
  if (part.type !== 'text') {
    drop(`content.${nameOf(part)}`)
    return []
  }
  return part.text === '' ? [] : [{ type: 'text', text: part.text }]
}

function writeUserPart(part: ContentPart, documents: JsonObject[], drop: Drop): JsonObject[] {
  if (part.type === 'image') {
    return [{ type: 'image_url', image_url: defined({ url: part.url, detail: part.detail }) }]
  }
  if (part.type === 'file') {
    const text = textOfFile(part.data)
    if (text !== undefined) {
      documents.push({ data: defined({ text, title: part.filename }) })
      return []
    }
  }
  return writeTextPart(part, drop)
}

/** The API's name of a part. */
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

/** The text of a data URL with a text type; undefined for any other file. */
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

function writeAssistant(message: Message, takesThoughts: boolean, drop: Drop): JsonObject {
  const { thoughts, plan } = replayedOf(message, drop)
  if (thoughts.length > 0 && !takesThoughts) drop('messages.reasoning')
  const thinking = takesThoughts ? thoughts.map((text) => ({ type: 'thinking', thinking: text })) : []
  const written = writeContent(message.content, (part) => writeTextPart(part, drop))
  const text = written === '' ? (message.refusal ?? '') : written
  const parts = typeof text === 'string' ? (text === '' ? [] : [{ type: 'text', text }]) : text
  const calls = message.toolCalls?.map(writeCall)
  const content = thinking.length > 0 ? [...thinking, ...parts] : text
  return defined({
    role: 'assistant',
    // A message with calls may have no content.
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

/** Former thoughts, and the plan that led to the calls. Signed or encrypted thoughts of other models are dropped. */
function replayedOf(message: Message, drop: Drop): { thoughts: string[]; plan: string } {
  const { thoughts, rest } = plainThoughts(message, REASONING_FORMAT)
  let plan = ''
  for (const { type, format, summary } of rest) {
    if (format === REASONING_FORMAT && type === 'reasoning.summary' && isString(summary)) plan += summary
    else drop('messages.reasoning_details')
  }
  return { thoughts, plan }
}

/**
 * | tools, tool_choice | Cohere's |
 * |---|---|
 * | function | `tools` |
 * | auto / none / required | nothing / `NONE` / `REQUIRED` |
 * | one function | `REQUIRED`, and that function alone in `tools` |
 * | `strict` on every function, each with a required parameter | `strict_tools` |
 *
 * Dropped by name: built-in tools of other providers, `strict` on some, other choices, `parallel_tool_calls: false`.
 */
export function writeTools(request: InferenceRequest, drop: Drop): JsonObject {
  const functions: FunctionTool[] = []
  for (const tool of request.tools) {
    if (tool.type === 'function') functions.push(tool)
    else drop(`tools.${String(tool.data.type)}`)
  }
  if (functions.length === 0) return {}
  if (request.parallelToolCalls === false) drop('parallel_tool_calls')
  const { names, choice } = writeChoice(request, drop)
  const offered = names ? functions.filter(({ name }) => names.includes(name)) : functions
  return defined({
    tools: offered.map((tool) => writeFunction(tool, drop)),
    tool_choice: choice,
    strict_tools: isStrict(offered, drop) ? true : undefined,
  })
}

/** `names`: the only functions that may be called; undefined: all. */
function writeChoice(
  { toolChoice, tools }: InferenceRequest,
  drop: Drop,
): { names?: string[]; choice?: string } {
  if (toolChoice === undefined || toolChoice === 'auto') return {}
  if (toolChoice === 'none') return { choice: 'NONE' }
  if (toolChoice === 'required') return { choice: 'REQUIRED' }
  const isKnown =
    toolChoice.type === 'function' &&
    tools.some((tool) => tool.type === 'function' && tool.name === toolChoice.name)
  if (toolChoice.type === 'function' && isKnown) return { names: [toolChoice.name], choice: 'REQUIRED' }
  drop('tool_choice')
  return {}
}

function writeFunction({ name, description, parameters, extra }: FunctionTool, drop: Drop): JsonObject {
  dropFields(extra, 'tools', NONE, drop)
  return {
    type: 'function',
    function: defined({ name, description, parameters: parameters ?? { type: 'object', properties: {} } }),
  }
}

/** `strict_tools` applies to all tools, and each must then have a required parameter. */
function isStrict(functions: readonly FunctionTool[], drop: Drop): boolean {
  if (!functions.some(({ strict }) => strict === true)) return false
  const may = functions.every(({ strict, parameters }) => strict === true && hasRequired(parameters))
  if (!may) drop('tools.strict')
  return may
}

const hasRequired = (parameters: JsonObject | undefined): boolean =>
  Array.isArray(parameters?.required) && parameters.required.length > 0
