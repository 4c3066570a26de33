import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject, parseJson } from '../../core/json.ts'
import type { Message, ToolCall } from '../../core/request.ts'
import { isMark, type LeaveOut, leaveOutExtra, leaveOutMark, writePart } from './build-parts.ts'
import type { Generation } from './build-thinking.ts'
import { FOREIGN_CALL, type Replayed, replayedOf } from './signatures.ts'

export interface Contents {
  systemInstruction: JsonObject | undefined
  contents: JsonObject[]
  /** Behind what the caller marked with `cache_control`, in the order of the messages. */
  marks: Place[]
}

/** Before this part of this content; either may be one too many: the end. */
export interface Place {
  content: number
  part: number
}

/**
 * | message | Gemini's |
 * |---|---|
 * | system, developer | `systemInstruction`; one that came later moves there, and `messages.role` is named |
 * | user | `user` |
 * | assistant | `model`: thoughts, text (or refusal), calls, with their signatures |
 * | tool, and those beside it | one `user` content: `functionResponse` each, then their images; `is_error`: the text is `error` |
 *
 * Throws a `GatewayError` 400 for a tool message that answers no call.
 */
export function writeContents(
  messages: readonly Message[],
  generation: Generation,
  leaveOut: LeaveOut,
): Contents {
  const system: JsonObject[] = []
  const contents: JsonObject[] = []
  const marks: Place[] = []
  const callNames = new Map<string, string>()
  let results: Results | undefined
  messages.forEach((message, index) => {
    leaveOutUnsayable(message, leaveOut)
    if (message.role === 'tool') {
      results ??= openResults(contents)
      addResult(results, message, nameOfCall(message, callNames, index), leaveOut)
      if (hasMark(message)) marks.push(endOf(contents))
      return
    }
    closeResults(results)
    results = undefined
    if (message.role === 'assistant') {
      for (const { id, name } of message.toolCalls ?? []) callNames.set(id, name)
      addContent(contents, 'model', writeAssistant(message, generation, leaveOut))
      if (hasMark(message)) marks.push(endOf(contents))
    } else if (message.role === 'user') {
      const content = contents.length
      const parts = writeText(message, leaveOut, (part) => marks.push({ content, part }))
      addContent(contents, 'user', parts)
      if (isMark(message.extra)) marks.push(endOf(contents))
    } else {
      if (contents.length > 0) leaveOut('messages.role')
      system.push(...writeText(message, leaveOut))
      // All of them come first, wherever they stood.
      if (hasMark(message)) marks.push({ content: 0, part: 0 })
    }
  })
  closeResults(results)
  // Google refuses a request without contents.
  if (contents.length === 0)
    return { systemInstruction: undefined, contents: [{ role: 'user', parts: system }], marks: [] }
  return { systemInstruction: system.length > 0 ? { parts: system } : undefined, contents, marks }
}

const endOf = (contents: readonly JsonObject[]): Place => ({ content: contents.length, part: 0 })

const hasMark = ({ content, extra, toolCalls }: Message): boolean =>
  isMark(extra) ||
  toolCalls?.some((call) => isMark(call.extra)) === true ||
  (Array.isArray(content) && content.some((part) => part.type !== 'unknown' && isMark(part.extra)))

function leaveOutUnsayable({ name, extra, role, toolCalls }: Message, leaveOut: LeaveOut): void {
  if (name !== undefined && role !== 'tool') leaveOut('messages.name')
  const { is_error: _, ...rest } = extra ?? {}
  leaveOutExtra(role === 'tool' ? rest : extra, 'messages', leaveOut)
  for (const call of toolCalls ?? [])
    if (isMark(call.extra)) leaveOutMark(call.extra?.['cache_control'], leaveOut)
}

/**
 * Turns of the model that follow each other are one: Google refuses a call whose turn does not come right after the
 * user's or a response (400 `function call turn comes immediately after a user turn`). Those of the user stay apart: a
 * question inside the turn that holds responses is read as the end of them.
 */
