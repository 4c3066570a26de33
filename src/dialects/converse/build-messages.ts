import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { Message, ToolCall } from '../../core/request.ts'
import { inputOf, type Turn, turnsOf } from '../claude.ts'
import { dropExtras } from '../dropped.ts'
import { thoughtsOf } from '../thoughts.ts'
import { type Writing, writePart } from './build-content.ts'
import { cachePointFor } from './model.ts'
import { writeCallId, writeRedacted, writeToolName } from './names.ts'

export interface Written {
  system: JsonObject[]
  messages: Turn[]
}

/**
 * | message | Converse |
 * |---|---|
 * | system, developer | `system`, whatever their place |
 * | user | a user turn |
 * | assistant | an assistant turn: thoughts, text (or refusal), calls |
 * | tool | a `toolResult` in a user turn |
 */
export function writeMessages(messages: readonly Message[], writing: Writing): Written {
  dropExtras(messages, EXTRAS, writing.drop)
  const { system, turns } = turnsOf(messages, (message, index) =>
    writeContent(message, `messages[${index}]`, writing),
  )
  if (turns.length === 0) throw badRequest('contain no text that a model could answer', 'messages')
  for (const turn of turns) accompanyDocuments(turn)
  trimPrefill(turns)
  return { system, messages: turns }
}

const EXTRAS = { message: ['cache_control', 'is_error'], part: ['cache_control', 'citations'] }

/** The API rejects a document without any text beside it, so its name is added as text. */
function accompanyDocuments({ content }: Turn): void {
  const document = content.find((block) => isObject(block['document']))?.['document']
  if (isObject(document) && !content.some((block) => block['text'] !== undefined)) {
    content.unshift({ text: String(document['name']) })
  }
}

/** Claude rejects a prefilled answer that ends in white space. */
function trimPrefill(turns: Turn[]): void {
  const turn = turns.at(-1)
  const block = turn?.role === 'assistant' ? turn.content.at(-1) : undefined
  if (typeof block?.['text'] === 'string') block['text'] = block['text'].trimEnd()
}

function writeContent(message: Message, path: string, writing: Writing): JsonObject[] {
  const { role, name, extra } = message
  const { abilities, drop } = writing
  if (name !== undefined && role !== 'tool') drop('messages.name')
  if (role === 'tool') return writeResult(message, path, writing)
  const blocks =
    role === 'assistant' ? writeAssistant(message, path, writing) : writeParts(message.content, path, writing)
  const spoken = role === 'system' || role === 'developer' ? textAlone(blocks, writing) : blocks
  return spoken.length === 0 ? [] : [...spoken, ...cachePointFor(extra, abilities, drop)]
}

const writeParts = (content: Message['content'], path: string, writing: Writing): JsonObject[] =>
  Array.isArray(content)
    ? content.flatMap((part, index) => writePart(part, `${path}.content[${index}]`, writing))
    : writePart({ type: 'text', text: content ?? '' }, path, writing)

/** Instructions and answers may hold only text and cache points; other content is for users and tools. */
function textAlone(blocks: JsonObject[], { drop }: Writing): JsonObject[] {
  const kept = blocks.filter((block) => block['text'] !== undefined || block['cachePoint'] !== undefined)
  if (kept.length < blocks.length) drop('messages.content')
  return kept
}

function writeAssistant(message: Message, path: string, writing: Writing): JsonObject[] {
  const { content, refusal, toolCalls = [] } = message
  const calls = toolCalls.flatMap((call) => [
    { toolUse: writeCall(call) },
    ...cachePointFor(call.extra, writing.abilities, writing.drop),
  ])
  return [
    ...writeThoughts(message, writing),
    ...textAlone(writeParts(content ?? refusal ?? '', path, writing), writing),
    ...calls,
  ]
}

/** Only Claude takes its former thoughts back, and verifies them; other models sign none. */
function writeThoughts(message: Message, { abilities, drop }: Writing): JsonObject[] {
  if (abilities.family !== 'Claude') {
    if (message.reasoningDetails !== undefined) drop('messages.reasoning_details')
    else if (message.reasoning) drop('messages.reasoning')
    return []
  }
  return thoughtsOf(message, drop).map((thought) => ({
    reasoningContent:
      'data' in thought
        ? { redactedContent: writeRedacted(thought.data) }
        : { reasoningText: { text: thought.text, signature: thought.signature } },
  }))
}

const writeCall = ({ id, name, arguments: json }: ToolCall): JsonObject => ({
  toolUseId: writeCallId(id),
  name: writeToolName(name),
  input: inputOf(json),
})

/** Some models reject an empty result, so it becomes a word. Cache points follow the result. */
function writeResult(message: Message, path: string, writing: Writing): JsonObject[] {
  const { abilities, drop } = writing
  const blocks = writeParts(message.content, path, writing)
  const points = blocks.filter((block) => block['cachePoint'] !== undefined)
  const content = blocks.filter((block) => block['cachePoint'] === undefined)
  const isError = message.extra?.['is_error'] === true
  if (isError && !abilities.takesStatus) drop('messages.is_error')
  const own = cachePointFor(message.extra, abilities, drop)
  return [
    {
      toolResult: {
        toolUseId: writeCallId(message.toolCallId ?? ''),
        content: content.length > 0 ? content : [{ text: '(empty)' }],
        ...(isError && abilities.takesStatus ? { status: 'error' } : {}),
      },
    },
    ...(own.length > 0 ? own : points.slice(-1)),
  ]
}
