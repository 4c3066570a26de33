import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, isObject, isString, restOf } from '../../core/json.ts'
import type { ContentPart, Message, ToolCall } from '../../core/request.ts'
import { plainest } from '../caller-fields.ts'
import { quoted } from '../mismatch.ts'
import { isSealed, unseal } from '../opaque.ts'
import { REASONING_FORMAT } from '../thoughts.ts'
import { shortName } from '../tool-names.ts'
import type { Keep } from './fields.ts'
import { readBlock, readBlocks, readText } from './parse-content.ts'
import type { MessagesBody } from './schema.ts'
import type {
  AnthropicMessage,
  AssistantBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from './schema-messages.ts'

/**
 * | Messages | neutral |
 * |---|---|
 * | `system` | a system message, first |
 * | user | one message of role `tool` for each `tool_result`, then a user message with the rest |
 * | assistant | texts, calls (`tool_use`), thoughts as reasoning details |
 * | system | a system message in its place |
 *
 * Throws a `GatewayError` 400 for a result of no call before it.
 */
export function readMessages({ system, messages }: MessagesBody, keep: Keep): Message[] {
  const read: Message[] = []
  const calls = new Set<string>()
  if (system && system.length > 0) read.push(readSystem(system, keep))
  for (const [i, message] of messages.entries()) {
    const at = `messages[${i}].content`
    keep.rest(restOf(message, MESSAGE), 'messages')
    if (message.role === 'user') read.push(...readUser(message, at, calls, keep))
    else if (message.role === 'assistant') read.push(readAssistant(message, at, calls, keep))
    else read.push(readInstruction(message, at, keep))
  }
  return read
}

const MESSAGE = new Set(['role', 'content'])

type OfRole<Role extends string> = Extract<AnthropicMessage, { role: Role }>

const readSystem = (system: NonNullable<MessagesBody['system']>, keep: Keep): Message => ({
  role: 'system',
  content: typeof system === 'string' ? system : plainest(system.map((block) => readText(block, keep))),
})

const readInstruction = ({ content }: OfRole<'system'>, at: string, keep: Keep): Message => ({
  role: 'system',
  content: Array.isArray(content) ? plainest(readBlocks(content, at, keep)) : (content ?? ''),
})

function readUser(
  { content }: OfRole<'user'>,
  at: string,
  calls: ReadonlySet<string>,
  keep: Keep,
): Message[] {
  if (typeof content === 'string') return [{ role: 'user', content }]
  const results: Message[] = []
  const parts: ContentPart[] = []
  for (const [i, block] of content.entries()) {
    const place = `${at}[${i}]`
    if (isResult(block)) results.push(readResult(block, place, calls, keep))
    else parts.push(...readBlock(block, place, keep))
  }
  if (parts.length > 0 || results.length === 0) results.push({ role: 'user', content: plainest(parts) })
  return results
}

const isResult = (block: UserBlock): block is ToolResultBlock => block.type === 'tool_result'

const RESULT = new Set(['type', 'tool_use_id', 'content', 'is_error'])

function readResult(block: ToolResultBlock, at: string, calls: ReadonlySet<string>, keep: Keep): Message {
  const { tool_use_id, content, is_error } = block
  if (!calls.has(tool_use_id)) {
    throw badRequest(
      `must be the id of a tool_use block of an assistant message before it, not ${quoted(tool_use_id)}`,
      `${at}.tool_use_id`,
    )
  }
  const rest = keep.rest(restOf(block, RESULT), 'messages.content')
  return defined({
    role: 'tool',
    content: Array.isArray(content) ? plainest(readBlocks(content, `${at}.content`, keep)) : (content ?? ''),
    toolCallId: tool_use_id,
    extra: is_error === true ? { ...rest, is_error } : rest,
  })
}

function readAssistant(
  { content }: OfRole<'assistant'>,
  at: string,
  calls: Set<string>,
  keep: Keep,
): Message {
  if (typeof content === 'string') return { role: 'assistant', content }
  const thoughts = createThoughts()
  const parts: ContentPart[] = []
  const toolCalls: ToolCall[] = []
  // Anthropic takes an id again in a later message (recorded 2026).
  const own = new Set<string>()
  for (const [i, block] of content.entries()) {
    if (block.type === 'thinking' || block.type === 'redacted_thinking') thoughts.add(block)
    else if (isCall(block)) toolCalls.push(readCall(block, `${at}[${i}]`, own, keep))
    else parts.push(...readBlock(block, `${at}[${i}]`, keep))
  }
  for (const id of own) calls.add(id)
  return defined({
    role: 'assistant',
    content: parts.length > 0 ? plainest(parts) : null,
    toolCalls: toolCalls.length > 0 ? toolCalls : undefined,
    ...thoughts.read(),
  })
}

const isCall = (block: AssistantBlock): block is ToolUseBlock => block.type === 'tool_use'

const CALL = new Set(['type', 'id', 'name', 'input', 'caller'])

function readCall(block: ToolUseBlock, at: string, own: Set<string>, keep: Keep): ToolCall {
  const { id, name, input } = block
  if (own.has(id)) throw badRequest(`must be unique; ${quoted(id)} is the id of an earlier call`, `${at}.id`)
  own.add(id)
  const extra = keep.rest(restOf(block, CALL), 'messages.content')
  return defined({ id, name: shortName(name), arguments: JSON.stringify(input), extra })
}

type ThoughtBlock = Extract<AssistantBlock, { type: 'thinking' | 'redacted_thinking' }>

/** The thoughts of one assistant message: what the writer of this dialect made of reasoning details, undone. */
interface Thoughts {
  add(block: ThoughtBlock): void
  read(): Pick<Message, 'reasoning' | 'reasoningDetails'>
}

/**
 * | block | detail |
 * |---|---|
 * | `thinking` with Anthropic's signature | `reasoning.text` with it |
 * | `thinking` with a sealed one | the detail in it, with the text |
 * | `thinking` without one | none: text alone |
 * | `redacted_thinking` of Anthropic | `reasoning.encrypted` |
 * | `redacted_thinking` that is sealed | the detail in it |
 */
function createThoughts(): Thoughts {
  const details: JsonObject[] = []
  let reasoning = ''
  let count = 0
  return {
    add(block) {
      const index = count++
      if (block.type === 'thinking') {
        reasoning += block.thinking
        const detail = detailOf(block.thinking, block.signature ?? '', index)
        if (detail) details.push(detail)
      } else if (!isSealed(block.data)) {
        details.push({ type: 'reasoning.encrypted', data: block.data, format: REASONING_FORMAT, index })
      } else {
        const detail = unseal(block.data)
        if (isString(detail?.type)) details.push(detail)
      }
    },
    read: () => ({
      ...(reasoning === '' ? {} : { reasoning }),
      ...(details.length === 0 ? {} : { reasoningDetails: details }),
    }),
  }
}

function detailOf(text: string, signature: string, index: number): JsonObject | undefined {
  if (signature === '') return undefined
  if (!isSealed(signature)) {
    return { type: 'reasoning.text', text, signature, format: REASONING_FORMAT, index }
  }
  const detail = unseal(signature)?.detail
  if (!isObject(detail) || !isString(detail.type)) return undefined
  if (text === '') return detail
  return { ...detail, [detail.type === 'reasoning.summary' ? 'summary' : 'text']: text }
}