function addContent(contents: JsonObject[], role: string, parts: JsonObject[]): void {
  if (parts.length === 0) return
  const last = contents.at(-1)
  if (role === 'model' && last?.role === 'model' && Array.isArray(last.parts)) last.parts.push(...parts)
  else contents.push({ role, parts })
}

/** `onMark` is told how many parts there are up to what is marked. */
function writeText({ content }: Message, leaveOut: LeaveOut, onMark?: (parts: number) => void): JsonObject[] {
  if (!Array.isArray(content)) return content === null || content === '' ? [] : [{ text: content }]
  const parts: JsonObject[] = []
  for (const part of content) {
    parts.push(...writePart(part, leaveOut))
    if (onMark && part.type !== 'unknown' && isMark(part.extra)) onMark(parts.length)
  }
  return parts
}

function writeAssistant(message: Message, generation: Generation, leaveOut: LeaveOut): JsonObject[] {
  const replayed = replayedOf(message)
  if (replayed.hasForeign) leaveOut('messages.reasoning_details')
  if (message.reasoning !== undefined && replayed.thoughts === '') leaveOut('messages.reasoning')
  const said = writeText(message, leaveOut)
  if (message.refusal !== undefined && message.refusal !== '') said.push({ text: message.refusal })
  return [
    ...(replayed.thoughts === '' ? [] : [{ text: replayed.thoughts, thought: true }]),
    ...withSignatures(said, replayed.loose),
    ...writeCalls(message.toolCalls ?? [], replayed, generation, leaveOut),
  ]
}

/** The last text takes the first signature; further ones stand on empty texts, as they do in streams. */
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
  leaveOut: LeaveOut,
): JsonObject[] {
  const hasOwn = calls.some(({ id }) => byCall.has(id))
  return calls.map((call, i) => {
    const signature = byCall.get(call.id) ?? (isGemini3 && !hasOwn && i === 0 ? FOREIGN_CALL : undefined)
    return {
      functionCall: { ...writeId(call.id), name: call.name, args: argumentsOf(call, leaveOut) },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    }
  })
}

/** An id that we made is unknown to Google, and Vertex refuses the field: then order and name tell them apart. */
const writeId = (id: string): JsonObject => (/^call_[0-9a-f]{32}$/.test(id) || id === '' ? {} : { id })

function argumentsOf(call: ToolCall, leaveOut: LeaveOut): JsonObject {
  if (call.arguments.trim() === '') return {}
  const value = parseJson(call.arguments)
  if (isObject(value)) return value
  leaveOut('messages.tool_calls.arguments')
  return {}
}

/** One content for what parallel calls answered: responses first, since Google wants them together. */
interface Results {
  readonly parts: JsonObject[]
  /** Appended to `parts` once all responses are there. */
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

function addResult(results: Results, message: Message, name: string, leaveOut: LeaveOut): void {
  const parts = writeText(message, leaveOut)
  const text = parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('\n')
  const said = message.extra?.['is_error'] === true ? { error: text } : responseOf(text)
  const response = { ...writeId(message.toolCallId ?? ''), name, response: said }
  results.parts.push({ functionResponse: response })
  for (const part of parts) if (part['text'] === undefined) results.images.push(part)
}

/** An object goes as it is, anything else as `output`; numbers too long for JavaScript stay text. */
function responseOf(text: string): JsonObject {
  const value = /\d{16}/.test(text) ? undefined : parseJson(text)
  return isObject(value) ? value : { output: text }
}

function nameOfCall(message: Message, names: ReadonlyMap<string, string>, index: number): string {
  const name = names.get(message.toolCallId ?? '') ?? message.name
  if (name !== undefined) return name
  throw badRequest('answers no tool call of the messages before it', `messages[${index}].tool_call_id`)
}
