import type { InferenceFrames, JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import type { InferenceRequest } from '../../../src/core/request.ts'
import type { ReplyContext } from '../../../src/core/result.ts'
import { geminiIngress, geminiListIngress } from '../../../src/dialects/gemini/index.ts'
import { contextOf, resultOf, streamOf } from '../replies.ts'
import { REQUEST } from '../request.ts'

/** Replies as this dialect writes them, read again. */

export const GENERATION = 'gen-0198c0ffee00700080000000000000aa'

/** A request in this dialect that asks for thoughts. */
const GEMINI_REQUEST: InferenceRequest = {
  ...REQUEST,
  apiType: 'gemini',
  dialect: 'gemini',
  body: { generationConfig: { thinkingConfig: { includeThoughts: true } } },
}

const replyOf = (): ReplyContext => contextOf({ generationId: GENERATION, request: GEMINI_REQUEST })

/** The text of a stream; one that breaks off ends in an error. */
export const writtenStream = (
  frames: InferenceFrames,
  form: 'events' | 'list' = 'events',
  reply = replyOf(),
): Promise<string> =>
  streamOf((form === 'events' ? geminiIngress : geminiListIngress).writeStream(reply), frames)

export async function writtenReply(frames: InferenceFrames, reply = replyOf()): Promise<JsonObject> {
  const { result, closing } = await resultOf(frames)
  return geminiIngress.writeReply(result, reply, closing)
}

/** The chunks of a stream of events: one line of JSON each. */
export const chunksOf = (text: string): JsonObject[] =>
  text.split('\n\n').flatMap((event) => {
    if (!event.startsWith('data: ')) return []
    const chunk: unknown = JSON.parse(event.slice('data: '.length))
    return isObject(chunk) ? [chunk] : []
  })

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

export interface Read {
  text: string
  thoughts: string
  calls: { id: unknown; name: unknown; args: unknown }[]
  media: JsonObject[]
  finish: unknown
  blocked: unknown
  usage: JsonObject
  hasGrounding: boolean
}

/** What a client reads from the first candidate of one body, or of the chunks of a stream. */
export function read(chunks: readonly JsonObject[]): Read {
  const found: Read = {
    text: '',
    thoughts: '',
    calls: [],
    media: [],
    finish: undefined,
    blocked: undefined,
    usage: {},
    hasGrounding: false,
  }
  for (const chunk of chunks) {
    if (isObject(chunk['usageMetadata'])) found.usage = chunk['usageMetadata']
    if (isObject(chunk['promptFeedback'])) found.blocked = chunk['promptFeedback']['blockReason']
    for (const candidate of listOf(chunk['candidates']).filter(isObject)) {
      if ((candidate['index'] ?? 0) !== 0) continue
      found.finish = candidate['finishReason'] ?? found.finish
      found.hasGrounding ||=
        candidate['groundingMetadata'] !== undefined || candidate['citationMetadata'] !== undefined
      const content = isObject(candidate['content']) ? candidate['content'] : {}
      for (const part of listOf(content['parts']).filter(isObject)) addPart(part, found)
    }
  }
  return found
}

function addPart(part: JsonObject, found: Read): void {
  const { text, thought, functionCall, inlineData, fileData } = part
  if (typeof text === 'string') found[thought === true ? 'thoughts' : 'text'] += text
  if (isObject(functionCall)) {
    const { id, name, args } = functionCall
    found.calls.push({ id, name, args })
  }
  if (isObject(inlineData)) found.media.push(inlineData)
  if (isObject(fileData)) found.media.push(fileData)
}
