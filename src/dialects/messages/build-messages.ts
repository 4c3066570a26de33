import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { ContentPart, Message, ToolCall } from '../../core/request.ts'
import { inputOf, type Turn, turnsOf } from '../claude.ts'
import { type Drop, dropExtras } from '../dropped.ts'
import { thoughtsOf } from '../thoughts.ts'
import { writePart } from './build-content.ts'
import { cacheMarkOf, callIdOf, isBlank } from './fields.ts'

interface Written {
  /** A lone instruction without marks is a string. */
  system: string | JsonObject[] | undefined
  messages: JsonObject[]
  /** Some document is named by its id. */
  usesFiles: boolean
}

/** Results of tools are blocks of a user turn. */
export function writeMessages(messages: readonly Message[], drop: Drop): Written {
  dropExtras(messages, EXTRAS, drop)
  const { system, turns } = turnsOf(messages, (message) => writeContent(message, drop))
  trimPrefill(turns)
  const usesFiles = turns.some(({ content }) => content.some(isFileReference))
  return { system: viewSystem(system), messages: turns.map(viewTurn), usesFiles }
}

const EXTRAS = { message: ['cache_control', 'is_error'], part: ['cache_control'] }

function isFileReference({ source, content }: JsonObject): boolean {
  if (Array.isArray(content)) return content.some((block) => isObject(block) && isFileReference(block))
  return isObject(source) && source.type === 'file'
}

/** The API refuses an answer that is begun for the model and ends in white space. */
function trimPrefill(turns: Turn[]): void {
  const turn = turns.at(-1)
  const block = turn?.role === 'assistant' ? turn.content.at(-1) : undefined
  if (block?.type !== 'text') return
  block.text = String(block.text).trimEnd()
  if (block.text === '') turn?.content.pop()
  if (turn?.content.length === 0) turns.pop()
}

const isPlain = (blocks: readonly JsonObject[]): boolean =>
  blocks.length === 1 && Object.keys(blocks[0] ?? {}).length === 2 && blocks[0]?.type === 'text'

function viewSystem(blocks: JsonObject[]): Written['system'] {
  if (blocks.length === 0) return undefined
  return isPlain(blocks) ? String(blocks[0]?.text) : blocks
}

const viewTurn = ({ role, content }: Turn): JsonObject => ({
  role,
  content: isPlain(content) ? content[0]?.text : content,
})

function writeContent(message: Message, drop: Drop): JsonObject[] {
  if (message.name !== undefined && message.role !== 'tool') drop('messages.name')
  switch (message.role) {
    case 'tool':
      return [writeResult(message, drop)]
    case 'assistant':
      return marked(
        [
          ...writeThoughts(message, drop),
          ...writeParts(message.content ?? message.refusal ?? '', drop),
          ...(message.toolCalls ?? []).map(writeCall),
        ],
        message,
      )
    default:
      return marked(writeParts(message.content, drop), message)
  }
}

const writeParts = (content: string | ContentPart[] | null, drop: Drop): JsonObject[] =>
  Array.isArray(content)
    ? content.flatMap((part) => writePart(part, drop))
    : content === null || isBlank(content)
      ? []
      : [{ type: 'text', text: content }]

/** A `cache_control` marker on the message moves to its last block. */
function marked(blocks: JsonObject[], { extra }: Message): JsonObject[] {
  const last = blocks.at(-1)
  if (last) Object.assign(last, cacheMarkOf(extra))
  return blocks
}

/** The API rejects markers inside a result: the last one moves to the result itself. */
function writeResult(message: Message, drop: Drop): JsonObject {
  const { content, toolCallId, extra } = message
  const blocks = writeParts(content, drop).map(({ cache_control, ...block }) => ({ block, cache_control }))
  const mark =
    cacheMarkOf(extra).cache_control ?? blocks.findLast((each) => each.cache_control)?.cache_control
  return {
    type: 'tool_result',
    tool_use_id: callIdOf(toolCallId ?? ''),
    ...(blocks.length === 0
      ? {}
      : { content: typeof content === 'string' ? content : blocks.map(({ block }) => block) }),
    ...(extra?.is_error === true ? { is_error: true } : {}),
    ...(mark === undefined ? {} : { cache_control: mark }),
  }
}

const writeCall = ({ id, name, arguments: json, extra }: ToolCall): JsonObject => ({
  type: 'tool_use',
  id: callIdOf(id),
  name,
  input: inputOf(json),
  ...cacheMarkOf(extra),
})

/** Former thoughts go back as they came: `thinking` with its signature, `redacted_thinking`. */
const writeThoughts = (message: Message, drop: Drop): JsonObject[] =>
  thoughtsOf(message, drop).map((thought) =>
    'data' in thought
      ? { type: 'redacted_thinking', data: thought.data }
      : { type: 'thinking', thinking: thought.text, signature: thought.signature },
  )
