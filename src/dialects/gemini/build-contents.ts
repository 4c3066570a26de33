import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject, parseJson } from '../../core/json.ts'
import type { Message, ToolCall } from '../../core/request.ts'
import type { Drop } from '../dropped.ts'
import { isNoArguments } from '../json-text.ts'
import { dropExtra, dropMark, isMark, writePart } from './build-parts.ts'
import type { Generation } from './build-thinking.ts'
import { FOREIGN_CALL, type Replayed, replayedOf } from './signatures.ts'

export interface Contents {
  systemInstruction: JsonObject | undefined
  contents: JsonObject[]
  /** The places right after what the caller marked with `cache_control`, in the order of the messages. */
  marks: Place[]
}

/** A place before this part of this content; either index may be one past the end. */
export interface Place {
  content: number
  part: number
}

/**
 * | message | Gemini's |
 * |---|---|
 * | system, developer | `systemInstruction`; a later one moves there, and `messages.role` is dropped |
 * | user | `user` |
 * | assistant | `model`: thoughts, text (or refusal), calls, with their signatures |
 * | tool, and those beside it | one `user` content: `functionResponse` each, then their images; `is_error`: the text is `error` |
 *
 * Throws a `GatewayError` 400 for a tool message that answers no call.
 */
export function writeContents(messages: readonly Message[], generation: Generation, drop: Drop): Contents {
  const system: JsonObject[] = []
  const contents: JsonObject[] = []
  const marks: Place[] = []
  const callNames = new Map<string, string>()
  let results: Results | undefined
  messages.forEach((message, index) => {
    dropUnsayable(message, drop)
    if (message.role === 'tool') {
      results ??= openResults(contents)
      addResult(results, message, nameOfCall(message, callNames, index), drop)
      if (hasMark(message)) marks.push(endOf(contents))
      return
    }
    closeResults(results)
    results = undefined
    if (message.role === 'assistant') {
      for (const { id, name } of message.toolCalls ?? []) callNames.set(id, name)
      addContent(contents, 'model', writeAssistant(message, generation, drop))
      if (hasMark(message)) marks.push(endOf(contents))
    } else if (message.role === 'user') {
      const content = contents.length
      const parts = writeText(message, drop, (part) => marks.push({ content, part }))
      addContent(contents, 'user', parts)
      if (isMark(message.extra)) marks.push(endOf(contents))
    } else {
      if (contents.length > 0) drop('messages.role')
      system.push(...writeText(message, drop))
      // All of them come first, whatever their place was.
      if (hasMark(message)) marks.push({ content: 0, part: 0 })
    }
  })
  closeResults(results)
  // Google rejects a request without contents.
  if (contents.length === 0)
    return { systemInstruction: undefined, contents: [{ role: 'user', parts: system }], marks: [] }
  return { systemInstruction: system.length > 0 ? { parts: system } : undefined, contents, marks }
}

const endOf = (contents: readonly JsonObject[]): Place => ({ content: contents.length, part: 0 })

const hasMark = ({ content, extra, toolCalls }: Message): boolean =>
  isMark(extra) ||
  toolCalls?.some((call) => isMark(call.extra)) === true ||
  (Array.isArray(content) && content.some((part) => part.type !== 'unknown' && isMark(part.extra)))

function dropUnsayable({ name, extra, role, toolCalls }: Message, drop: Drop): void {
  if (name !== undefined && role !== 'tool') drop('messages.name')
  const { is_error: _, ...rest } = extra ?? {}
  dropExtra(role === 'tool' ? rest : extra, 'messages', drop)
  for (const call of toolCalls ?? []) if (isMark(call.extra)) dropMark(call.extra?.['cache_control'], drop)
}

/**
 * Merges consecutive turns of the model: Google rejects a call whose turn does not follow the user's turn or a response
 * (400 `function call turn comes immediately after a user turn`). Turns of the user stay apart: Google reads a question
 * in the same turn as the responses as their end.
 */
function addContent(contents: JsonObject[], role: string, parts: JsonObject[]): void {
  if (parts.length === 0) return
  const last = contents.at(-1)
  if (role === 'model' && last?.role === 'model' && Array.isArray(last.parts)) last.parts.push(...parts)
  else contents.push({ role, parts })
}

