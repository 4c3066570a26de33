import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined } from '../../core/json.ts'
import type { ContentPart, Message, ToolCall } from '../../core/request.ts'
import { plainest } from '../caller-fields.ts'
import { quoted } from '../mismatch.ts'
import { shortName } from '../tool-names.ts'
import { createThoughts, type Keep, readPart } from './parse-parts.ts'
import type { Content, GeminiBody, Part } from './schema.ts'

type Call = NonNullable<Part['functionCall']>
type Answer = NonNullable<Part['functionResponse']>

/**
 * | Gemini | neutral |
 * |---|---|
 * | `systemInstruction` | a system message, first |
 * | `user` | one message of role `tool` for each `functionResponse`, then a user message with the rest |
 * | `model` | texts, calls, thoughts as reasoning details |
 *
 * Calls without an id get one by their order, so that a repeated conversation is byte for byte the same to a provider's
 * cache. A response without an id, or with an unknown one, answers the oldest open call of its name. Throws a
 * `GatewayError` 400 for a response to no call.
 */
export function readContents({ systemInstruction, contents }: GeminiBody, keep: Keep): Message[] {
  const read: Message[] = []
  const ids = createCallIds()
  const system = systemOf(systemInstruction, keep)
  if (system) read.push(system)
  for (const [i, { role, parts }] of contents.entries()) {
    const at = `contents[${i}].parts`
    switch (role ?? 'user') {
      case 'user':
      case 'function':
      case 'tool':
        read.push(...readUser(parts ?? [], at, ids, keep))
        break
      case 'model':
      case 'assistant':
        read.push(...readModel(parts ?? [], at, ids, keep))
        break
      case 'system':
        read.push({ role: 'system', content: plainest(partsOf(parts ?? [], at, keep)) })
    }
  }
  return read
}

function systemOf(instruction: Content | null | undefined, keep: Keep): Message | undefined {
  const content = partsOf(instruction?.parts ?? [], 'systemInstruction.parts', keep)
  return content.length > 0 ? { role: 'system', content: plainest(content) } : undefined
}

const partsOf = (parts: readonly Part[], at: string, keep: Keep): ContentPart[] =>
  parts.flatMap((part, i) => readPart(part, `${at}[${i}]`, keep))

function readUser(parts: readonly Part[], at: string, ids: CallIds, keep: Keep): Message[] {
  const results: Message[] = []
  const content: ContentPart[] = []
  for (const [i, part] of parts.entries()) {
    const place = `${at}[${i}]`
    if (part.functionResponse) results.push(readAnswer(part.functionResponse, place, ids, keep))
    else content.push(...readPart(part, place, keep))
  }
  if (content.length > 0) results.push({ role: 'user', content: plainest(content) })
  return results
}

const ANSWER = new Set(['id', 'name', 'response', 'parts'])

function readAnswer(answer: Answer, at: string, ids: CallIds, keep: Keep): Message {
  const { id, name, response, parts } = answer
  keep.rest(answer, ANSWER, 'contents.functionResponse.')
  const toolCallId = ids.answered(id ?? undefined, name)
  if (toolCallId === undefined) {
    throw badRequest(
      `must answer a functionCall of the contents before it; there is no open call of ${quoted(name)}`,
      `${at}.functionResponse`,
    )
  }
  const { text, isError } = answerIn(response ?? {})
  const media = (parts ?? []).flatMap((part, i) => readPart(part, `${at}.functionResponse.parts[${i}]`, keep))
  return defined({
    role: 'tool',
    content: media.length === 0 ? text : [{ type: 'text', text }, ...media],
    toolCallId,
    extra: isError ? { is_error: true } : undefined,
  })
}

/** Google writes a plain text as `{output}` or `{error}` alone; anything else is JSON. */
function answerIn(response: JsonObject): { text: string; isError: boolean } {
  const [only, ...more] = Object.keys(response)
  const { output, error } = response
  const isAlone = more.length === 0
  if (isAlone && only === 'output' && typeof output === 'string') return { text: output, isError: false }
  if (isAlone && only === 'error' && typeof error === 'string') return { text: error, isError: true }
  return { text: JSON.stringify(response), isError: isAlone && only === 'error' }
}

/** Skips empty turns of the model: clients keep one for an answer that failed. */
function readModel(parts: readonly Part[], at: string, ids: CallIds, keep: Keep): Message[] {
  const thoughts = createThoughts()
  const content: ContentPart[] = []
  const toolCalls: ToolCall[] = []
  for (const [i, part] of parts.entries()) {
    if (part.functionCall) {
      const call = readCall(part.functionCall, ids, keep)
      toolCalls.push({ ...call, ...thoughts.addCall(call.id, part.thoughtSignature ?? '') })
    } else if (part.thought === true) {
      thoughts.addThought(part.text ?? '', part.thoughtSignature ?? '')
    } else {
      thoughts.addLoose(part.thoughtSignature ?? '')
      content.push(...readPart(part, `${at}[${i}]`, keep))
    }
  }
  const reasoning = thoughts.read()
  if (content.length === 0 && toolCalls.length === 0 && Object.keys(reasoning).length === 0) return []
  return [
    defined({
      role: 'assistant',
      content: content.length > 0 ? plainest(content) : null,
      toolCalls: toolCalls.length > 0 ? toolCalls : undefined,
      ...reasoning,
    }),
  ]
}

const CALL = new Set(['id', 'name', 'args'])

function readCall(call: Call, ids: CallIds, keep: Keep): ToolCall {
  keep.rest(call, CALL, 'contents.functionCall.')
  const id = ids.called(call.id ?? undefined, call.name)
  return { id, name: shortName(call.name), arguments: JSON.stringify(call.args ?? {}) }
}

/**
 * Matches responses to calls. Google's ids are optional: some clients send none, some only on the response. Each step
 * takes constant time: calls of one name wait in a queue.
 */
interface CallIds {
  /** The id of the next call of the conversation; unique in it. */
  called(id: string | undefined, name: string): string
  /** The id of the call that a response answers; undefined if no call is open. */
  answered(id: string | undefined, name: string): string | undefined
}

interface Queue {
  readonly ids: string[]
  next: number
}

function createCallIds(): CallIds {
  const used = new Set<string>()
  /** The caller's id → ours. */
  const byId = new Map<string, string>()
  const open = new Map<string, Queue>()
  const done = new Set<string>()
  let count = 0

  function fresh(): string {
    let id = `call_${++count}`
    while (used.has(id)) id = `call_${++count}`
    return id
  }

  return {
    called(id, name) {
      const own = id === undefined || id === '' || used.has(id) ? fresh() : id
      used.add(own)
      if (id !== undefined && id !== '') byId.set(id, own)
      const queue = open.get(name) ?? { ids: [], next: 0 }
      queue.ids.push(own)
      open.set(name, queue)
      return own
    },
    answered(id, name) {
      const own = id === undefined ? undefined : byId.get(id)
      if (own !== undefined) {
        done.add(own)
        return own
      }
      const queue = open.get(name)
      while (queue && queue.next < queue.ids.length) {
        const oldest = queue.ids[queue.next++]
        if (oldest === undefined || done.has(oldest)) continue
        done.add(oldest)
        return oldest
      }
      return undefined
    },
  }
}