/** `onMark` gets the number of parts up to and including a marked one. */
function writeText({ content }: Message, drop: Drop, onMark?: (parts: number) => void): JsonObject[] {
  if (!Array.isArray(content)) return content === null || content === '' ? [] : [{ text: content }]
  const parts: JsonObject[] = []
  for (const part of content) {
    parts.push(...writePart(part, drop))
    if (onMark && part.type !== 'unknown' && isMark(part.extra)) onMark(parts.length)
  }
  return parts
}

function writeAssistant(message: Message, generation: Generation, drop: Drop): JsonObject[] {
  const replayed = replayedOf(message)
  if (replayed.hasForeign) drop('messages.reasoning_details')
  if (message.reasoning !== undefined && replayed.thoughts === '') drop('messages.reasoning')
  const texts = writeText(message, drop)
  if (message.refusal) texts.push({ text: message.refusal })
  return [
    ...(replayed.thoughts === '' ? [] : [{ text: replayed.thoughts, thought: true }]),
    ...withSignatures(texts, replayed.loose),
    ...writeCalls(message.toolCalls ?? [], replayed, generation, drop),
  ]
}

/** The last text takes the first signature; further ones get empty texts, as in streams. */
function withSignatures(parts: JsonObject[], signatures: readonly string[]): JsonObject[] {
  const [first, ...more] = signatures
  if (first === undefined) return parts
  const last = parts.findLastIndex((part) => part['text'] !== undefined)
  const signed =
    last === -1
      ? [...parts, { text: '', thoughtSignature: first }]
      : parts.map((part, i) => (i === last ? { ...part, thoughtSignature: first } : part))
  return [...signed, ...more.map((thoughtSignature) => ({ text: '', thoughtSignature }))]
}

function writeCalls(
  calls: readonly ToolCall[],
  { byCall }: Replayed,
  { isGemini3 }: Generation,
  drop: Drop,
): JsonObject[] {
  const hasOwn = calls.some(({ id }) => byCall.has(id))
  return calls.map((call, i) => {
    const signature = byCall.get(call.id) ?? (isGemini3 && !hasOwn && i === 0 ? FOREIGN_CALL : undefined)
    return {
      functionCall: { ...writeId(call.id), name: call.name, args: argumentsOf(call, drop) },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    }
  })
}

/** Ids that Sluice made are left out: Google does not know them. Order and name then distinguish calls. */
const writeId = (id: string): JsonObject => (/^call_[0-9a-f]{32}$/.test(id) || id === '' ? {} : { id })

function argumentsOf(call: ToolCall, drop: Drop): JsonObject {
  if (isNoArguments(call.arguments)) return {}
  const value = parseJson(call.arguments)
  if (isObject(value)) return value
  drop('messages.tool_calls.arguments')
  return {}
}

/** The results of parallel calls in one content: responses first, because Google wants them together. */
interface Results {
  readonly parts: JsonObject[]
  /** Appended to `parts` after all responses. */
  readonly images: JsonObject[]
}

function openResults(contents: JsonObject[]): Results {
  const parts: JsonObject[] = []
  contents.push({ role: 'user', parts })
  return { parts, images: [] }
}

function closeResults(results: Results | undefined): void {
  for (const image of results?.images ?? []) results?.parts.push(image)
}

function addResult(results: Results, message: Message, name: string, drop: Drop): void {
  const parts = writeText(message, drop)
  const text = parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('\n')
  const response = message.extra?.['is_error'] === true ? { error: text } : responseOf(text)
  results.parts.push({ functionResponse: { ...writeId(message.toolCallId ?? ''), name, response } })
  for (const part of parts) if (part['text'] === undefined) results.images.push(part)
}

/** An object is sent unchanged, anything else as `output`. Numbers that JavaScript cannot hold stay text. */
function responseOf(text: string): JsonObject {
  const value = /\d{16}/.test(text) ? undefined : parseJson(text)
  return isObject(value) ? value : { output: text }
}

function nameOfCall(message: Message, names: ReadonlyMap<string, string>, index: number): string {
  const name = names.get(message.toolCallId ?? '') ?? message.name
  if (name !== undefined) return name
  throw badRequest('answers no tool call of the messages before it', `messages[${index}].tool_call_id`)
}
